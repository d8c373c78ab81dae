#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace evenkeel::reporting {

// A plain socket, so that the test can misbehave in ways an HTTP client would not.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { ::close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }

  // Whether the other side took all of it.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // What has arrived once it contains `text`, or the connection ended, or five seconds passed.
  std::string read_until(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    std::size_t searched = 0;
    while (received_.find(text, searched) == std::string::npos &&
           std::chrono::steady_clock::now() < deadline) {
      searched = received_.size() > text.size() ? received_.size() - text.size() : 0;
      if (!read_some(std::chrono::milliseconds(100))) break;
    }
    return received_;
  }

  std::string read_to_end() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!ended_ && std::chrono::steady_clock::now() < deadline) read_some(std::chrono::milliseconds(100));
    return received_;
  }

  bool ended() const { return ended_; }

 private:
  // False once the connection has ended.
  bool read_some(std::chrono::milliseconds patience) {
    pollfd readable{fd_, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(patience.count())) <= 0) return true;
    char buffer[65536];
    const auto count = ::recv(fd_, buffer, sizeof buffer, 0);
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
    ended_ = count <= 0;
    return !ended_;
  }

  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

inline bool has_status(const std::string& response, int status) {
  return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

}  // namespace evenkeel::reporting

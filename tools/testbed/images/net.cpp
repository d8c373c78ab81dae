// DRS's `net`: traffic. Sends --kilobytes to a peer, which sends every byte back, at --rate kilobytes a
// second, and ends. With --serve PORT it is the peer, and runs until it is told to end.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "arguments.h"
#include "pacing.h"

namespace {

constexpr std::size_t kChunk = 8192;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in address_of(const std::string& host, long port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    std::fprintf(stderr, "net: --peer '%s' is not an IPv4 address\n", host.c_str());
    std::exit(2);
  }
  return address;
}

bool send_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(to, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

void echo(int connection) {
  std::vector<char> chunk(kChunk);
  ssize_t got = 0;
  while ((got = ::recv(connection, chunk.data(), chunk.size(), 0)) > 0)
    if (!send_all(connection, chunk.data(), static_cast<std::size_t>(got))) break;
  ::close(connection);
}

void serve(const std::string& host, long port) {
  (void)std::signal(SIGTERM, [](int) { ::_exit(0); });
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = address_of(host, port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("net: bind");
  if (::listen(listener, 128) != 0) fail("net: listen");
  while (true) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection >= 0) std::thread(echo, connection).detach();
  }
}

// The peer may still be starting.
int connect_to(const std::string& host, long port) {
  const sockaddr_in address = address_of(host, port);
  for (int attempt = 0; attempt < 150; ++attempt) {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const int on = 1;
      (void)::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return connection;
    }
    ::close(connection);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  fail("net: the peer does not answer");
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values,
                            {{"serve", "0"},
                             {"listen", "0.0.0.0"},
                             {"peer", "127.0.0.1"},
                             {"port", "7000"},
                             {"kilobytes", "10000"},
                             {"rate", "0"},
                             {"memory", "1"}});
  if (const long port = arguments.whole("serve"); port > 0) serve(arguments.text("listen"), port);
  std::vector<char> held(static_cast<std::size_t>(arguments.number("memory") * 1e6), 1);
  const int connection = connect_to(arguments.text("peer"), arguments.whole("port"));
  const Pacing pacing(arguments.number("rate") * 1000);
  const auto total = static_cast<std::size_t>(arguments.number("kilobytes") * 1000);
  std::vector<char> out(kChunk), back(kChunk);
  for (std::size_t done = 0; done < total;) {
    pacing.wait(static_cast<double>(done));
    const std::size_t size = std::min(kChunk, total - done);
    std::memset(out.data(), static_cast<int>(done / kChunk % 251), size);
    if (!send_all(connection, out.data(), size)) fail("net: send");
    for (std::size_t got = 0; got < size;) {
      const ssize_t now = ::recv(connection, back.data() + got, size - got, 0);
      if (now <= 0) fail("net: the peer ended");
      got += static_cast<std::size_t>(now);
    }
    if (std::memcmp(out.data(), back.data(), size) != 0) {
      std::fprintf(stderr, "net: what came back is not what was sent\n");
      return 1;
    }
    done += size;
    held[done % held.size()] = static_cast<char>(done);
  }
  std::printf("net: %zu bytes there and back in %.2f s\n", total, pacing.seconds());
}

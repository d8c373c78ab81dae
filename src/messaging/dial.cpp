#include "messaging/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace evenkeel::messaging {
namespace {

// 0, or why not.
int connect_to(const addrinfo& one, int socket, const std::function<bool(int socket)>& wait_to_write) {
  if (::connect(socket, one.ai_addr, one.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_to_write(socket)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  (void)::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<Descriptor> dial(const HostPort& to, Duration patience,
                        const std::function<bool(int socket)>& wait_to_write, int send_buffer) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int said = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &found); said != 0)
    return unavailable(std::string("cannot find the host: ") + ::gai_strerror(said));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  std::string trouble = "no address";
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) continue;
    if (const int error = connect_to(*one, socket.get(), wait_to_write); error != 0) {
      trouble = std::strerror(error);
      continue;
    }
    const auto set = [&](int level, int name, int value) {
      (void)::setsockopt(socket.get(), level, name, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    if (send_buffer > 0) set(SOL_SOCKET, SO_SNDBUF, send_buffer);
    // What is not acknowledged for so long is lost: better a new connection than old news.
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(patience.count() / 1000));
    return Result<Descriptor>(std::move(socket));
  }
  return unavailable("cannot connect: " + trouble);
}

}  // namespace evenkeel::messaging

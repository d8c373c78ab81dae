// PPO-LRT's web server, small: answers GET with a page that takes some --work to make, and ends after
// --requests of them.
// --visitors clients of its own ask for the pages (0: whoever comes); so a pod of it is a task with a known
// amount of work.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"
#include "pacing.h"

namespace {

sockaddr_in on_port(std::uint32_t host, long port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(host);
  return address;
}

std::string page(long number, long work) {
  std::uint64_t state = static_cast<std::uint64_t>(number) + 1;
  for (long i = 0; i < work * 1000; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  std::string body = "<!doctype html><title>page " + std::to_string(number) + "</title>\n";
  while (body.size() < 2000)
    body += "<p>" + std::to_string(state = state * 6364136223846793005ULL + 1) + "</p>\n";
  return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Whether there was a request, which is then answered.
bool answer(int connection, long number, long work) {
  char request[2048];
  std::size_t got = 0;
  while (got < sizeof request - 1) {
    const ssize_t now = ::recv(connection, request + got, sizeof request - 1 - got, 0);
    if (now <= 0) return false;
    got += static_cast<std::size_t>(now);
    request[got] = '\0';
    if (std::strstr(request, "\r\n\r\n") != nullptr) break;
  }
  const bool is_get = std::strncmp(request, "GET ", 4) == 0;
  const std::string text =
      is_get ? page(number, work) : "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t now = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return is_get;
}

void visit(long port, const std::atomic<bool>& over) {
  const sockaddr_in address = on_port(INADDR_LOOPBACK, port);
  static const char kRequest[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  while (!over) {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::send(connection, kRequest, sizeof kRequest - 1, MSG_NOSIGNAL) > 0) {
      char got[4096];
      while (::recv(connection, got, sizeof got, 0) > 0) {
      }
    }
    ::close(connection);
  }
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(
      count, values,
      {{"port", "8080"}, {"requests", "1000"}, {"work", "500"}, {"visitors", "1"}, {"memory", "8"}});
  const std::vector<char> held(static_cast<std::size_t>(arguments.number("memory") * 1e6), 1);
  const long port = arguments.whole("port"), requests = arguments.whole("requests"),
             work = arguments.whole("work");
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = on_port(INADDR_ANY, port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 64) != 0) {
    std::perror("web: listen");
    return 1;
  }
  const Pacing pacing(0);
  std::atomic<bool> over = false;
  std::vector<std::thread> visitors;
  for (long i = 0; i < arguments.whole("visitors"); ++i) visitors.emplace_back(visit, port, std::cref(over));
  long answered = 0;
  while (answered < requests) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    if (answer(connection, answered, work)) ++answered;
    ::close(connection);
  }
  over = true;
  ::close(listener);
  for (std::thread& visitor : visitors) visitor.join();
  std::printf("web: %ld pages in %.2f s\n", answered, pacing.seconds());
}

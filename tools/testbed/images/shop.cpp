// One service of a shop of eleven, with the calls of Google's Online Boutique (v0.10): who is asked for a page asks the
// others one after the other, over connections that stay open, as that shop's services do. --service says which it is;
// each request costs --cost milliseconds of processor time besides.
//
//   GET /, GET /cart, POST /cart/checkout, POST /setCurrency     of frontend; others answer /list, /get, …
//   POST /targets   "cart 10.0.0.1:8080 10.0.0.2:8080" in each line: who serves what from now on; asked in turn
//   GET /ready
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arguments.h"

namespace {

struct Call {
  const char* service;
  const char* path;
  int times = 1;
};

// Nine products on the first page, each with its price converted; one article in the cart; four recommendations.
const std::map<std::pair<std::string, std::string>, std::vector<Call>> kCalls = {
    {{"frontend", "/"},
     {{"currency", "/list"}, {"catalog", "/list"}, {"cart", "/get"}, {"currency", "/convert", 9}, {"ad", "/get"}}},
    {{"frontend", "/cart"},
     {{"currency", "/list"},
      {"cart", "/get"},
      {"recommendation", "/list"},
      {"catalog", "/get", 4},
      {"shipping", "/quote"},
      {"catalog", "/get"},
      {"currency", "/convert", 2}}},
    {{"frontend", "/cart/checkout"},
     {{"checkout", "/place"}, {"recommendation", "/list"}, {"catalog", "/get", 4}, {"currency", "/list"}}},
    // A cookie and a redirection, which the one who asks follows to the first page.
    {{"frontend", "/setCurrency"}, {}},
    {{"checkout", "/place"},
     {{"cart", "/get"},
      {"catalog", "/get"},
      {"currency", "/convert"},
      {"shipping", "/quote"},
      {"currency", "/convert"},
      {"payment", "/charge"},
      {"shipping", "/ship"},
      {"cart", "/empty"},
      {"email", "/send"}}},
    {{"recommendation", "/list"}, {{"catalog", "/list"}}},
    {{"cart", "/get"}, {{"redis", "/get"}}},
    {{"cart", "/empty"}, {{"redis", "/set"}}},
};


void send_all(int connection, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t now = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;
    sent += static_cast<std::size_t>(now);
  }
}

// One message of HTTP/1.1 with a Content-Length or without a body; false: the other side is gone. `rest` holds what
// came beyond it.
bool read_message(int connection, std::string& rest, std::string& head, std::string& body) {
  char piece[4096];
  std::size_t end = std::string::npos, length = 0;
  for (;;) {
    if (end == std::string::npos && (end = rest.find("\r\n\r\n")) != std::string::npos) {
      const std::size_t field = rest.find("Content-Length: ");
      if (field < end) length = std::strtoul(rest.c_str() + field + 16, nullptr, 10);
    }
    if (end != std::string::npos && rest.size() >= end + 4 + length) break;
    const ssize_t now = ::recv(connection, piece, sizeof piece, 0);
    if (now <= 0 || rest.size() > 1'000'000) return false;
    rest.append(piece, static_cast<std::size_t>(now));
  }
  head = rest.substr(0, end);
  body = rest.substr(end + 4, length);
  rest.erase(0, end + 4 + length);
  return true;
}

void at_once(int connection) {
  const int on = 1;
  (void)::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Who serves what, and open connections to them.
class Others {
 public:
  void set(const std::string& text) {
    const std::lock_guard lock(mutex_);
    targets_.clear();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, address;
      words >> name;
      while (words >> address) targets_[name].push_back(address);
    }
  }

  // Whether somebody answered. One that does not is passed over.
  bool ask(const Call& call) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const std::string address = next(call.service);
      if (!address.empty() && ask_one(address, call.path)) return true;
    }
    return false;
  }

 private:
  std::string next(const std::string& service) {
    const std::lock_guard lock(mutex_);
    const std::vector<std::string>& known = targets_[service];
    return known.empty() ? "" : known[turn_[service]++ % known.size()];
  }

  bool ask_one(const std::string& address, const char* path) {
    int connection = take(address);
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (connection < 0) connection = connect_to(address);
      if (connection < 0) return false;
      send_all(connection, std::string("POST ") + path + " HTTP/1.1\r\nHost: shop\r\nContent-Length: 0\r\n\r\n");
      std::string rest, head, body;
      if (read_message(connection, rest, head, body)) {
        put(address, connection);
        return head.find(" 200 ") != std::string::npos;
      }
      ::close(connection);  // it may have been an old one
      connection = -1;
    }
    return false;
  }

  int take(const std::string& address) {
    const std::lock_guard lock(mutex_);
    std::vector<int>& idle = idle_[address];
    if (idle.empty()) return -1;
    const int connection = idle.back();
    idle.pop_back();
    return connection;
  }

  void put(const std::string& address, int connection) {
    const std::lock_guard lock(mutex_);
    idle_[address].push_back(connection);
  }

  static int connect_to(const std::string& address) {
    const std::size_t colon = address.find(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10)));
    (void)::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{3, 0};
    (void)::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    at_once(connection);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return connection;
    ::close(connection);
    return -1;
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> targets_;
  std::map<std::string, std::size_t> turn_;
  std::map<std::string, std::vector<int>> idle_;
};

// So much of this thread's processor time, whatever the clock on the wall says.
void burn(double seconds) {
  const auto used = [] {
    timespec now{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const double end = used() + seconds;
  volatile std::uint64_t state = 1;
  while (used() < end)
    for (int i = 0; i < 500; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
}

class Service {
 public:
  Service(std::string name, double cost) : name_(std::move(name)), cost_(cost) {}

  void serve(int connection) {
    at_once(connection);
    std::string rest, head, body;
    while (read_message(connection, rest, head, body)) {
      const std::size_t from = head.find(' '), to = head.find(' ', from + 1);
      const bool done = to != std::string::npos && answer(head.substr(from + 1, to - from - 1), body);
      send_all(connection, done ? "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
                                : "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    }
    ::close(connection);
  }

 private:
  bool answer(const std::string& path, const std::string& body) {
    if (path == "/ready") return true;
    if (path == "/targets") return others_.set(body), true;
    burn(cost_);
    const auto calls = kCalls.find({name_, path});
    if (calls == kCalls.end()) return name_ != "frontend";  // a service that asks nobody
    for (const Call& call : calls->second)
      for (int i = 0; i < call.times; ++i)
        if (!others_.ask(call)) return false;
    return true;
  }

  std::string name_;
  double cost_;
  Others others_;
};

int listen_on(long port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listener, 128) == 0)
    return listener;
  std::perror("shop: listen");
  std::exit(1);
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values, {{"service", "frontend"}, {"port", "8080"}, {"cost", "0.3"}});
  Service service(arguments.text("service"), arguments.number("cost") / 1000);
  const int listener = listen_on(arguments.whole("port"));
  for (;;) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection >= 0) std::thread([&service, connection] { service.serve(connection); }).detach();
  }
}

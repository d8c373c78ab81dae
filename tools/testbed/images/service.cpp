// A small HTTP service whose requests cost processor time: GET / takes --cost milliseconds of it, --workers
// requests are served at a time and the others wait in line, at most --line of them; who comes then is turned
// away with 503. Not ready for the first --start-up seconds. On another port, so that a long line hides nothing:
// GET /metrics for Prometheus (http_request_duration_seconds from arrival to answer, the wait included,
// http_requests_in_flight) and GET /ready.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::array<double, 14> kBounds = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15,
                                            0.2,   0.25, 0.5,   0.75, 1.0,   2.5, 5.0};

class Figures {
 public:
  void served(double seconds) {
    const std::lock_guard lock(mutex_);
    std::size_t i = 0;
    while (i < kBounds.size() && seconds > kBounds[i]) ++i;
    ++counts_[i];
    sum_ += seconds;
  }
  void refused() { ++refused_; }
  std::atomic<long> in_flight{0};

  std::string text() {
    const std::lock_guard lock(mutex_);
    std::string text = "# TYPE http_request_duration_seconds histogram\n";
    std::uint64_t total = 0;
    char line[160];
    for (std::size_t i = 0; i <= kBounds.size(); ++i) {
      total += counts_[i];
      if (i < kBounds.size())
        (void)std::snprintf(line, sizeof line, "http_request_duration_seconds_bucket{le=\"%g\"} %llu\n", kBounds[i],
                            static_cast<unsigned long long>(total));
      else
        (void)std::snprintf(line, sizeof line, "http_request_duration_seconds_bucket{le=\"+Inf\"} %llu\n",
                            static_cast<unsigned long long>(total));
      text += line;
    }
    (void)std::snprintf(line, sizeof line,
                        "http_request_duration_seconds_sum %.6f\nhttp_request_duration_seconds_count %llu\n", sum_,
                        static_cast<unsigned long long>(total));
    text += line;
    (void)std::snprintf(line, sizeof line,
                        "# TYPE http_requests_in_flight gauge\nhttp_requests_in_flight %ld\n"
                        "# TYPE http_requests_refused_total counter\nhttp_requests_refused_total %ld\n",
                        in_flight.load(), refused_.load());
    return text + line;
  }

 private:
  std::mutex mutex_;
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
  std::atomic<long> refused_{0};
};

int listen_on(long port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 1024) != 0) {
    std::perror("service: listen");
    std::exit(1);
  }
  return listener;
}

// The path that was asked for; empty: nobody did.
std::string read_request(int connection) {
  timeval patience{5, 0};
  (void)::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char request[2048];
  std::size_t got = 0;
  while (got < sizeof request - 1) {
    const ssize_t now = ::recv(connection, request + got, sizeof request - 1 - got, 0);
    if (now <= 0) return "";
    got += static_cast<std::size_t>(now);
    request[got] = '\0';
    if (std::strstr(request, "\r\n\r\n") != nullptr) break;
  }
  const char* const path = std::strchr(request, ' ');
  const char* const end = path ? std::strchr(path + 1, ' ') : nullptr;
  return end ? std::string(path + 1, end) : "";
}

void answer(int connection, const char* status, const std::string& body) {
  const std::string text = std::string("HTTP/1.1 ") + status +
                           "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t now = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) break;
    sent += static_cast<std::size_t>(now);
  }
  ::close(connection);
}

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
    for (int i = 0; i < 2000; ++i) state = state * 6364136223846793005ULL + 1442695040888963407ULL;
}

struct Line {
  struct Waiting {
    int connection;
    Clock::time_point arrived;
  };
  std::mutex mutex;
  std::condition_variable news;
  std::deque<Waiting> waiting;
};

void serve(Line& line, Figures& figures, double cost) {
  for (;;) {
    Line::Waiting next;
    {
      std::unique_lock lock(line.mutex);
      line.news.wait(lock, [&] { return !line.waiting.empty(); });
      next = line.waiting.front();
      line.waiting.pop_front();
    }
    if (!read_request(next.connection).empty()) {
      burn(cost);
      answer(next.connection, "200 OK", "done\n");
      figures.served(std::chrono::duration<double>(Clock::now() - next.arrived).count());
    } else {
      ::close(next.connection);
    }
    --figures.in_flight;
  }
}

void tell(int listener, Figures& figures, Clock::time_point ready) {
  for (;;) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    const std::string path = read_request(connection);
    if (path == "/metrics")
      answer(connection, "200 OK", figures.text());
    else if (path == "/ready")
      answer(connection, Clock::now() >= ready ? "200 OK" : "503 Service Unavailable", "");
    else
      answer(connection, "404 Not Found", "");
  }
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values,
                            {{"port", "8080"},
                             {"metrics-port", "8081"},
                             {"cost", "10"},
                             {"workers", "1"},
                             {"line", "200"},
                             {"start-up", "0"},
                             {"memory", "8"}});
  const std::vector<char> held(static_cast<std::size_t>(arguments.number("memory") * 1e6), 1);
  const int listener = listen_on(arguments.whole("port")), teller = listen_on(arguments.whole("metrics-port"));
  Figures figures;
  Line line;
  const auto ready = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(arguments.number("start-up")));
  std::thread(tell, teller, std::ref(figures), ready).detach();
  for (long i = 0; i < arguments.whole("workers"); ++i)
    std::thread(serve, std::ref(line), std::ref(figures), arguments.number("cost") / 1000).detach();
  const std::size_t most = static_cast<std::size_t>(arguments.whole("line"));
  for (;;) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    const std::lock_guard lock(line.mutex);
    if (line.waiting.size() >= most) {
      figures.refused();
      answer(connection, "503 Service Unavailable", "");
      continue;
    }
    ++figures.in_flight;
    line.waiting.push_back({connection, Clock::now()});
    line.news.notify_one();
  }
}

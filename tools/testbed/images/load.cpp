// An open loop of requests: each is sent at the time the trace says, whether or not earlier ones were answered,
// and its response time counts from that time. A closed loop would wait for slow answers and so hide them.
//
//   load --seconds 600 --rates rates.csv --targets targets.txt --seed 1 > answers.csv
//
// rates.csv: lines "second,requests_per_second", each holding from its second on; send times are drawn from them
// (Poisson, by --seed) before anything is sent. targets.txt: lines "address:port", read again every 200 ms; used
// in turn. Writes a line for each request: when it was due, how long it took in ms (-1: no answer), and the
// status (0: none). Ends with a count of those that could not be sent in time, which should be none.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Rate {
  double from = 0, per_second = 0;
};

std::vector<Rate> read_rates(const std::string& path) {
  std::vector<Rate> rates;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Rate rate;
    if (std::sscanf(line.c_str(), "%lf,%lf", &rate.from, &rate.per_second) == 2) rates.push_back(rate);
  }
  return rates;
}

// By thinning, so that rates may change at any time.
std::vector<double> send_times(const std::vector<Rate>& rates, double seconds, long seed) {
  double highest = 0;
  for (const Rate& rate : rates) highest = std::max(highest, rate.per_second);
  std::vector<double> times;
  if (highest <= 0) return times;
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::size_t at = 0;
  for (double time = -std::log(uniform()) / highest; time < seconds; time -= std::log(uniform()) / highest) {
    while (at + 1 < rates.size() && rates[at + 1].from <= time) ++at;
    if (uniform() * highest < rates[at].per_second) times.push_back(time);
  }
  return times;
}

class Targets {
 public:
  explicit Targets(std::string path) : path_(std::move(path)) {}
  void refresh() {
    std::vector<sockaddr_in> found;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.rfind(':');
      sockaddr_in address{};
      address.sin_family = AF_INET;
      if (colon == std::string::npos || ::inet_pton(AF_INET, line.substr(0, colon).c_str(), &address.sin_addr) != 1)
        continue;
      address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1))));
      found.push_back(address);
    }
    const std::lock_guard lock(mutex_);
    targets_ = std::move(found);
  }
  bool next(sockaddr_in& into) {
    const std::lock_guard lock(mutex_);
    if (targets_.empty()) return false;
    into = targets_[turn_++ % targets_.size()];
    return true;
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::vector<sockaddr_in> targets_;
  std::size_t turn_ = 0;
};

int ask(const sockaddr_in& address, double patience) {
  static const char kRequest[] = "GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n";
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto whole = static_cast<time_t>(patience);
  timeval limit{whole, static_cast<suseconds_t>((patience - static_cast<double>(whole)) * 1e6)};
  (void)::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  (void)::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int status = 0;
  char got[512];
  std::size_t length = 0;
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(connection, kRequest, sizeof kRequest - 1, MSG_NOSIGNAL) > 0) {
    for (ssize_t now = 0; length < sizeof got - 1 &&
                          (now = ::recv(connection, got + length, sizeof got - 1 - length, 0)) > 0;)
      length += static_cast<std::size_t>(now);
    got[length] = '\0';
    (void)std::sscanf(got, "HTTP/1.1 %d", &status);
  }
  ::close(connection);
  return status;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values,
                            {{"seconds", "60"},
                             {"rates", "rates.csv"},
                             {"targets", "targets.txt"},
                             {"seed", "1"},
                             {"threads", "400"},
                             {"patience", "5"}});
  const auto times = send_times(read_rates(arguments.text("rates")), arguments.number("seconds"), arguments.whole("seed"));
  Targets targets(arguments.text("targets"));
  targets.refresh();
  std::mutex mutex, output;
  std::condition_variable news;
  std::deque<double> due;
  bool over = false;
  std::atomic<long> late{0};
  const double patience = arguments.number("patience");
  const auto began = Clock::now() + std::chrono::milliseconds(500);
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  std::vector<std::thread> threads;
  for (long i = 0; i < arguments.whole("threads"); ++i)
    threads.emplace_back([&] {
      for (;;) {
        double at = 0;
        {
          std::unique_lock lock(mutex);
          news.wait(lock, [&] { return over || !due.empty(); });
          if (due.empty()) return;
          at = due.front();
          due.pop_front();
        }
        if (passed() - at > 0.02) ++late;
        sockaddr_in address{};
        const int status = targets.next(address) ? ask(address, patience) : 0;
        const double took = passed() - at;
        const std::lock_guard lock(output);
        std::printf("%.4f,%.2f,%d\n", at, status == 0 ? -1.0 : 1000 * took, status);
      }
    });
  std::thread([&] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      targets.refresh();
    }
  }).detach();
  for (const double at : times) {
    std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at)));
    const std::lock_guard lock(mutex);
    due.push_back(at);
    news.notify_one();
  }
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  news.notify_all();
  for (std::thread& thread : threads) thread.join();
  std::fprintf(stderr, "load: %zu requests, %ld of them sent more than 20 ms late\n", times.size(), late.load());
  std::fflush(stdout);
  std::_Exit(0);
}

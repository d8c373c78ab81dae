// Where a test's monitors report to: prints what arrives, a line of JSON each 50 ms, until its input ends.
//
//   report_listener ADDRESS CERTIFICATE KEY AUTHORITY
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "messaging/report_receiver.h"

int main(int argc, char** argv) {
  using namespace evenkeel;
  if (argc != 5) return 2;
  const auto now = [] {
    return Time(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
  };
  messaging::ReportReceiver::Options options;
  options.address = argv[1];
  options.tls = {.certificate = argv[2], .key = argv[3], .authority = argv[4]};
  options.now = now;
  const auto receiver = messaging::ReportReceiver::listen(std::move(options));
  if (!receiver) {
    std::cerr << receiver.error().message << '\n';
    return 1;
  }
  std::cout << nlohmann::json{{"address", (*receiver)->address()}} << std::endl;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (::poll(&input, 1, 50) == 0) {
    const auto counts = (*receiver)->counts();
    nlohmann::json line{{"counts",
                         {{"reports", counts.reports},
                          {"refused_unauthenticated", counts.refused_unauthenticated},
                          {"refused_wrong_node", counts.refused_wrong_node},
                          {"refused_malformed", counts.refused_malformed},
                          {"out_of_sequence", counts.out_of_sequence},
                          {"connections", counts.connections}}},
                        {"reports", nlohmann::json::array()}};
    for (const NodeReport& report : (*receiver)->take())
      line["reports"].push_back({{"node", report.node},
                                 {"age", to_seconds(now() - report.measured)},
                                 {"cpu", report.total[Dimension::cpu]},
                                 {"pods", report.pods.size()}});
    std::cout << line << std::endl;
  }
  return 0;
}

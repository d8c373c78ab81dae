#include "apps/polled_source.h"

#include <algorithm>
#include <utility>

#include "base/file.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
constexpr Duration kLongestAnswer = 10s;
constexpr std::size_t kMostReadings = 4;  // kept for somebody who takes none: the newest count

}  // namespace

Result<std::unique_ptr<PolledSource>> PolledSource::open(const kubernetes::ClusterAccess& server,
                                                         std::unique_ptr<MetricsQuestions> questions,
                                                         Options options) {
  std::unique_ptr<PolledSource> source(new PolledSource(std::move(questions), std::move(options)));
  kubernetes::ApiClient::Options client;
  client.user_agent = "evenkeel-metrics";
  client.max_connections = 8;
  client.max_tries = 1;  // the next time is soon
  auto opened = kubernetes::ApiClient::open(source->loop_, server, read_file, client);
  if (!opened) return opened.error();
  source->client_ = *std::move(opened);
  source->thread_ = std::thread([made = source.get()] { made->work(); });
  return source;
}

PolledSource::PolledSource(std::unique_ptr<MetricsQuestions> questions, Options options)
    : questions_(std::move(questions)), options_(std::move(options)) {}

PolledSource::~PolledSource() {
  stopping_ = true;
  loop_.post([] {});
  if (thread_.joinable()) thread_.join();
}

void PolledSource::work() {
  const auto stops = [this] { return stopping_.load(); };
  while (!stops()) {
    const Time begun = loop_.steady_now();
    bool done = false;
    questions_->ask(*client_, std::min(options_.every, kLongestAnswer),
                    [&](Result<MetricsQuestions::Answer> answer) {
                      done = true;
                      answered(std::move(answer));
                    });
    // Every question ends by its own time limit.
    while (!done && !stops()) loop_.run_for(1s, [&] { return done || stops(); });
    if (stops()) return;
    loop_.run_for(std::max(Duration::zero(), begun + options_.every - loop_.steady_now()), stops);
  }
}

void PolledSource::answered(Result<MetricsQuestions::Answer> answer) {
  if (!answer) {
    {
      const std::lock_guard lock(mutex_);
      ++counts_.failures;
    }
    return say(answer.error().message);
  }
  say(answer->trouble.empty() ? "" : answer->trouble.front());
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    counts_.reports += answer->reading.nodes.size();
    for (const auto& [what, count] : answer->refused) counts_.refused[what] += count;
    if (answer->reading.nodes.empty()) return;
    is_first = readings_.empty();
    if (readings_.size() >= kMostReadings) readings_.erase(readings_.begin());
    readings_.push_back(std::move(answer->reading));
  }
  if (is_first) options_.arrived();
}

// Once for each kind of trouble, and once when it is over.
void PolledSource::say(const std::string& trouble) {
  if (trouble == said_) return;
  options_.log(std::string(name()) + ": " + (trouble.empty() ? "answers again" : trouble));
  said_ = trouble;
}

std::vector<MetricsReading> PolledSource::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(readings_, {});
}

SourceCounts PolledSource::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace evenkeel::apps

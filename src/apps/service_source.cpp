#include "apps/service_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/numbers.h"
#include "kubernetes/http_url.h"

namespace evenkeel::apps {
namespace {

using About = ServiceQuery::About;
using kubernetes::ScalingLook;

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

ReplicaReport* replica_named(ServiceReport& report, const std::string& name) {
  const auto at =
      std::lower_bound(report.replicas.begin(), report.replicas.end(), name,
                       [](const ReplicaReport& one, const std::string& other) { return one.name < other; });
  return at == report.replicas.end() || at->name != name ? nullptr : &*at;
}

}  // namespace

struct PrometheusMeter::Round {
  std::vector<ScalingLook>* looks = nullptr;
  std::vector<Question> questions;
  std::size_t open = 0;
  bool is_over = false;
  std::string trouble;  // the first
  kubernetes::ApiConnection::TimerId timer = 0;
  std::function<void()> done;
};

void PrometheusMeter::measure(std::vector<ScalingLook>& looks, std::function<void()> done) {
  ++counts_.rounds;
  auto round = std::make_shared<Round>();
  round->looks = &looks;
  round->done = std::move(done);
  std::vector<std::vector<std::size_t>> batches(1);  // the last takes what is ready-made
  std::size_t length = 0;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    std::vector<std::string> trouble;
    std::vector<std::size_t> own;
    for (ServiceQuery& query : service_queries(looks[i], options_.queries, trouble)) {
      const std::size_t index = round->questions.size(), size = query.text.size();
      const bool is_own = query.is_own;
      round->questions.push_back({i, std::move(query)});
      if (is_own) {
        own.push_back(index);
        continue;
      }
      if (batches.back().size() >= options_.most_joined || length + size > options_.longest) {
        batches.emplace_back();
        length = 0;
      }
      batches.back().push_back(index);
      length += size;
    }
    // Whoever writes a query could make it answer for others it is joined with: those of an owner stay among
    // themselves.
    if (!own.empty()) batches.insert(batches.begin(), std::move(own));
    if (!trouble.empty()) looks[i].trouble = trouble.front();
  }
  std::erase_if(batches, [](const auto& batch) { return batch.empty(); });
  if (batches.empty()) return finish(round);
  round->timer = connection_.call_after(options_.within, [this, round, self = std::weak_ptr(alive_)] {
    if (!self.lock() || round->is_over) return;
    round->timer = 0;
    if (round->trouble.empty()) round->trouble = "no answer in time";
    finish(round);
  });
  round->open = 1;
  for (auto& batch : batches) ask(round, std::move(batch));
  if (--round->open == 0) finish(round);
}

void PrometheusMeter::ask(const std::shared_ptr<Round>& round, std::vector<std::size_t> questions) {
  ++round->open;
  ++counts_.questions;
  std::vector<std::string> texts;
  for (const std::size_t one : questions) texts.push_back(round->questions[one].query.text);
  kubernetes::ApiRequest request;
  request.method = "POST";
  request.path = options_.prefix + "/api/v1/query";
  request.content_type = "application/x-www-form-urlencoded";
  request.body =
      "query=" + kubernetes::percent_encoded(texts.size() == 1 ? texts.front() : joined_query(texts));
  request.timeout = options_.within;
  request.waits_its_turn = false;
  connection_.call(std::move(request), [this, round, questions = std::move(questions),
                                        self = std::weak_ptr(alive_)](const kubernetes::ApiAnswer& answer) {
    if (self.lock()) answered(round, questions, answer);
  });
}

void PrometheusMeter::answered(const std::shared_ptr<Round>& round, const std::vector<std::size_t>& questions,
                               const kubernetes::ApiAnswer& answer) {
  if (round->is_over) return;
  const auto samples =
      answer.ok() ? read_instant_vector(answer.body) : Result<std::vector<PrometheusSample>>(answer.error());
  if (!samples) {
    // One that Prometheus cannot understand must not cost the others their answer.
    const bool is_refused = answer.code == 400 || answer.code == 422;
    if (is_refused && questions.size() > 1) {
      const auto middle = questions.begin() + static_cast<std::ptrdiff_t>(questions.size() / 2);
      ask(round, {questions.begin(), middle});
      ask(round, {middle, questions.end()});
    } else {
      failed(round, questions, samples.error().message);
    }
  } else {
    std::vector<std::vector<const PrometheusSample*>> by_question(questions.size());
    for (const PrometheusSample& sample : *samples) {
      if (questions.size() == 1) {
        by_question.front().push_back(&sample);
        continue;
      }
      const auto label = sample.labels.find(std::string(kQueryLabel));
      const auto index = label == sample.labels.end() ? std::nullopt : parse_integer(label->second);
      if (index && *index >= 0 && static_cast<std::size_t>(*index) < questions.size())
        by_question[static_cast<std::size_t>(*index)].push_back(&sample);
    }
    for (std::size_t i = 0; i < questions.size(); ++i) take(*round, questions[i], by_question[i]);
  }
  if (--round->open == 0) finish(round);
}

void PrometheusMeter::failed(const std::shared_ptr<Round>& round, const std::vector<std::size_t>& questions,
                             const std::string& why) {
  ++counts_.failures;
  for (const std::size_t one : questions) {
    std::string& trouble = (*round->looks)[round->questions[one].look].trouble;
    if (trouble.empty()) trouble = "Prometheus: " + why;
  }
  if (round->trouble.empty()) round->trouble = why;
}

void PrometheusMeter::take(Round& round, std::size_t question,
                           const std::vector<const PrometheusSample*>& samples) {
  const Question& asked = round.questions[question];
  ScalingLook& look = (*round.looks)[asked.look];
  const Time now = connection_.now();
  const bool is_by_pod = asked.query.about == About::pods || asked.query.about == About::pods_stamp;
  if (!is_by_pod && samples.size() > 1) {
    ++counts_.refused;
    if (look.trouble.empty())
      look.trouble = "a query gave " + std::to_string(samples.size()) + " series, not one";
    return;
  }
  // By Prometheus' own clock, which need not be ours.
  const auto time_of = [&](const PrometheusSample& stamp) {
    return now - from_seconds(std::clamp(stamp.at - stamp.value, 0.0, 1e6));
  };
  for (const PrometheusSample* sample : samples) {
    if (!is_amount(sample->value)) {
      ++counts_.refused;  // NaN: nobody asked for anything, or there is nothing to divide by
      continue;
    }
    const ServiceReport::Amount amount{sample->value, now};
    ServiceReport& report = look.report;
    switch (asked.query.about) {
      case About::requests:
        report.requests_per_s = amount;
        break;
      case About::response:
        report.response_s = amount;
        break;
      case About::in_flight:
        report.in_flight = amount;
        break;
      case About::stamp:
        // Until the round is over: `measured` of the report is given at its end.
        report.measured = time_of(*sample);
        break;
      case About::amount:
        report.amounts[asked.query.metric] = amount;
        break;
      case About::pods:
      case About::pods_stamp: {
        const auto pod = sample->labels.find("pod");
        ReplicaReport* replica = pod == sample->labels.end() ? nullptr : replica_named(report, pod->second);
        if (!replica) break;
        auto& slot = replica->samples[asked.query.metric];
        // Whichever of the two comes first makes the sample: a value that never came is no number.
        if (!slot)
          slot = ReplicaReport::Sample{std::nan(""), replica->requests[asked.query.metric], now,
                                       options_.queries.window};
        if (asked.query.about == About::pods)
          slot->value = sample->value;
        else
          slot->measured = time_of(*sample);
        break;
      }
    }
  }
}

void PrometheusMeter::finish(const std::shared_ptr<Round>& round) {
  if (std::exchange(round->is_over, true)) return;
  if (round->timer != 0) connection_.cancel_timer(round->timer);
  for (ScalingLook& look : *round->looks) {
    ServiceReport& report = look.report;
    if (report.measured != Time{})
      for (auto* amount : {&report.requests_per_s, &report.response_s, &report.in_flight})
        if (*amount) (*amount)->measured = report.measured;
    for (ReplicaReport& replica : report.replicas)
      for (auto& sample : replica.samples)
        if (sample && std::isnan(sample->value)) sample.reset();
    if (round->open > 0 && look.trouble.empty()) look.trouble = "Prometheus: " + round->trouble;
  }
  say(round->trouble);
  round->done();
}

// Once for each kind of trouble, and once when it is over.
void PrometheusMeter::say(const std::string& trouble) {
  if (trouble == said_) return;
  options_.log("prometheus: " + (trouble.empty() ? "answers again" : trouble));
  said_ = trouble;
}

}  // namespace evenkeel::apps

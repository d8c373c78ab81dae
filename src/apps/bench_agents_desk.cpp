#include "apps/bench_agents_desk.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "agents/agents_policy.h"
#include "agents/bid_desk.h"
#include "agents/node_agent.h"
#include "apps/bench_shapes.h"
#include "apps/models.h"
#include "messaging/agent_wire.h"
#include "reporting/number_format.h"
#include "reporting/text_table.h"
#include "scheduling/policies/marl.h"
#include "scheduling/policies/marl_encoding.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using agents::BidDesk;
using agents::NodeAgent;
using reporting::format_number;

constexpr Term kTerm = 1;
constexpr Duration kTurn = 1ms;  // from one turn of the leader to the next
constexpr Duration kBeatEvery = 300ms;
constexpr const char* kPolicy = "marl-shared";

Node machine(std::uint32_t slot, std::size_t number) {
  Node node;
  node.id = {slot};
  node.name = "node-" + std::to_string(number);
  node.allocatable.cpu = {32'000};
  node.allocatable.memory = {256LL << 30};
  node.capacity = {{32, 256.0 * (1LL << 30), 125e6, 125e6, 200e6, 200e6}};
  node.labels.set("kubernetes.io/hostname", node.name);
  return node;
}

Pod waiting_pod(PodId id, const ShapePtr& shape, std::size_t number, Time now) {
  Pod pod;
  pod.id = id;
  pod.name = "pod-" + std::to_string(number);
  pod.uid = "uid-" + std::to_string(number);
  pod.shape = shape;
  pod.created = now;
  return pod;
}

// Without a model a network drawn at random: it thinks as long, and as well as dice.
Result<std::unique_ptr<scheduling::MarlBrain>> make_brain(const learning::Model* model, std::size_t number) {
  const auto settings = scheduling::marl_settings(kPolicy);
  if (!settings) return unavailable(std::string(kPolicy) + " is no policy of agents");
  if (model) {
    auto brain = scheduling::MarlBrain::from_model(settings->brain, *model, "agent");
    if (!brain) return brain.error();
    return std::make_unique<scheduling::MarlBrain>(*std::move(brain));
  }
  Random random(number + 1);
  return std::make_unique<scheduling::MarlBrain>(settings->brain, random);
}

// One agent with the numbers its own world gives to pods.
class Member {
 public:
  Member(std::unique_ptr<NodeAgent> agent, std::size_t number) : agent_(std::move(agent)) {
    agent_->observe(NodeAdded{machine(0, number)}, Time{});
  }
  NodeAgent& agent() { return *agent_; }

  // The watch tells that it waits, and that it is not there any more, or is the agent's own.
  void see(const ShapePtr& shape, std::size_t number, Time now) {
    const PodId id = fresh();
    seen_.emplace_back(number, id);
    agent_->observe(PodAdded{waiting_pod(id, shape, number, now)}, now);
  }
  void bound(const ShapePtr& shape, std::size_t number, bool is_here, Time now) {
    const auto known =
        std::find_if(seen_.begin(), seen_.end(), [&](const auto& one) { return one.first == number; });
    if (known != seen_.end()) {
      if (is_here) {
        agent_->observe(PodBound{known->second, {0}}, now);
      } else {
        agent_->observe(PodGone{known->second, PodEnd::deleted}, now);
        free_.push_back(known->second);
      }
      seen_.erase(known);
    } else if (is_here) {
      agent_->observe(PodFound{waiting_pod(fresh(), shape, number, now), {0}}, now);
    }
  }

 private:
  PodId fresh() {
    if (free_.empty()) return {next_++, 1};
    const PodId id{free_.back().slot, free_.back().generation + 1};
    free_.pop_back();
    return id;
  }

  std::unique_ptr<NodeAgent> agent_;
  std::vector<std::pair<std::size_t, PodId>> seen_;
  std::vector<PodId> free_;
  std::uint32_t next_ = 0;
};

struct Way {
  const char* name;
  std::size_t sample;  // 0: all are asked
  bool watches;        // each for itself
};

struct Costs {
  double leader_s = 0, agents_s = 0;
  std::size_t pods = 0, bytes = 0, messages = 0;
  std::vector<double> decision_us;  // of one agent: from bytes that ask to bytes that answer
};

class Office {
 public:
  Office(std::size_t nodes, const Way& way, const learning::Model* model)
      : way_(way),
        leader_(scheduling::SchedulingOptions{}),
        desk_(desk_options(way), Random(1)),
        policy_(desk_, std::make_unique<scheduling::WeightedScores>()),
        shape_(perf_pod()) {
    desk_.begin_term(kTerm);
    for (std::size_t number = 0; number < nodes; ++number) {
      leader_.observe(NodeAdded{machine(static_cast<std::uint32_t>(number), number)}, now_);
      NodeAgent::Options options;
      options.node = "node-" + std::to_string(number);
      options.profiles.push_back({"", scheduling::SchedulingOptions{}});
      options.needs_samples = false;
      auto brain = make_brain(model, number);
      if (!brain) {
        trouble_ = brain.error();
        return;
      }
      auto agent = std::make_unique<NodeAgent>(options, *std::move(brain), Random(number + 1));
      desk_.joined(options.node, agent->hello(1, way.watches));
      agent->greet(now_);
      members_.emplace_back(std::move(agent), number);
    }
    beat();
  }
  const Status& trouble() const { return trouble_; }
  const BidDesk& desk() const { return desk_; }

  // So many pods, this many of them at once.
  Status run(std::size_t pods, std::size_t at_once, Costs& costs) {
    for (std::size_t done = 0; done < pods;) {
      const std::size_t wave = std::min(at_once, pods - done);
      arrive(wave, costs);
      for (int turns = 0; leader_.pending() > 0; ++turns) {
        if (turns > 10'000) return unavailable("pods are never decided about");
        turn(costs);
      }
      done += wave;
      costs.pods += wave;
    }
    return {};
  }

 private:
  static agents::BidDeskOptions desk_options(const Way& way) {
    agents::BidDeskOptions options;
    options.sample = way.sample;
    options.tells_pods = !way.watches;
    return options;
  }

  void beat() {
    LeaderBeat beat;
    beat.term = kTerm;
    beat.beat = ++beats_;
    beat.leader = "node-0";
    beat.tells_pods = !way_.watches;
    beat.cluster = scheduling::cluster_shares(leader_.cluster());
    for (Member& member : members_) member.agent().heard(beat, now_);
    next_beat_ = now_ + kBeatEvery;
  }

  void arrive(std::size_t count, Costs& costs) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t number = made_++;
      const double from = core_seconds();
      leader_.observe(PodAdded{waiting_pod({static_cast<std::uint32_t>(number), 1}, shape_, number, now_)},
                      now_);
      costs.leader_s += core_seconds() - from;
      if (way_.watches)
        for (Member& member : members_) member.see(shape_, number, now_);
    }
    if (way_.watches)
      for (std::size_t member = 0; member < members_.size(); ++member) answer(member, costs);
  }

  void turn(Costs& costs) {
    now_ += kTurn;
    if (now_ >= next_beat_) beat();
    const double from = core_seconds();
    if (desk_.has_news(now_)) {
      desk_.news_seen();
      leader_.look_at_held();
    }
    decide();
    std::vector<std::pair<std::size_t, std::string>> letters;
    for (const BidDesk::Letter& letter : desk_.take_letters()) {
      std::string bytes;
      (void)messaging::append_message(letter.message, bytes);
      letters.emplace_back(std::stoul(letter.node.substr(5)), std::move(bytes));
    }
    costs.leader_s += core_seconds() - from;
    for (const auto& [member, bytes] : letters) {
      costs.bytes += bytes.size();
      ++costs.messages;
      read(member, bytes, costs);
    }
    confirm(costs);
  }

  void decide() {
    while (!desk_.is_full()) {
      scheduling::Next next = leader_.next(now_);
      const auto* request = std::get_if<scheduling::PlacementRequest>(&next);
      if (!request) return;
      const auto chosen = policy_.choose(*request, random_);
      if (!chosen) {
        leader_.hold(*request);
        continue;
      }
      const std::size_t number = request->pod.id.slot;
      desk_.awarded(pod_key(request->pod.uid), request->cluster.node(*chosen).name);
      (void)leader_.commit(*request, *chosen);
      decided_.emplace_back(number, *chosen);
    }
  }

  // A letter on its way in, and what it leads to.
  void read(std::size_t number, const std::string& bytes, Costs& costs) {
    const double from = core_seconds();
    bool asks = false;
    std::size_t begin = 0;
    while (begin < bytes.size()) {
      const std::string_view rest = std::string_view(bytes).substr(begin);
      const auto place = messaging::first_message(rest);
      if (!place || !*place) break;
      const auto message =
          messaging::read_from_leader(rest.substr((*place)->begin, (*place)->end - (*place)->begin));
      begin += (*place)->end;
      if (!message) continue;
      asks = asks || std::holds_alternative<LeaderAsks>(*message);
      members_[number].agent().heard(*message, now_);
    }
    costs.agents_s += core_seconds() - from;
    if (asks) answer(number, costs, core_seconds() - from);
  }

  void answer(std::size_t number, Costs& costs, double before = 0) {
    const double from = core_seconds();
    std::string bytes;
    for (const FromAgent& word : members_[number].agent().take_words(now_))
      (void)messaging::append_message(word, bytes);
    const double took = core_seconds() - from;
    costs.agents_s += took;
    if (bytes.empty()) return;
    costs.decision_us.push_back((before + took) * 1e6);
    costs.bytes += bytes.size();
    ++costs.messages;
    const double heard = core_seconds();
    std::size_t begin = 0;
    while (begin < bytes.size()) {
      const std::string_view rest = std::string_view(bytes).substr(begin);
      const auto place = messaging::first_message(rest);
      if (!place || !*place) break;
      auto message =
          messaging::read_from_agent(rest.substr((*place)->begin, (*place)->end - (*place)->begin));
      begin += (*place)->end;
      if (!message) continue;
      if (auto* bids = std::get_if<AgentBids>(&*message)) {
        bids->term = kTerm;
        (void)desk_.heard("node-" + std::to_string(number), *bids, now_);
      }
    }
    costs.leader_s += core_seconds() - heard;
  }

  // What the API server tells afterwards.
  void confirm(Costs& costs) {
    for (const auto& [number, node] : std::exchange(decided_, {})) {
      const double from = core_seconds();
      leader_.observe(PodBound{{static_cast<std::uint32_t>(number), 1}, node}, now_);
      desk_.forget(pod_key("uid-" + std::to_string(number)));
      costs.leader_s += core_seconds() - from;
      const double told = core_seconds();
      if (way_.watches) {
        for (std::size_t member = 0; member < members_.size(); ++member)
          members_[member].bound(shape_, number, member == node.slot, now_);
      } else {
        members_[node.slot].bound(shape_, number, true, now_);
      }
      costs.agents_s += core_seconds() - told;
    }
  }

  Way way_;
  scheduling::Scheduler leader_;
  BidDesk desk_;
  agents::AgentsPolicy policy_;
  ShapePtr shape_;
  std::vector<Member> members_;
  Status trouble_;
  Random random_{3};
  Time now_{};
  Time next_beat_{};
  std::uint32_t beats_ = 0;
  std::size_t made_ = 0;
  std::vector<std::pair<std::size_t, NodeId>> decided_;
};

double percentile(std::vector<double>& values, std::size_t percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * percent / 100];
}

}  // namespace

Result<BenchJson> bench_agents_desk(const BenchSettings& settings, std::ostream& out) {
  auto models = load_models({});
  if (!models) return models.error();
  const auto known = models->find(kPolicy);
  const learning::Model* model = known == models->end() ? nullptr : known->second.get();
  constexpr Way kWays[] = {{"all, a watch each", 0, true}, {"all, told", 0, false}, {"32, told", 32, false}};
  const std::size_t pods = settings.quick ? 200 : 4000;
  reporting::TextTable table{{{"agents"},
                              {"asked", reporting::Align::left},
                              {"CPU us a pod, all together"},
                              {"… leader"},
                              {"leader, pods/s"},
                              {"messages a pod"},
                              {"bytes a pod"},
                              {"one agent p50 us"},
                              {"p99 us"},
                              {"by bids"}},
                             {},
                             {}};
  BenchJson results = {{"rows", BenchJson::array()}};
  double worst = 0;
  for (const std::size_t agents : {std::size_t{10}, std::size_t{100}, std::size_t{500}}) {
    for (const Way& way : kWays) {
      if (way.sample >= agents) continue;
      Office office(agents, way, model);
      if (!office.trouble()) return office.trouble().error();
      Costs warm, burst, single;
      for (const auto& [count, at_once, costs] :
           {std::tuple{pods / 10, std::size_t{32}, &warm}, std::tuple{pods, std::size_t{64}, &burst},
            std::tuple{pods / 4, std::size_t{1}, &single}})
        if (const Status ran = office.run(count, at_once, *costs); !ran) return ran.error();
      const auto count = static_cast<double>(burst.pods);
      const double decision_p50 = percentile(single.decision_us, 50),
                   decision_p99 = percentile(single.decision_us, 99);
      worst = std::max(worst, decision_p99);
      const BidDesk::Figures figures = office.desk().figures();
      const auto by_bids = static_cast<double>(figures.by_all + figures.by_quorum + figures.by_deadline);
      const double share = by_bids / std::max(1.0, by_bids + static_cast<double>(figures.by_nobody));
      const BenchJson row = {{"agents", agents},
                             {"way", way.name},
                             {"cpu_us_per_pod", (burst.leader_s + burst.agents_s) * 1e6 / count},
                             {"leader_us_per_pod", burst.leader_s * 1e6 / count},
                             {"leader_pods_per_s", count / burst.leader_s},
                             {"messages_per_pod", static_cast<double>(burst.messages) / count},
                             {"bytes_per_pod", static_cast<double>(burst.bytes) / count},
                             {"decision_p50_us", decision_p50},
                             {"decision_p99_us", decision_p99},
                             {"by_bids", share}};
      const auto cell = [&](const char* key) {
        return reporting::TextCell{format_number(row[key].get<double>())};
      };
      table.rows.push_back({{std::to_string(agents)},
                            {way.name},
                            cell("cpu_us_per_pod"),
                            cell("leader_us_per_pod"),
                            cell("leader_pods_per_s"),
                            cell("messages_per_pod"),
                            cell("bytes_per_pod"),
                            cell("decision_p50_us"),
                            cell("decision_p99_us"),
                            cell("by_bids")});
      results["rows"].push_back(row);
    }
  }
  results["decision_p99_us"] = worst;
  table.notes.push_back(
      std::string("All in one process, one after the other: filters, networks, messages as bytes; "
                  "neither encryption nor the API server. 64 pods at once; one agent alone: one pod.") +
      (model ? "" : " There is no model: networks were drawn at random."));
  out << reporting::render_text_table(table, reporting::TextStyle::plain) << std::endl;
  return results;
}

}  // namespace evenkeel::apps

#include "scheduling/group_view.h"

#include <algorithm>
#include <map>

#include "base/sort_stably.h"
#include "scheduling/filters/filter.h"
#include "scheduling/network_view.h"
#include "scheduling/pod_terms.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

double room_of(std::int64_t bits) {
  return bits == NetworkPlaces::kUnlimited ? GroupProblem::kUnlimited : static_cast<double>(bits);
}

class Viewer {
 public:
  explicit Viewer(const GroupViewInput& input)
      : in_(input), network_(view_network(input.cluster, input.options.profile.network)) {}

  GroupView view() {
    view_.pods = in_.waiting;
    for (const PodId member : in_.cluster.groups().of(in_.group.name_space, in_.group.name)) {
      const PodRecord& record = *in_.cluster.pod(member);
      if (record.place != PodPlace::pending && in_.cluster.has_node(record.node))
        view_.pods.push_back(member);
    }
    find_allowed();
    choose_nodes();
    add_places();
    add_pods();
    add_edges();
    add_apart();
    return std::move(view_);
  }

 private:
  const Pod& pod(std::size_t i) const { return in_.cluster.pod(view_.pods[i])->pod; }
  bool waits(std::size_t i) const { return i < in_.waiting.size(); }

  // Pods of one shape are told the same, unless they have volumes of their own.
  void find_allowed() {
    const auto& present = in_.cluster.columns().present;
    std::map<const PodTemplate*, std::size_t> known;
    for (std::size_t i = 0; i < in_.waiting.size(); ++i) {
      const PodTemplate* shape = pod(i).shape.get();
      if (shape->spec.volumes.empty())
        if (const auto [at, fresh] = known.emplace(shape, i); !fresh) {
          allowed_.push_back(allowed_[at->second]);
          continue;
        }
      std::vector<std::uint8_t>& flags = allowed_.emplace_back(present.begin(), present.end());
      const Demand demand = in_.history.demand(pod(i));
      // Whom it wants to be with may be among those that wait: the replay will see.
      const SchedulingOptions& options =
          shape->spec.pod_affinity.required.empty() ? in_.options : without_affinity();
      apply_filters({pod(i), in_.cluster, demand, options}, flags);
    }
  }

  const SchedulingOptions& without_affinity() {
    if (relaxed_) return *relaxed_;
    relaxed_ = in_.options;
    for (auto* names : {&relaxed_->profile.filters, &relaxed_->profile.pre_filters}) {
      if (!*names) {
        names->emplace();
        for (const Filter& filter : all_filters()) (*names)->emplace_back(filter.plugin);
      }
      std::erase(**names, kInterPodAffinity.plugin);
    }
    return *relaxed_;
  }

  double load(std::uint32_t slot) const {
    const NodeColumns& c = in_.cluster.columns();
    const auto of = [&](Dimension dimension, float requested) {
      const float used = c.utilization[static_cast<std::size_t>(dimension)][slot];
      return static_cast<double>(std::max(used, requested));
    };
    return (of(Dimension::cpu, c.cpu_share[slot]) + of(Dimension::memory, c.memory_share[slot])) / 2;
  }

  // Those that some pod may have, of each place the least loaded, and no more than could ever be of use.
  void choose_nodes() {
    const std::size_t slots = in_.cluster.columns().size();
    std::vector<std::uint8_t> chosen(slots, 0);
    for (std::size_t i = in_.waiting.size(); i < view_.pods.size(); ++i)
      chosen[in_.cluster.pod(view_.pods[i])->node.slot] = 1;
    const std::size_t most = std::max<std::size_t>(32, in_.waiting.size() * 2);
    std::map<Place, std::vector<std::pair<double, std::uint32_t>>> by_place;
    for (std::uint32_t slot = 0; slot < slots; ++slot)
      if (std::ranges::any_of(allowed_, [&](const auto& flags) { return flags[slot] != 0; }))
        by_place[network_.places.of({slot})].emplace_back(load(slot), slot);
    for (auto& [place, nodes] : by_place) {
      std::sort(nodes.begin(), nodes.end());
      for (std::size_t i = 0; i < std::min(most, nodes.size()); ++i) chosen[nodes[i].second] = 1;
    }
    number_.assign(slots, GroupProblem::kNowhere);
    for (std::uint32_t slot = 0; slot < slots; ++slot)
      if (chosen[slot]) {
        number_[slot] = static_cast<std::uint32_t>(view_.nodes.size());
        view_.nodes.push_back({slot});
      }
  }

  void add_places() {
    GroupProblem& problem = view_.problem;
    std::map<Place, std::uint32_t> zones;
    std::map<std::uint32_t, std::uint32_t> regions;
    std::vector<Place> places;
    for (const NodeId node : view_.nodes) {
      const Place place = network_.places.of(node);
      const auto [at, fresh] = zones.emplace(place, static_cast<std::uint32_t>(zones.size()));
      if (fresh) {
        places.push_back(place);
        const std::uint32_t region = network_.places.where(place).region;
        problem.region.push_back(
            regions.emplace(region, static_cast<std::uint32_t>(regions.size())).first->second);
      }
      problem.nodes.push_back({at->second, {}, room_of(network_.egress_room(node))});
    }
    problem.zones = static_cast<std::uint32_t>(places.size());
    problem.regions = static_cast<std::uint32_t>(regions.size());
    problem.region_room.assign(std::size_t{problem.regions} * problem.regions, GroupProblem::kUnlimited);
    for (std::uint32_t a = 0; a < problem.zones; ++a)
      for (std::uint32_t b = 0; b < problem.zones; ++b) {
        problem.cost.push_back(static_cast<double>(network_.counted_cost(places[a], places[b])));
        const double room = room_of(network_.room(places[a], places[b]));
        const bool same_region = problem.region[a] == problem.region[b];
        problem.zone_room.push_back(same_region ? room : GroupProblem::kUnlimited);
        if (!same_region) problem.region_room[problem.region[a] * problem.regions + problem.region[b]] = room;
      }
    problem.same_node = static_cast<double>(NetworkView::kSameNode);
  }

  void add_pods() {
    name_resources();
    GroupProblem& problem = view_.problem;
    const NodeColumns& c = in_.cluster.columns();
    for (std::size_t n = 0; n < view_.nodes.size(); ++n) {
      const std::uint32_t slot = view_.nodes[n].slot;
      auto& free = problem.nodes[n].free;
      free = {static_cast<double>(c.free_pods[slot])};
      if (by_request()) {
        free.insert(free.end(), {c.free_cpu[slot], c.free_memory[slot]});
        const Resources& allocatable = in_.cluster.node({slot}).allocatable;
        const Resources& requested = in_.cluster.requested({slot});
        free.push_back(
            static_cast<double>(allocatable.ephemeral_storage.count - requested.ephemeral_storage.count));
        for (const std::string& name : extended_)
          free.push_back(
              static_cast<double>(allocatable.extended_count(name) - requested.extended_count(name)));
      }
      for (const Nomination& other : in_.nominations.on({slot})) {
        const PodRecord* record = in_.cluster.pod(other.pod);
        if (!record || std::ranges::find(view_.pods, other.pod) != view_.pods.end()) continue;
        const std::vector<double> promised = request_of(*record->pod.shape);
        for (std::size_t r = 0; r < free.size(); ++r) free[r] -= promised[r];
      }
    }
    for (std::size_t i = 0; i < view_.pods.size(); ++i) {
      GroupProblem::Pod& own = problem.pods.emplace_back();
      if (!waits(i)) {
        own.fixed = number_[in_.cluster.pod(view_.pods[i])->node.slot];
        continue;
      }
      own.request = request_of(*pod(i).shape);
      for (const NodeId node : view_.nodes) {
        own.allowed.push_back(allowed_[i][node.slot]);
        own.bias.push_back(in_.options.joint.load_weight * load(node.slot));
      }
    }
  }

  bool by_request() const { return !in_.options.by_use.on; }

  void name_resources() {
    for (std::size_t i = 0; i < in_.waiting.size(); ++i)
      for (const ExtendedResource& resource : pod(i).shape->request.extended)
        if (std::ranges::find(extended_, resource.name) == extended_.end())
          extended_.push_back(resource.name);
  }

  std::vector<double> request_of(const PodTemplate& shape) const {
    std::vector<double> request{1};
    if (!by_request()) return request;
    request.push_back(static_cast<double>(shape.request.cpu.count));
    request.push_back(static_cast<double>(shape.request.memory.count));
    request.push_back(static_cast<double>(shape.request.ephemeral_storage.count));
    for (const std::string& name : extended_)
      request.push_back(static_cast<double>(shape.request.extended_count(name)));
    return request;
  }

  // Every pair of pods of an edge, where at least one of them waits.
  void add_edges() {
    const GroupGraph graph(in_.group);
    std::vector<std::vector<std::uint32_t>> playing(graph.workloads());
    for (std::uint32_t i = 0; i < view_.pods.size(); ++i)
      if (const auto workload = graph.workload(pod(i).shape->app_workload)) playing[*workload].push_back(i);
    for (const GroupGraph::Edge& edge : graph.edges())
      for (const std::uint32_t a : playing[edge.from])
        for (const std::uint32_t b : playing[edge.to]) {
          if (a == b || (!waits(a) && !waits(b))) continue;
          const double limit = edge.max_cost == GroupGraph::kNoLimit ? GroupProblem::kUnlimited
                                                                     : static_cast<double>(edge.max_cost);
          view_.problem.edges.push_back({a, b, 1, static_cast<double>(edge.bandwidth), limit});
        }
  }

  void add_apart() {
    for (const bool by_zone : {false, true}) {
      std::map<const PodTemplate*, std::vector<std::uint32_t>> alike;
      for (std::uint32_t i = 0; i < in_.waiting.size(); ++i)
        if (!pod(i).spec().pod_anti_affinity.required.empty()) alike[pod(i).shape.get()].push_back(i);
      for (const auto& [shape, pods] : alike) {
        if (pods.size() > 1 && keeps_away(pods[0], pods[1], by_zone))
          view_.problem.apart.push_back({.pods = pods, .by_zone = by_zone, .taken = {}});
        for (std::uint32_t other = 0; other < in_.waiting.size(); ++other)
          if (pod(other).shape.get() != shape && keeps_away(pods[0], other, by_zone))
            for (const std::uint32_t own : pods)
              view_.problem.apart.push_back({.pods = {own, other}, .by_zone = by_zone, .taken = {}});
      }
    }
  }

  bool keeps_away(std::uint32_t from, std::uint32_t other, bool by_zone) const {
    const std::string& home = pod(from).shape->name_space;
    const Labels& labels = in_.cluster.objects().namespace_labels(pod(other).shape->name_space);
    return std::ranges::any_of(pod(from).spec().pod_anti_affinity.required, [&](const PodAffinityTerm& term) {
      return term.topology_key == (by_zone ? kZoneLabel : kHostname) &&
             term_means(term, home, pod(other), labels);
    });
  }

  const GroupViewInput& in_;
  NetworkView network_;
  GroupView view_;
  std::vector<std::vector<std::uint8_t>> allowed_;  // by waiting pod, then by node slot
  std::optional<SchedulingOptions> relaxed_;
  std::vector<std::uint32_t> number_;  // of nodes in the problem, by slot
  std::vector<std::string> extended_;
};

}  // namespace

GroupView view_group(const GroupViewInput& input) { return Viewer(input).view(); }

}  // namespace evenkeel::scheduling

#include "simulator/service_scenario.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evenkeel::simulator {
namespace {

using namespace std::chrono_literals;

ServiceTimes read_times(YamlReader& service) {
  ServiceTimes times;
  times.kind =
      service
          .choice<ServiceTimes::Kind>("service_time", {{"exponential", ServiceTimes::Kind::exponential},
                                                       {"log-normal", ServiceTimes::Kind::log_normal},
                                                       {"fixed", ServiceTimes::Kind::fixed}})
          .or_else(ServiceTimes::Kind::exponential);
  times.variation = service.number("variation").between(0.01, 10).or_else(1);
  return times;
}

ScalingRules read_rules(YamlReader rules) {
  ScalingRules read;
  read.stabilisation = rules.duration("stabilisation").at_least(0us).optional();
  read.tolerance = rules.number("tolerance").at_least(0).optional();
  read.select = rules
                    .choice<ScalingRules::Select>("select", {{"most", ScalingRules::Select::most},
                                                             {"least", ScalingRules::Select::least},
                                                             {"disabled", ScalingRules::Select::disabled}})
                    .or_else(ScalingRules::Select::most);
  for (YamlReader limit : rules.list("limits")) {
    ScalingRules::Limit own;
    own.kind = limit.has("percent") ? ScalingRules::Limit::Kind::percent : ScalingRules::Limit::Kind::pods;
    own.value = limit.integer<std::int32_t>(limit.has("percent") ? "percent" : "pods").at_least(1).required();
    own.period = limit.duration("period").more_than(0us).or_else(15s);
    read.limits.push_back(own);
  }
  return read;
}

ScalerSpec read_scaler(YamlReader scaler, const std::string& service, const ServiceLevel& level) {
  ScalerSpec spec;
  spec.name_space = "default";
  spec.name = service;
  spec.target = {"apps/v1", "Deployment", service};
  spec.mode = ScalerSpec::Mode::automatic;
  spec.min_replicas = scaler.integer<std::int32_t>("min").at_least(1).or_else(1);
  spec.max_replicas = scaler.integer<std::int32_t>("max").at_least(spec.min_replicas).or_else(20);
  spec.interval = scaler.duration("interval").at_least(1s).or_else(spec.interval);
  spec.stale_after = scaler.duration("stale_after").more_than(0us).or_else(spec.stale_after);
  spec.level = level;
  MetricTarget cpu;
  cpu.target = scaler.number("target").between(0.01, 10).or_else(0.7);
  spec.metrics.push_back(cpu);
  if (scaler.has("behaviour"))
    spec.behaviour =
        ScalingBehaviour{read_rules(scaler.map("behaviour.up")), read_rules(scaler.map("behaviour.down"))};
  return spec;
}

ServicePlan read_service(YamlReader& service, const ServiceLevel& level) {
  ServicePlan plan;
  plan.name = service.text("name").or_else(plan.name);
  const auto cores = [&](const char* field, double fallback) {
    return ratio(service.cpu(field)
                     .more_than(MilliCpu{0})
                     .or_else(MilliCpu{static_cast<std::int64_t>(std::llround(1000 * fallback))}),
                 MilliCpu{1000});
  };
  plan.cpu_limit = cores("cpu", plan.cpu_limit);
  plan.cpu_request = cores("cpu_request", plan.cpu_limit);
  plan.memory = service.bytes("memory").or_else(plan.memory);
  if (service.has("cpu_per_request"))
    plan.cpu_per_request = to_seconds(service.duration("cpu_per_request").more_than(0us).or_else(10ms));
  else
    plan.cpu_per_request =
        plan.cpu_limit / service.number("requests_per_s").more_than(0).or_else(plan.requests_per_s());
  plan.concurrency = service.integer<int>("concurrency").between(1, 10000).or_else(plan.concurrency);
  plan.times = read_times(service);
  plan.queue_limit = service.number("queue_limit").at_least(0).or_else(plan.queue_limit);
  plan.start_up = service.duration("start_up").at_least(0us).or_else(plan.start_up);
  plan.start_up_spread = service.number("start_up_spread").between(0, 2).or_else(0);
  plan.start_up_cpu = service.number("start_up_cpu").at_least(0).or_else(0);
  plan.warm_up = service.duration("warm_up").at_least(0us).or_else(plan.warm_up);
  plan.warm_up_speed = service.number("warm_up_speed").between(0.01, 1).or_else(1);
  plan.grace = service.duration("grace").at_least(0us).or_else(plan.grace);
  plan.replicas = service.integer<std::int32_t>("replicas").at_least(1).or_else(plan.replicas);
  plan.scaler = read_scaler(service.map("scaler"), plan.name, level);
  return plan;
}

void read_services(YamlReader& root, ServiceWorldPlan& world) {
  std::vector<YamlReader> services = root.list("services");
  if (services.empty()) root.fail("services", "expected a service at least");
  for (YamlReader& service : services) world.services.push_back(read_service(service, world.level));
  for (std::size_t i = 0; i < services.size(); ++i) {
    for (YamlReader call : services[i].list("calls")) {
      const std::string to = call.text("to").required();
      const auto found =
          std::find_if(world.services.begin() + static_cast<std::ptrdiff_t>(i) + 1, world.services.end(),
                       [&](const ServicePlan& other) { return other.name == to; });
      if (found == world.services.end()) {
        call.fail("to", "expected the name of a service further down the list, found '" + to + "'");
        continue;
      }
      world.services[i].calls.push_back({static_cast<std::size_t>(found - world.services.begin()),
                                         call.number("per_request").more_than(0).or_else(1)});
    }
  }
}

void read_telemetry(YamlReader telemetry, TelemetryPlan& plan) {
  plan.cpu_every = telemetry.duration("cpu_every").at_least(1s).or_else(plan.cpu_every);
  plan.cpu_delay = telemetry.duration("cpu_delay").at_least(0us).or_else(plan.cpu_delay);
  plan.scrape_every = telemetry.duration("scrape_every").at_least(1s).or_else(plan.scrape_every);
  plan.scrape_delay = telemetry.duration("scrape_delay").at_least(0us).or_else(plan.scrape_delay);
  plan.window = telemetry.duration("window").at_least(1s).or_else(plan.window);
}

void read_faults(YamlReader& root, ServiceWorldPlan& world) {
  for (YamlReader fault : root.list("faults")) {
    ServiceFault read;
    read.kind = fault
                    .choice<ServiceFault::Kind>("kind", {{"missing", ServiceFault::Kind::missing},
                                                         {"stale", ServiceFault::Kind::stale},
                                                         {"not-a-number", ServiceFault::Kind::not_a_number},
                                                         {"unseen", ServiceFault::Kind::unseen}})
                    .required();
    read.what = fault
                    .choice<ServiceFault::What>("what", {{"cpu", ServiceFault::What::cpu},
                                                         {"requests", ServiceFault::What::requests},
                                                         {"both", ServiceFault::What::both}})
                    .or_else(ServiceFault::What::both);
    read.share = fault.number("share").between(0, 1).or_else(1);
    read.from = fault.duration("from").at_least(0us).required();
    read.to = fault.duration("to").more_than(read.from).required();
    world.faults.push_back(read);
  }
  world.scale_failures = root.number("scale_failures").between(0, 1).or_else(0);
}

RequestShape read_shape(YamlReader made) {
  RequestShape shape;
  shape.length = made.duration("length").more_than(0us).or_else(shape.length);
  shape.step = made.duration("step").at_least(1s).or_else(shape.step);
  for (YamlReader point : made.list("points"))
    shape.points.emplace_back(to_seconds(point.duration("at").at_least(0us).required()),
                              point.number("level").at_least(0).required());
  for (std::size_t i = 1; i < shape.points.size(); ++i)
    if (shape.points[i].first <= shape.points[i - 1].first)
      made.fail("points", "expected each point later than the one before");
  shape.daily = made.number("daily").between(0, 1).or_else(0);
  shape.peak_at = made.duration("peak_at").or_else(shape.peak_at);
  shape.weekend = made.number("weekend").at_least(0).or_else(1);
  shape.growth = made.number("growth").or_else(0);
  shape.events.per_day = made.number("events.per_day").at_least(0).or_else(0);
  shape.events.height = made.number("events.height").at_least(0).or_else(0);
  shape.events.first = made.duration("events.first").or_else(shape.events.first);
  shape.events.last = made.duration("events.last").or_else(shape.events.last);
  shape.events.rise = made.duration("events.rise").more_than(0us).or_else(shape.events.rise);
  shape.events.hold = made.duration("events.hold").at_least(0us).or_else(shape.events.hold);
  shape.events.fall = made.duration("events.fall").more_than(0us).or_else(shape.events.fall);
  shape.bursts.per_hour = made.number("bursts.per_hour").at_least(0).or_else(0);
  shape.bursts.height = made.number("bursts.height").at_least(0).or_else(0);
  shape.bursts.length = made.duration("bursts.length").more_than(0us).or_else(shape.bursts.length);
  shape.noise.spread = made.number("noise.spread").between(0, 3).or_else(0);
  shape.noise.memory = made.duration("noise.memory").more_than(0us).or_else(shape.noise.memory);
  shape.work_spread = made.number("work_spread").between(0, 3).or_else(0);
  return shape;
}

RequestTrace read_trace(YamlReader& workload) {
  RequestTrace trace;
  trace.path = workload.text("trace").or_else("");
  trace.time = workload.text("columns.time").or_else(trace.time);
  trace.unit_s = workload.number("columns.unit").more_than(0).or_else(1);
  if (workload.has("columns")) trace.requests = workload.text("columns.requests").or_else("");
  for (auto& [name, weight] : workload.entries("columns.work"))
    trace.work.emplace_back(name, weight.number("").or_else(1));
  trace.step = workload.duration("step").more_than(0us).or_else(trace.step);
  trace.from = workload.text("from").or_else("");
  trace.to = workload.text("to").or_else("");
  return trace;
}

void cut(RequestRates& rates, const RequestTrace& window) {
  const auto slot = [&](const std::string& text, std::size_t otherwise) {
    const Result<Duration> at = parse_duration(text);
    if (!at || *at < Duration{}) return otherwise;
    return std::min(rates.per_s.size(), static_cast<std::size_t>(*at / rates.step));
  };
  const std::size_t from = slot(window.from, 0), to = slot(window.to, rates.per_s.size());
  if (from >= to) return;
  const auto keep = [&](std::vector<float>& values) {
    if (!values.empty())
      values = {values.begin() + static_cast<std::ptrdiff_t>(from),
                values.begin() + static_cast<std::ptrdiff_t>(to)};
  };
  keep(rates.per_s);
  keep(rates.work);
}

}  // namespace

Result<ServiceScenario> read_service_scenario(YamlReader& root) {
  ServiceScenario scenario;
  root.word("apiVersion", {"evenkeel.io/v1alpha1"}).required();
  root.word("kind", {"ScalingScenario"}).required();
  scenario.name = root.text("name").required();
  scenario.description = root.text("description").or_else("");
  ServiceWorldPlan& world = scenario.world;
  world.level.percentile =
      root.number("level.percentile").between(0.01, 0.9999).or_else(world.level.percentile);
  world.level.bound = root.duration("level.bound").more_than(0us).or_else(world.level.bound);
  world.level_window = root.duration("level.window").at_least(1s).or_else(world.level_window);
  world.step = root.duration("step").more_than(0us).or_else(world.step);
  world.exact = root.boolean("exact").or_else(false);
  world.measured_from = root.duration("measured_from").at_least(0us).or_else(0us);
  read_services(root, world);
  read_telemetry(root.map("telemetry"), world.telemetry);
  read_faults(root, world);
  if (root.has("nodes")) {
    const auto count = root.integer<int>("nodes.count").between(1, 100000).or_else(1);
    const double cpu = ratio(root.cpu("nodes.cpu").required(), MilliCpu{1000});
    const Bytes memory = root.bytes("nodes.memory").required();
    for (int i = 1; i <= count; ++i) world.nodes.push_back({"node" + std::to_string(i), cpu, memory});
  }

  YamlReader workload = root.map("workload");
  scenario.interpolate =
      workload.choice<bool>("between", {{"interpolate", true}, {"stepwise", false}}).or_else(true);
  scenario.compress = workload.number("compress").more_than(0).or_else(1);
  scenario.scale = workload.number("scale").more_than(0).or_else(1);
  scenario.peak = workload.number("peak").at_least(0).or_else(0);
  scenario.peak_quantile = workload.number("peak_quantile").between(0.01, 1).or_else(scenario.peak_quantile);
  scenario.most = workload.number("most").at_least(0).or_else(0);
  scenario.shape = read_shape(workload.map("made"));
  const RequestTrace trace = read_trace(workload);
  if (auto bad = root.finish()) return *bad;
  if (trace.path.empty()) {
    scenario.source = "requests made by the scenario's generator";
  } else {
    Result<RequestRates> rates = read_request_trace(trace);
    if (!rates) return rates.error();
    scenario.trace = std::make_shared<const RequestRates>(*std::move(rates));
    scenario.source = "requests of " + trace.path;
  }
  if (!trace.from.empty() || !trace.to.empty())
    scenario.source += ", " + (trace.from.empty() ? "from its beginning" : "from " + trace.from) +
                       (trace.to.empty() ? "" : " to " + trace.to);
  if (trace.path.empty()) scenario.window = {trace.from, trace.to};
  return scenario;
}

ServiceWorldPlan expand(const ServiceScenario& scenario, std::uint64_t seed) {
  ServiceWorldPlan world = scenario.world;
  RequestRates rates =
      scenario.trace ? *scenario.trace : make_requests(scenario.shape, Random(seed).fork("workload"));
  if (!scenario.trace) {
    RequestTrace window;
    window.from = scenario.window.first;
    window.to = scenario.window.second;
    cut(rates, window);
  }
  rates.interpolate = scenario.interpolate;
  double factor = scenario.scale;
  if (scenario.peak > 0) {
    std::vector<float> sorted = rates.per_s;
    const auto at = static_cast<std::ptrdiff_t>(
        std::min<double>(static_cast<double>(sorted.size() - 1),
                         std::floor(scenario.peak_quantile * static_cast<double>(sorted.size()))));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    const double highest = sorted[static_cast<std::size_t>(at)];
    if (highest > 0) factor *= scenario.peak / highest;
  }
  const double most =
      scenario.most > 0 ? scenario.most * scenario.scale : std::numeric_limits<double>::infinity();
  for (float& rate : rates.per_s) rate = static_cast<float>(std::min(rate * factor, most));
  rates.step = std::max(Duration{1}, from_seconds(to_seconds(rates.step) / scenario.compress));
  world.length = rates.length();
  world.rates = std::make_shared<const RequestRates>(std::move(rates));
  return world;
}

}  // namespace evenkeel::simulator

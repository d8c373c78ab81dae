// The constants below are fitted by eye, to what a spreading scheduler makes of such machines: about
// .11 imbalance and 5 to 12 % of CPU unserved with 428 of them on 40 nodes.
#include "simulator/machine_generator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace evenkeel::simulator {
namespace {

constexpr auto kDay = static_cast<int>(kGeneratedSlotsPerDay);
constexpr double kLongShare = 0.030, kShortShare = 0.063;  // of all machines: compute servers, two groups

using Flags = std::vector<char>;  // one per slot; not bits, which cannot be lent

double log_normal(Random& random, double median, double sigma) {
  return median * std::exp(sigma * random.normal());
}

int geometric(Random& random, double mean) {  // 1 or more
  return 1 + static_cast<int>(std::log(1 - random.uniform()) / std::log(1 - 1 / std::max(1.0001, mean)));
}

int poisson(Random& random, double mean) {
  const double least = std::exp(-mean);
  int count = 0;
  for (double product = random.uniform(); product > least; product *= random.uniform()) ++count;
  return count;
}

// A normal deviate of standard deviation 1 that remembers its last value.
class Drift {
 public:
  explicit Drift(double memory) : memory_(memory), fresh_(std::sqrt(1 - memory * memory)) {}
  double next(Random& random) { return value_ = memory_ * value_ + fresh_ * random.normal(); }

 private:
  double memory_, fresh_, value_ = 0;
};

void mark(Flags& flags, int from, int length) {
  const int to = std::min(from + length, static_cast<int>(flags.size()));
  for (int t = std::max(from, 0); t < to; ++t) flags[static_cast<std::size_t>(t)] = 1;
}

// --- compute servers ----------------------------------------------------------------------

// The first group tries a quarter of its machines on the first day; the rest are not even there
// until, on the third day, long campaigns of the whole group begin.
std::vector<Flags> long_campaigns(std::size_t machines, int slots, Random random) {
  std::vector<Flags> busy(machines, Flags(static_cast<std::size_t>(slots), 0));
  if (machines == 0) return busy;
  const int trial = static_cast<int>(random.between(150, 200));
  const int trial_length = static_cast<int>(log_normal(random, 120, 0.3));
  for (std::size_t m = 0; m < std::max<std::size_t>(1, machines / 4); ++m) mark(busy[m], trial, trial_length);
  for (int at = static_cast<int>(random.between(2.2, 2.9) * kDay); at < slots;) {
    const int length = static_cast<int>(log_normal(random, 300, 0.5));
    for (Flags& machine : busy)
      mark(machine, at + geometric(random, 5), length + static_cast<int>(random.normal(0, 15)));
    at += length + static_cast<int>(log_normal(random, 190, 0.5)) + 1;
  }
  return busy;
}

// The second group works for hours at a time; some days are busy, some quiet, the first is quiet.
std::vector<Flags> short_campaigns(std::size_t machines, int slots, Random random) {
  std::vector<Flags> busy(machines, Flags(static_cast<std::size_t>(slots), 0));
  double intensity = 0.12;
  int day = 0;
  for (double at = random.between(150, 220); at < slots;) {
    const int today = static_cast<int>(at) / kDay;
    if (today != day) {
      day = today;
      intensity = random.chance(0.5) ? random.between(0.6, 1) : random.between(0.03, 0.25);
    }
    const double length = log_normal(random, 45, 0.7);
    const double share = std::min(1.0, intensity * random.between(0.7, 1.3));
    for (std::size_t m = 0; m < machines; ++m) {
      const double eagerness = static_cast<double>(m) < 0.55 * static_cast<double>(machines) ? 1 : 0.75;
      if (!random.chance(share * eagerness)) continue;
      const int from = static_cast<int>(at) + geometric(random, 4);
      const int to = from + std::max(2, static_cast<int>(length * random.between(0.6, 1.1)));
      for (int t = from; t < std::min(to, slots); ++t)
        busy[m][static_cast<std::size_t>(t)] = static_cast<char>(random.chance(0.97));
    }
    at += 1 + length * random.between(0.6, 1) + log_normal(random, 26, 0.8) / (0.3 + intensity);
  }
  return busy;
}

// Once a week, for a few hours, everybody computes.
void add_rush(const std::vector<Flags>& long_group, std::vector<Flags>& short_group, int slots,
              Random random) {
  std::vector<int> moments;
  for (int t = 2 * kDay; t < std::min(6 * kDay, slots); ++t) {
    std::size_t working = 0;
    for (const Flags& machine : long_group) working += machine[static_cast<std::size_t>(t)] != 0;
    if (static_cast<double>(working) >= 0.95 * static_cast<double>(long_group.size())) moments.push_back(t);
  }
  const int at = moments.empty() ? 4 * kDay : moments[random.below(moments.size())];
  const int length = static_cast<int>(random.between(24, 40));
  for (Flags& machine : short_group)
    if (random.chance(0.95)) mark(machine, at, length);
}

// How much the members of a group hold in memory swings together.
std::vector<double> common_swing(std::size_t slots, Random random) {
  Drift drift(0.97);
  std::vector<double> swing(slots);
  for (double& value : swing) value = drift.next(random);
  return swing;
}

MachineTrace compute_server(double memory_mib, std::size_t first_slot, const Flags& busy,
                            const std::vector<double>& swing, Random random) {
  constexpr double kMhz = 8 * 2600;
  MachineTrace machine{"", kMhz * kCoresPerMhz, memory_mib * kBytesPerMib, std::vector<Usage>(busy.size())};
  Drift cpu(0.8), memory(0.9);
  for (std::size_t t = first_slot; t < busy.size(); ++t) {
    const double c = cpu.next(random), m = memory.next(random);
    double mhz = 82 * std::exp(0.25 * c), mib = random.chance(0.35) ? 0 : 150 * std::exp(0.9 * m);
    double receive = (random.chance(0.7) ? 0 : log_normal(random, 5, 1)) +
                     (random.chance(0.006) ? log_normal(random, 2500, 1) : 0);
    double transmit = log_normal(random, 2, 0.8);
    if (busy[t] != 0) {
      mhz = kMhz * (random.chance(0.08) ? random.between(0.5, 1) : 1.03 + 0.012 * c);
      mib = 4200 * std::exp(0.35 * m + 0.7 * swing[t]);
      receive = log_normal(random, 40, 1.2) + (random.chance(0.02) ? log_normal(random, 2500, 0.9) : 0);
      if (random.chance(0.02)) transmit += log_normal(random, 200, 0.8);
    }
    const double read = random.chance(0.1) ? log_normal(random, 2, 1.6) : 0;
    const double write = log_normal(random, 1.4, 0.4) + (random.chance(0.01) ? log_normal(random, 30, 1) : 0);
    machine.use[t] = {{mhz * kCoresPerMhz, std::min(mib, 0.95 * memory_mib) * kBytesPerMib,
                       receive * kBytesPerKb, transmit * kBytesPerKb, read * kBytesPerKb,
                       write * kBytesPerKb}};
  }
  return machine;
}

void add_compute_servers(std::size_t count, std::size_t slots, const Random& root,
                         std::vector<MachineTrace>& to) {
  const auto length = static_cast<int>(slots);
  const auto share = [count](double of) {
    return static_cast<std::size_t>(std::llround(of * static_cast<double>(count)));
  };
  const auto long_group = long_campaigns(share(kLongShare), length, root.fork("long campaigns"));
  auto short_group = short_campaigns(share(kShortShare), length, root.fork("short campaigns"));
  add_rush(long_group, short_group, length, root.fork("rush"));

  const auto long_swing = common_swing(slots, root.fork("long swing"));
  for (std::size_t m = 0; m < long_group.size(); ++m) {
    const bool tried = m < std::max<std::size_t>(1, long_group.size() / 4);
    const auto appears = std::find(long_group[m].begin(), long_group[m].end(), 1) - long_group[m].begin();
    to.push_back(compute_server(tried ? 20480 : 19928, tried ? 0 : static_cast<std::size_t>(appears),
                                long_group[m], long_swing, root.fork("long").fork(m)));
  }
  const auto short_swing = common_swing(slots, root.fork("short swing"));
  Random memory = root.fork("short memory");
  for (std::size_t m = 0; m < short_group.size(); ++m) {
    const double mib = (memory.chance(0.6) ? 32768 : 39800) * memory.between(0.97, 1);
    to.push_back(compute_server(mib, 0, short_group[m], short_swing, root.fork("short").fork(m)));
  }
}

// --- everything else ----------------------------------------------------------------------

// How active a machine is, in all it does and in one thing more than in another.
struct Activity {
  double overall, disk, network;
  double mixed(double share, Random& random) const {
    return share * overall + std::sqrt(1 - share * share) * random.normal();
  }
};

// What comes on top of a machine's usual CPU, in MHz.
std::vector<double> spikes(double capacity_mhz, std::size_t slots, Random& random) {
  std::vector<double> height(slots, 0);
  const auto raise = [&](std::size_t from, int length, double to) {
    for (std::size_t t = from; t < std::min(slots, from + static_cast<std::size_t>(length)); ++t)
      height[t] = std::max(height[t], to);
  };
  const double days = static_cast<double>(slots) / kDay;
  const int count = random.chance(0.55) ? poisson(random, days * log_normal(random, 0.5, 1.2)) : 0;
  for (int i = 0; i < std::min(count, 80); ++i) {
    const int length = std::min(150, geometric(random, log_normal(random, 3, 0.9)));
    raise(random.below(slots), length, capacity_mhz * std::min(1.0, log_normal(random, 0.15, 0.8)));
  }
  if (!random.chance(0.2)) return height;
  const std::size_t hour = random.below(kGeneratedSlotsPerDay);  // a job of every day
  const int length = geometric(random, 6);
  const double job = capacity_mhz * std::min(0.95, log_normal(random, 0.2, 0.8));
  for (std::size_t at = hour; at < slots; at += kGeneratedSlotsPerDay) raise(at, length, job);
  return height;
}

void add_cpu(double ratio, double capacity_mhz, MachineTrace& machine, Random random) {
  const std::size_t slots = machine.use.size();
  const double sigma = std::min(1.1, log_normal(random, 0.22, 0.9));
  const double daylight = random.chance(0.35) ? random.between(0.1, 0.6) : random.between(0, 0.08);
  const double noon = kDay * (random.chance(0.7) ? random.between(0.5, 0.8) : random.uniform());
  Drift drift(random.between(0, 0.97));
  const std::vector<double> extra = spikes(capacity_mhz, slots, random);
  for (std::size_t t = 0; t < slots && ratio > 0; ++t) {
    const double angle = 2 * std::numbers::pi * (static_cast<double>(t) - noon) / kDay;
    const double usual = ratio * capacity_mhz * (1 + daylight * std::cos(angle)) *
                         std::exp(sigma * drift.next(random) - sigma * sigma / 2);
    machine.use[t][Dimension::cpu] = std::min(1.02 * capacity_mhz, usual + extra[t]) * kCoresPerMhz;
  }
}

void add_memory(double mean_bytes, MachineTrace& machine, Random random) {
  const double sigma = std::min(0.9, log_normal(random, 0.25, 0.6));
  Drift drift(random.between(0.1, 0.9));
  for (Usage& use : machine.use) {
    double bytes = mean_bytes * std::exp(sigma * drift.next(random) - sigma * sigma / 2);
    if (random.chance(0.004)) bytes += machine.memory * random.between(0.05, 0.35);
    use[Dimension::memory] = std::min(0.95 * machine.memory, bytes);
  }
}

// A rate in kB/s: its mean over machines is log-normal, and log_median + spread x activity for one.
struct RateModel {
  Dimension dimension;
  double never, log_median, spread, largest_mean, largest, by_activity;
};
constexpr RateModel kRates[] = {{Dimension::read, 0.25, -0.4, 3.2, 15000, 500e3, 0.62},
                                {Dimension::write, 0.02, 1.5, 2.2, 8500, 150e3, 0.58},
                                {Dimension::receive, 0.07, 0.7, 3.0, 1300, 60e3, 0.60},
                                {Dimension::transmit, 0.10, 0.1, 3.0, 4500, 190e3, 0.50}};

struct Nights {  // when backups run, in slots of the day
  bool any;
  int from, length;
};

void add_rate(const RateModel& model, const Activity& activity, bool store, const Nights& nights,
              MachineTrace& machine, Random random) {
  const bool reads = model.dimension == Dimension::read;
  const bool disk = reads || model.dimension == Dimension::write;
  const bool stores = store && disk;
  if (random.chance(model.never) && !stores) return;
  const double z = model.by_activity * activity.overall + 0.55 * (disk ? activity.disk : activity.network) +
                   std::sqrt(0.7 - model.by_activity * model.by_activity) * random.normal();
  double mean = std::exp(model.log_median + model.spread * z);
  if (stores) mean = reads ? log_normal(random, 4000, 0.9) : log_normal(random, 2600, 0.8);
  mean = std::min(mean, model.largest_mean);

  // Part of the mean is there at most times, the rest comes in bursts.
  const double often = !reads   ? (random.chance(0.7) ? 1 : random.between(0.05, 1))
                       : stores ? random.between(0.5, 1)
                                : std::pow(random.uniform(), 2);
  const double steady = !reads   ? random.between(0.3, 0.95)
                        : stores ? random.between(0.4, 0.8)
                                 : random.between(0.1, 0.5);
  const double sigma = log_normal(random, 0.35, 0.6);
  const double burst_chance = log_normal(random, 0.012, 0.8), burst_length = 1 + geometric(random, 2);
  const double burst_mean = mean * (1 - steady) / std::max(1e-4, burst_chance * burst_length);
  Drift drift(random.between(0.2, 0.9));
  int burst_left = 0;
  double burst = 0;
  for (std::size_t t = 0; t < machine.use.size(); ++t) {
    const double swing = std::exp(sigma * drift.next(random) - sigma * sigma / 2);
    double rate = random.chance(often) ? mean * steady / often * swing : 0;
    const int hour = static_cast<int>(t) % kDay;
    const bool backup = nights.any && model.dimension != Dimension::receive && hour >= nights.from &&
                        hour < nights.from + nights.length;
    if (burst_left == 0 && random.chance(std::min(0.5, burst_chance * (backup ? 8 : 1)))) {
      burst_left = geometric(random, burst_length);
      burst = burst_mean * log_normal(random, 0.6, 1);
    }
    if (burst_left > 0) {
      --burst_left;
      rate += burst;
    }
    machine.use[t][model.dimension] = rate < 0.05 ? 0 : std::min(model.largest, rate) * kBytesPerKb;
  }
}

MachineTrace ordinary_machine(std::size_t slots, Random random) {
  const double r = random.uniform(), clock = random.uniform();
  const double cores = r < 0.51 ? 1 : r < 0.73 ? 2 : r < 0.94 ? 4 : r < 0.99 ? 8 : r < 0.995 ? 16 : 32;
  const double mhz = cores * (clock < 0.38 ? 2600 : clock < 0.92 ? 2926 : 2400);
  const double mib = std::exp2(11.2 + 0.75 * std::log2(cores) + 1.1 * random.normal());
  MachineTrace machine{"", mhz * kCoresPerMhz,
                       std::clamp(std::round(mib / 64) * 64, 256.0, 98304.0) * kBytesPerMib,
                       std::vector<Usage>(slots)};
  const Activity activity{random.normal(), random.normal(), random.normal()};

  const bool off = random.chance(0.05), hard_at_work = random.chance(0.075);
  double ratio = off            ? 0
                 : hard_at_work ? random.between(0.15, 0.55)
                                : std::min(0.5, std::exp(-4.4 + 1.25 * activity.mixed(0.8, random)));
  if (cores >= 16) ratio = std::min(ratio, 0.06);  // or one machine would be a quarter of the whole
  add_cpu(ratio, mhz, machine, random.fork("cpu"));

  const double filled = std::min(0.7, std::exp(-3.05 + 1.25 * activity.mixed(0.75, random)));
  add_memory(off && random.chance(0.5) ? 0 : filled * machine.memory, machine, random.fork("memory"));

  const bool store = random.chance(0.03);
  const Nights nights{random.chance(0.25), static_cast<int>(random.between(12, 60)), geometric(random, 14)};
  for (const RateModel& model : kRates)
    add_rate(model, activity, store, nights, machine,
             random.fork(kDimensionNames[static_cast<std::size_t>(model.dimension)]));
  return machine;
}

}  // namespace

std::vector<MachineTrace> generate_machines(std::size_t count, std::size_t slots, const Random& random) {
  std::vector<MachineTrace> machines;
  machines.reserve(count);
  add_compute_servers(count, slots, random, machines);
  while (machines.size() < count)
    machines.push_back(ordinary_machine(slots, random.fork("ordinary").fork(machines.size())));
  // Numbered in no order that would tell them apart.
  random.fork("order").shuffle(machines);
  for (std::size_t i = 0; i < machines.size(); ++i) machines[i].id = std::to_string(i + 1);
  return machines;
}

}  // namespace evenkeel::simulator

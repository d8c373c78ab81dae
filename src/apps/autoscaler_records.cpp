#include "apps/autoscaler_records.h"

#include <algorithm>
#include <utility>

#include "base/match.h"

namespace evenkeel::apps {
namespace {

double unix_seconds(Time time) { return to_seconds(time.time_since_epoch()); }

double time_mean(const std::vector<ScalingPoint>& points, float ScalingPoint::* of) {
  if (points.size() < 2) return points.empty() ? 0 : static_cast<double>(points.front().*of);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    sum += static_cast<double>(points[i].*of) * (points[i + 1].at_s - points[i].at_s);
  const double span = points.back().at_s - points.front().at_s;
  return span > 0 ? sum / span : static_cast<double>(points.back().*of);
}

const char* name_of(ScalerSpec::Mode mode) {
  return mode == ScalerSpec::Mode::preview     ? "Preview"
         : mode == ScalerSpec::Mode::automatic ? "Auto"
                                               : "Paused";
}

}  // namespace

double ScalingRecord::mean_wanted() const { return time_mean(points, &ScalingPoint::wanted); }
double ScalingRecord::mean_decided() const { return time_mean(points, &ScalingPoint::decided); }

double ScalingRecord::above_bound() const {
  std::size_t known = 0, above = 0;
  for (const ScalingPoint& point : points) {
    if (point.response_s < 0) continue;
    ++known;
    if (static_cast<double>(point.response_s) > bound_s) ++above;
  }
  return known == 0 ? 0 : static_cast<double>(above) / static_cast<double>(known);
}

ScalingRecords::Slot* ScalingRecords::find(ScalerId id) {
  const auto at = slots_.find(id);
  return at == slots_.end() ? nullptr : &at->second;
}

void ScalingRecords::decided(const autoscaling::ScalingRequest& request, const TellDecision& told,
                             const std::string& other) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[request.scaler];
  ScalingRecord& record = slot.record;
  const ScalerSpec& spec = request.spec;
  const ScalingDecision& decision = told.decision;
  const bool is_first = record.decisions == 0;
  record.name_space = spec.name_space;
  record.name = spec.name;
  record.kind = spec.target.kind;
  record.target = spec.target.name;
  record.policy = spec.policy;
  record.mode = name_of(spec.mode);
  record.other = other;
  record.min_replicas = spec.min_replicas;
  record.max_replicas = spec.max_replicas;
  record.bound_s = to_seconds(spec.level.bound);
  record.percentile = spec.level.percentile;

  ScalingPoint point;
  point.at_s = unix_seconds(request.now);
  point.wanted = static_cast<float>(decision.from);
  point.decided = static_cast<float>(decision.to);
  point.ready = static_cast<float>(
      std::count_if(request.report.replicas.begin(), request.report.replicas.end(),
                    [](const ReplicaReport& replica) { return replica.ready && !replica.leaves; }));
  if (request.report.requests_per_s)
    point.requests_per_s = static_cast<float>(request.report.requests_per_s->value);
  if (request.report.response_s) point.response_s = static_cast<float>(request.report.response_s->value);
  if (!is_first && record.last.from != decision.from) ++record.changes_set;
  if (!is_first && record.last.to != decision.to) ++record.changes_decided;
  if (++slot.skipped >= slot.stride) {
    slot.skipped = 0;
    record.points.push_back(point);
  }
  if (record.points.size() > options_.most_points) {
    std::vector<ScalingPoint> half;
    for (std::size_t i = 0; i < record.points.size(); i += 2) half.push_back(record.points[i]);
    record.points = std::move(half);
    slot.stride *= 2;
  }
  ++record.decisions;
  ++totals_.decisions;
  if (!decision.fallback.empty()) ++record.fallbacks, ++totals_.fallbacks;
  if (decision.decided_by == "hold") ++totals_.holds;
  const bool is_news = is_first || decision.to != decision.from || record.last.to != decision.to ||
                       record.last.decided_by != decision.decided_by;
  record.last = decision;
  record.acted = told.acted;
  slot.from = decision.from;
  if (!is_news) return;
  journal_.push_back({spec.name_space, spec.name, decision, told.acted, ""});
  if (journal_.size() > options_.most_entries) journal_.pop_front();
}

void ScalingRecords::observed(const ScalingEvent& event) {
  const std::lock_guard lock(mutex_);
  const auto settle = [&](ScalerId id, const std::string& outcome, bool is_done) {
    Slot* slot = find(id);
    if (!slot) return;
    ++(is_done ? slot->record.scalings : slot->record.failures);
    for (auto entry = journal_.rbegin(); entry != journal_.rend(); ++entry)
      if (entry->acted && entry->name == slot->record.name && entry->name_space == slot->record.name_space) {
        entry->outcome = outcome;
        break;
      }
  };
  std::visit(Match{
                 [&](const ScalerSet& set) { slots_[set.scaler].id = set.scaler; },
                 [&](const ScalerGone& gone) { slots_.erase(gone.scaler); },
                 [&](const Scaled& scaled) {
                   if (const Slot* slot = find(scaled.scaler))
                     ++(scaled.replicas >= slot->from ? totals_.scaled_up : totals_.scaled_down);
                   settle(scaled.scaler, "scaled", true);
                 },
                 [&](const ScaleFailed& failed) {
                   ++totals_.failed;
                   settle(failed.scaler, "failed: " + failed.why, false);
                 },
                 [&](const ServiceUnseen&) { ++totals_.unseen; },
                 [](const auto&) {},
             },
             event);
}

std::vector<ScalingRecord> ScalingRecords::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<ScalingRecord> records;
  for (const auto& [id, slot] : slots_)
    if (slot.record.decisions > 0) records.push_back(slot.record);
  std::sort(records.begin(), records.end(), [](const ScalingRecord& a, const ScalingRecord& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  });
  return records;
}

std::vector<ScalingJournalEntry> ScalingRecords::journal(const std::string& name_space,
                                                         const std::string& name, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<ScalingJournalEntry> found;
  for (auto entry = journal_.rbegin(); entry != journal_.rend() && found.size() < limit; ++entry) {
    const bool is_wanted =
        (name_space.empty() || entry->name_space == name_space) && (name.empty() || entry->name == name);
    if (is_wanted) found.push_back(*entry);
  }
  return found;
}

ScalingRecords::Totals ScalingRecords::totals() const {
  const std::lock_guard lock(mutex_);
  Totals totals = totals_;
  totals.scalers = slots_.size();
  return totals;
}

}  // namespace evenkeel::apps

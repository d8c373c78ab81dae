#include "kubernetes/scaling_rivals.h"

namespace evenkeel::kubernetes {
namespace {

std::string name_in(const std::string& key) { return key.substr(key.find('/') + 1); }

void add(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

std::string ScalingRivals::place_of(const std::string& name_space, const ScalerSpec::Target& target) {
  const std::size_t slash = target.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : target.api_version.substr(0, slash);
  return name_space + "\n" + group + "\n" + target.kind + "\n" + target.name;
}

std::vector<std::string> ScalingRivals::concerned(const std::string& place) const {
  std::vector<std::string> keys;
  if (const auto at = places_.find(place); at != places_.end())
    for (const auto& [key, entry] : at->second.scalers) keys.push_back(key);
  return keys;
}

void ScalingRivals::leave(const std::string& place) {
  const auto at = places_.find(place);
  if (at != places_.end() && at->second.hpas.empty() && at->second.scalers.empty()) places_.erase(at);
}

std::vector<std::string> ScalingRivals::set_hpa(const std::string& key, const std::string& name_space,
                                                const ScalerSpec::Target& target) {
  const std::string place = place_of(name_space, target);
  std::vector<std::string> affected;
  if (const auto before = hpas_at_.find(key); before != hpas_at_.end() && before->second != place)
    affected = drop_hpa(key);
  hpas_at_[key] = place;
  places_[place].hpas.insert(key);
  add(affected, concerned(place));
  return affected;
}

std::vector<std::string> ScalingRivals::drop_hpa(const std::string& key) {
  const auto at = hpas_at_.find(key);
  if (at == hpas_at_.end()) return {};
  const std::string place = at->second;
  hpas_at_.erase(at);
  places_[place].hpas.erase(key);
  std::vector<std::string> affected = concerned(place);
  leave(place);
  return affected;
}

std::vector<std::string> ScalingRivals::set_scaler(const WorkloadScaler& scaler) {
  const std::string key = scaler.key(), place = place_of(scaler.spec.name_space, scaler.spec.target);
  std::vector<std::string> affected;
  if (const auto before = scalers_at_.find(key); before != scalers_at_.end() && before->second != place)
    affected = drop_scaler(key);
  scalers_at_[key] = place;
  places_[place].scalers[key] = {{scaler.created, scaler.uid + key},
                                 scaler.spec.mode == ScalerSpec::Mode::automatic};
  add(affected, concerned(place));
  return affected;
}

std::vector<std::string> ScalingRivals::drop_scaler(const std::string& key) {
  const auto at = scalers_at_.find(key);
  if (at == scalers_at_.end()) return {};
  const std::string place = at->second;
  scalers_at_.erase(at);
  places_[place].scalers.erase(key);
  std::vector<std::string> affected = concerned(place);
  leave(place);
  return affected;
}

std::string ScalingRivals::rival_of(const std::string& scaler) const {
  const auto at = scalers_at_.find(scaler);
  if (at == scalers_at_.end()) return "";
  const Shared& shared = places_.at(at->second);
  if (!shared.hpas.empty()) return "HorizontalPodAutoscaler " + name_in(*shared.hpas.begin());
  const Entry& own = shared.scalers.at(scaler);
  for (const auto& [key, entry] : shared.scalers)
    if (key != scaler && entry.acts && entry.age < own.age) return "WorkloadScaler " + name_in(key);
  return "";
}

bool ScalingRivals::has_scaler(const std::string& name_space, const ScalerSpec::Target& target) const {
  const auto at = places_.find(place_of(name_space, target));
  return at != places_.end() && !at->second.scalers.empty();
}

}  // namespace evenkeel::kubernetes

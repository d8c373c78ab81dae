#include "autoscaling/service_past.h"

#include <utility>

namespace evenkeel::autoscaling {

void ServicePast::add(ServiceReport report, const PastOptions& options) {
  const Time newest = report.measured;
  report.replicas = {};
  reports_.push_back(std::move(report));
  const auto at = [&](std::size_t i) { return reports_.begin() + static_cast<std::ptrdiff_t>(i); };

  while (coarse_ < reports_.size() && reports_[coarse_].measured < newest - options.fine) {
    if (coarse_ > 0 && reports_[coarse_].measured - reports_[coarse_ - 1].measured < options.coarse)
      reports_.erase(at(coarse_));
    else
      ++coarse_;
  }
  std::size_t too_old = 0;
  while (too_old < coarse_ && reports_[too_old].measured < newest - options.kept) ++too_old;
  reports_.erase(reports_.begin(), at(too_old));
  coarse_ -= too_old;
}

void ServicePast::add(ScalingDecision decision, const PastOptions& options) {
  const Time newest = decision.at;
  decision.reasons = {};
  decisions_.push_back(std::move(decision));
  std::size_t gone = decisions_.size() > options.decisions ? decisions_.size() - options.decisions : 0;
  while (gone < decisions_.size() && decisions_[gone].at < newest - options.kept) ++gone;
  decisions_.erase(decisions_.begin(), decisions_.begin() + static_cast<std::ptrdiff_t>(gone));
}

}  // namespace evenkeel::autoscaling

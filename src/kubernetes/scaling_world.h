#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/scaling_world.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/cluster_follower.h"
#include "kubernetes/event_recorder.h"
#include "kubernetes/list_watch.h"
#include "kubernetes/scale_targets.h"
#include "kubernetes/scale_writer.h"
#include "kubernetes/scaling_meter.h"
#include "kubernetes/scaling_pods.h"
#include "kubernetes/scaling_rivals.h"
#include "kubernetes/scaling_status.h"
#include "kubernetes/workload_scaler.h"

namespace evenkeel::kubernetes {

// The scaled workloads of a cluster behind an API server: WorkloadScalers, HPAs and pods are followed by LIST
// and WATCH; each workload is looked at once an interval (its scale, its pods, what a meter knows of it);
// scale subresources, statuses and Events are written. Nothing is told before every kind was listed once.
class KubernetesScalingWorld : public ScalingWorld {
 public:
  struct Options {
    bool writes = true;         // false: nothing at all is written, and every mode is Preview
    bool follows_hpas = false;  // HPAs whose target nobody else scales are looked at as if they were our own
    std::string policy;         // who decides, whatever the specs say; empty: as they say
    EventRecorder::Options events{};
    std::uint64_t seed = 0;
    std::size_t most_looks = 16;         // scales that are read at a time
    ClusterFollower* cluster = nullptr;  // is told of pods as well; not owned
  };
  using Log = std::function<void(const std::string&)>;

  KubernetesScalingWorld(ApiConnection& connection, ServiceMeter& meter, Options options, Log log);
  ~KubernetesScalingWorld() override;
  KubernetesScalingWorld(const KubernetesScalingWorld&) = delete;
  KubernetesScalingWorld& operator=(const KubernetesScalingWorld&) = delete;

  void start();
  bool started() const { return started_; }
  bool synced() const { return started_ && synced_ == follows_.size(); }
  void interrupt() { interrupted_ = true; }
  void stop() { stopped_ = true; }
  // Only who leads looks and writes; a standby follows what there is.
  void act_while(std::function<bool()> leads) { leads_ = std::move(leads); }

  std::size_t outstanding() const { return writer_.outstanding() + statuses_under_way_; }
  const EventRecorder& events() const { return events_; }
  const std::vector<std::unique_ptr<ListWatch>>& follows() const { return follows_; }
  std::size_t scalers() const { return by_key_.size(); }
  std::size_t pods() const { return pods_.size(); }
  std::vector<ScalerId> ids() const;
  const WorkloadScaler* scaler(ScalerId id) const;
  std::string rival(ScalerId id) const;      // for which hands are off; empty: nobody
  std::string scaled_by(ScalerId id) const;  // who else scales it, whatever our mode; empty: nobody
  std::uint64_t looks() const { return looks_; }

  Time now() const override { return connection_.now(); }
  std::optional<std::span<const ScalingEvent>> wait_for_events(Time deadline) override;
  void execute(const ScalingAction& action) override;

 private:
  struct Known {
    ScalerId id{};
    std::shared_ptr<const WorkloadScaler> scaler;  // none: the slot is free
    bool is_hpa = false;                           // not ours to write to
    ScalingStatus status{};
    bool is_writing = false;
    std::string rival{}, told_trouble{};
    Time next_look{};
    std::optional<ResourceType> type{};
    std::optional<ScaleReading> scale{};
  };
  // The looks that are due at the same time, on their way.
  struct Round {
    std::vector<ScalingLook> looks;
    std::vector<std::string> unseen;  // why, for each; empty: seen
    std::size_t next = 0, open = 0;
  };

  void follow(const ResourceType& type, std::function<void(const ObjectChange&)> changed);
  void name_leavers(const Known& known, const ScaleWorkload& action, ScaleWriter::Change& change) const;
  void scaler_changed(const ObjectChange& change);
  void hpa_changed(const ObjectChange& change);
  void set(const std::string& key, WorkloadScaler scaler, bool is_hpa, std::string_view json);
  void drop(const std::string& key);
  void drop_hpas_of(const ScalerSpec& spec);
  void tell_rivals(const std::vector<std::string>& keys);
  Known* find(ScalerId id);
  const Known* find(ScalerId id) const;

  void look_when_due();
  void look_at_next(const std::shared_ptr<Round>& round);
  void read_scale_of(const std::shared_ptr<Round>& round, std::size_t i);
  void scale_read(const std::shared_ptr<Round>& round, std::size_t i, const ApiAnswer& answer);
  void looked(const std::shared_ptr<Round>& round, std::size_t i, const std::string& why);
  void fill_in(ScalingLook& look, Known& known);
  void report(const std::shared_ptr<Round>& round);

  void scale(const ScaleWorkload& action);
  void tell(const TellDecision& action);
  void write_status(Known& known);
  void record(const Known& known, bool is_warning, const char* reason, std::string message);

  ApiConnection& connection_;
  ServiceMeter& meter_;
  Options options_;
  Log log_;
  std::function<bool()> leads_ = [] { return true; };
  EventRecorder events_;
  ScaleTargets targets_;
  ScaleWriter writer_;
  ScalingPods pods_;
  ScalingRivals rivals_;
  std::vector<Known> known_;                     // by slot
  std::map<std::string, std::uint32_t> by_key_;  // namespace/name; of HPAs with "hpa:" in front
  std::vector<std::uint32_t> free_;
  std::vector<std::unique_ptr<ListWatch>> follows_;
  std::size_t synced_ = 0;
  bool started_ = false, stopped_ = false, interrupted_ = false;
  std::shared_ptr<Round> round_;  // under way
  ApiConnection::TimerId timer_ = 0;
  std::vector<ScalingEvent> gathered_, lent_;
  std::size_t statuses_under_way_ = 0;
  std::uint64_t looks_ = 0;
  // Answers that come after the end find it expired.
  std::shared_ptr<KubernetesScalingWorld*> alive_ = std::make_shared<KubernetesScalingWorld*>(this);
};

}  // namespace evenkeel::kubernetes

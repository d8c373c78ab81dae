#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/lease.h"

namespace evenkeel::kubernetes {

// Keeps trying to hold a Lease, over a connection. Whoever acts asks leads() before each act: it turns false
// by itself when renewing did not succeed in time.
class LeaderElector {
 public:
  struct Options {
    Lease::Options lease;
    std::string name_space = "kube-system", name = "evenkeel";
    std::uint64_t seed = 0;  // spreads tries
  };
  using Log = std::function<void(const std::string&)>;

  LeaderElector(ApiConnection& connection, Options options, Log log);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void start() { attempt(); }
  void on_change(std::function<void()> changed) {
    changed_ = std::move(changed);
  }  // who leads, or that one knows
  // How long those who do not lead wait from one try to the next; without it the lease's own period, spread.
  void pace_with(std::function<Duration()> pace) { pace_ = std::move(pace); }
  // Asks for the pace anew: something was heard that may have changed it.
  void repace();
  // A try now, unless one is under way.
  void hurry();
  // This holder is proven not to live any more: what it holds is free. A try now.
  void claim_from(const std::string& holder);
  // Lets go of it, so that another can take over at once; tries no more. `done` once that is over.
  void release(std::function<void()> done);

  bool leads() const { return !is_released_ && lease_.leads(connection_.steady_now()); }
  // How much longer at least, if nothing more is heard; nothing where it does not lead.
  Duration leads_for() const {
    return leads() ? lease_.leads_until() - connection_.steady_now() : Duration::zero();
  }
  bool knows() const { return knows_; }  // a first try has ended, one way or the other
  const std::string& holder() const { return lease_.holder(); }
  std::uint64_t terms() const { return terms_; }  // how often it was won
  std::int32_t transitions() const { return lease_.transitions(); }

 private:
  void attempt();
  void ask(Lease::Ask what);
  void send(ApiRequest request, std::function<void(const ApiAnswer&)> handle);
  void wrote(const ApiAnswer& answer);
  void rest();

  ApiConnection& connection_;
  Options options_;
  Log log_;
  Lease lease_;
  Random random_;
  bool knows_ = false, is_released_ = false, is_trying_ = false, was_leading_ = false;
  std::uint64_t terms_ = 0;
  std::string told_holder_;
  ApiConnection::TimerId timer_ = 0;
  std::function<void()> after_try_, changed_ = [] {};
  std::function<Duration()> pace_;
  // Answers that come after the end find it expired.
  std::shared_ptr<LeaderElector*> alive_ = std::make_shared<LeaderElector*>(this);
};

}  // namespace evenkeel::kubernetes

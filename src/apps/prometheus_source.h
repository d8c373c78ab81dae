#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/polled_source.h"

namespace evenkeel::apps {

// The six metrics out of Prometheus: of nodes from node-exporter, of pods from the kubelets' cAdvisor where
// that is scraped. docs/usage.md shows the queries.
//
// A sample is as old as its scrape (timestamp()), by Prometheus' own clock: what it goes on telling of a
// target that it cannot reach any more is not taken for news.
class PrometheusQuestions final : public MetricsQuestions {
 public:
  struct Options {
    std::string prefix;                         // in front of /api/v1/query: a path of the server
    Duration window = std::chrono::minutes(1);  // of the rates: at least two scrapes
    std::string selector;                       // of node-exporter's series: job="node-exporter"
  };
  explicit PrometheusQuestions(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "prometheus"; }
  void ask(kubernetes::ApiConnection& connection, Duration within, Done done) override;

  // What is asked, by what it is asked for.
  enum class About : std::size_t { stamp, network_speed, node, pod };
  struct Query {
    About about;
    Dimension dimension;  // of node and pod
    std::string text;
  };
  std::vector<Query> queries() const;

 private:
  struct Round;
  void answered(const std::shared_ptr<Round>& round, std::size_t query, const kubernetes::ApiAnswer& answer);
  void finish(Round& round);

  Options options_;
  std::map<std::string, double> last_stamps_;  // of the nodes, by Prometheus' clock
};

// One element of an instant vector.
struct PrometheusSample {
  std::map<std::string, std::string> labels;
  double at = 0;  // when it was evaluated, seconds by Prometheus' clock
  double value = 0;
};
Result<std::vector<PrometheusSample>> read_instant_vector(std::string_view json);

// Which node a series is about: the label `node`, `nodename` or `kubernetes_node`, else the host of
// `instance`, which is a node's name or one of its addresses.
std::string node_of_series(const std::map<std::string, std::string>& labels);

}  // namespace evenkeel::apps

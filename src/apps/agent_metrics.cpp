#include "apps/agent_metrics.h"

#include "base/numbers.h"

namespace evenkeel::apps {
namespace {

class Text {
 public:
  void counter(const char* name, const char* about, double value) { line(name, "counter", about, value); }
  void gauge(const char* name, const char* about, double value) { line(name, "gauge", about, value); }
  std::string take() { return std::move(text_); }

 private:
  void line(const char* name, const char* kind, const char* about, double value) {
    char buffer[32];
    text_ +=
        std::string("# HELP ") + name + " " + about + "\n# TYPE " + name + " " + kind + "\n" + name + " ";
    text_ += format_number(value, buffer);
    text_ += '\n';
  }
  std::string text_;
};

double number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

std::string agent_metrics(const LiveAgent& agent, const messaging::AgentTransport::Counts& traffic) {
  const LiveAgent::Figures& figures = agent.figures();
  const agents::BidDesk::Figures desk = agent.desk().figures();
  Text text;
  text.gauge("evenkeel_agent_leading", "1: this agent leads.", agent.leading() ? 1 : 0);
  text.gauge("evenkeel_agent_deputy", "1: it stands ready to lead.", agent.is_deputy() ? 1 : 0);
  text.gauge("evenkeel_agent_term", "Term of the leader it knows; 0: none.", agent.term());
  text.gauge("evenkeel_agent_line_open", "1: there is a line to the leader.", agent.has_line() ? 1 : 0);
  text.counter("evenkeel_agent_terms_led_total", "Terms it has led.", number(figures.terms_led));
  text.counter("evenkeel_agent_claims_total", "Leases taken from a holder proven dead.",
               number(figures.claims));
  text.counter("evenkeel_agent_beats_heard_total", "Heartbeats heard.", number(figures.beats_heard));
  text.counter("evenkeel_agent_bids_total", "Bids it has made.", number(figures.bids_sent));
  text.counter("evenkeel_agent_old_terms_total", "Messages of leaders that were none any more.",
               number(figures.old_terms));
  text.counter("evenkeel_agent_sent_bytes_total", "Sent to other agents, encryption aside.",
               number(traffic.bytes_sent));
  text.counter("evenkeel_agent_received_bytes_total", "Received from other agents, encryption aside.",
               number(traffic.bytes_received));
  text.counter("evenkeel_agent_messages_sent_total", "Messages to other agents.",
               number(traffic.messages_sent));
  text.counter(
      "evenkeel_agent_refused_total", "Peers refused: no certificate, another node, no message.",
      number(traffic.refused_unauthenticated + traffic.refused_wrong_node + traffic.refused_malformed));
  text.counter("evenkeel_agent_watch_events_total", "Changes the API server told of.",
               number(agent.node_world().counts().events));
  text.gauge("evenkeel_agents", "Agents that have joined this leader.",
             agent.leading() ? number(desk.agents) : 0);
  text.counter("evenkeel_agents_questions_total", "Questions about pods, as leader.", number(desk.questions));
  text.counter("evenkeel_agents_bids_total", "Bids heard, as leader.", number(desk.bids));
  text.counter("evenkeel_agents_bids_out_of_date_total", "Bids made before their agent's last award.",
               number(desk.out_of_date));
  text.counter("evenkeel_agents_rounds_all_total", "Decided when all had answered.", number(desk.by_all));
  text.counter("evenkeel_agents_rounds_quorum_total", "Decided by a quorum.", number(desk.by_quorum));
  text.counter("evenkeel_agents_rounds_deadline_total", "Decided at the deadline.", number(desk.by_deadline));
  text.counter("evenkeel_agents_rounds_nobody_total", "Left to the rule.", number(desk.by_nobody));
  text.counter("evenkeel_agents_gather_seconds_total", "From question to decision, all rounds together.",
               desk.gather_ms_sum / 1000);
  return text.take();
}

}  // namespace evenkeel::apps

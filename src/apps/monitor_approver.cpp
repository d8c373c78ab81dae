// `evenkeel approver`: says yes to the certificate requests of monitors about the nodes they run on.
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/command.h"
#include "apps/log.h"
#include "apps/monitor_verdict.h"
#include "base/file.h"
#include "base/unit_text.h"
#include "kubernetes/client_api.h"
#include "kubernetes/kubeconfig.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

struct Arguments {
  std::string kubeconfig, context, every = "2s";
  ApproverPolicy policy;
  bool once = false;
};

int fail(const Error& error) {
  std::cerr << "evenkeel approver: " << error.message << '\n';
  return error.kind == Error::Kind::unavailable ? kFailed : kBadInput;
}

// One pass over all requests; the answer of one that could not be written is tried again with the next pass.
Status settle_requests(kubernetes::ApiClient& client, const ApproverPolicy& policy) {
  kubernetes::ApiRequest list;
  list.path = std::string(kPath) + "?fieldSelector=spec.signerName%3D" + policy.signer;
  const kubernetes::ApiAnswer listed = client.call_now(list);
  if (!listed.ok()) return listed.error();
  const Json json = Json::parse(listed.body, nullptr, false);
  if (!json.is_object() || !json.contains("items") || !json["items"].is_array())
    return invalid("expected a list of CertificateSigningRequests");
  for (const Json& item : json["items"]) {
    const std::string text = item.dump();
    const auto request = read_signing_request(text);
    if (!request) continue;  // nobody's way of asking for a monitor's certificate
    const Verdict verdict = judge(*request, policy);
    if (verdict.kind == Verdict::Kind::not_ours) continue;
    const auto body = with_verdict(text, verdict);
    if (!body) return body.error();
    kubernetes::ApiRequest write;
    write.method = "PUT";
    write.path = std::string(kPath) + "/" + request->name + "/approval";
    write.content_type = "application/json";
    write.body = *body;
    const kubernetes::ApiAnswer written = client.call_now(write);
    const char* what = verdict.kind == Verdict::Kind::approve ? "approved " : "denied ";
    if (written.ok())
      log_line(what + request->name + ": " + verdict.why);
    else if (written.code != 409 && written.code != 404)  // somebody else was quicker
      log_line(request->name + " could not be " + what + ": " + written.error().message);
  }
  return {};
}

volatile std::sig_atomic_t told_to_stop = 0;

int run(const Arguments& arguments) {
  const auto every = parse_duration(arguments.every);
  if (!every || *every < 100ms) return fail(invalid("--every: expected 100ms or more"));
  const auto access = kubernetes::find_access({arguments.kubeconfig, arguments.context},
                                              kubernetes::kubernetes_environment(), read_file);
  if (!access) return fail(access.error());
  kubernetes::EventLoop loop;
  kubernetes::ApiClient::Options options;
  options.user_agent = "evenkeel-approver";
  options.max_connections = 1;
  const auto client = kubernetes::ApiClient::open(loop, *access, read_file, options);
  if (!client) return fail(client.error());
  if (arguments.once) {
    const Status settled = settle_requests(**client, arguments.policy);
    return settled ? kDone : fail(settled.error());
  }
  for (const int number : {SIGTERM, SIGINT}) (void)std::signal(number, [](int) { told_to_stop = 1; });
  log_line("approving what " + arguments.policy.account + " asks " + arguments.policy.signer +
           " for, about its own node");
  std::string last_trouble;
  while (told_to_stop == 0) {
    const Status settled = settle_requests(**client, arguments.policy);
    const std::string trouble = settled ? "" : settled.error().message;
    if (!trouble.empty() && trouble != last_trouble) log_line("requests cannot be read: " + trouble);
    last_trouble = trouble;
    for (Duration left = *every; left > Duration::zero() && told_to_stop == 0; left -= 100ms)
      (void)loop.run_for(std::min<Duration>(left, 100ms), [] { return told_to_stop != 0; });
  }
  log_line("told to stop");
  return kDone;
}

}  // namespace

void add_approver(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "approver",
      "Approve the certificate requests of monitors, probes and agents about the nodes they run on");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--kubeconfig", arguments->kubeconfig,
                      "How to reach the cluster ($KUBECONFIG, ~/.kube/config, or the pod's own account)");
  command->add_option("--context", arguments->context, "Of the kubeconfig (its current one)");
  command->add_option("--account", arguments->policy.account,
                      "Who may ask (system:serviceaccount:evenkeel-monitor:evenkeel-monitor)");
  command->add_option("--netprobe-account", arguments->policy.netprobe_account,
                      "Likewise for network probes\n"
                      "(system:serviceaccount:evenkeel-netprobe:evenkeel-netprobe)");
  command->add_option("--agent-account", arguments->policy.agent_account,
                      "Likewise for scheduling agents (system:serviceaccount:kube-system:evenkeel-agent)");
  command->add_option("--signer", arguments->policy.signer,
                      "Whose requests (kubernetes.io/kube-apiserver-client)");
  command->add_option("--every", arguments->every, "From one look to the next (2s)");
  command->add_flag("--once", arguments->once, "Look once and end");
  command->footer("Example:\n  evenkeel approver --once --kubeconfig admin.conf");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace evenkeel::apps

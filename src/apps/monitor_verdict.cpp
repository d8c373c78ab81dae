#include "apps/monitor_verdict.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/monitor_identity.h"
#include "kubernetes/base64.h"
#include "messaging/certificate.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::json;

constexpr const char* kNodeOfToken = "authentication.kubernetes.io/node-name";

std::string text_at(const Json& json, const char* path) {
  const Json::json_pointer pointer(path);
  return json.contains(pointer) && json.at(pointer).is_string() ? json.at(pointer).get<std::string>() : "";
}

std::vector<std::string> texts_in(const Json& json) {
  std::vector<std::string> texts;
  if (!json.is_array()) return texts;
  for (const Json& one : json) texts.push_back(one.is_string() ? one.get<std::string>() : "");
  return texts;
}

bool is_clients(const std::vector<std::string>& usages) {
  static constexpr std::string_view kAllowed[] = {"digital signature", "key encipherment", "client auth"};
  return std::ranges::find(usages, "client auth") != usages.end() &&
         std::ranges::all_of(usages, [](const std::string& usage) {
           return std::ranges::find(kAllowed, usage) != std::end(kAllowed);
         });
}

// Those of one kind, and who asks for them.
struct Agents {
  std::string role, account;
};

// Why not; empty: nothing is wrong with it.
std::string fault_of(const SigningRequest& request, const messaging::RequestFacts& facts,
                     const Agents& agents) {
  if (request.username != agents.account)
    return "asked for by " + request.username + ", and " + agents.role + "s run as " + agents.account;
  const auto bound = request.extra.find(kNodeOfToken);
  if (bound == request.extra.end() || bound->second.size() != 1 || bound->second.front().empty())
    return "asked for with a token that is bound to no pod on a node";
  const std::string& node = bound->second.front();
  if (facts.common_names != std::vector{agent_name(agents.role, node)})
    return "asked for from node " + node + ", about " + facts.common_names.front();
  if (facts.organizations != std::vector{agents_group(agents.role)} || facts.names_more)
    return "expected no other group than " + agents_group(agents.role) + " in the subject";
  if (facts.wants_extensions) return "expected no other names and no extensions";
  if (!is_clients(request.usages)) return "expected usages of a client";
  if (!facts.is_signed) return "not signed by the key it is about";
  return "";
}

}  // namespace

Result<SigningRequest> read_signing_request(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("expected a CertificateSigningRequest");
  SigningRequest request;
  request.name = text_at(json, "/metadata/name");
  request.signer = text_at(json, "/spec/signerName");
  request.username = text_at(json, "/spec/username");
  const Json spec = json.value("spec", Json::object());
  if (!spec.is_object()) return invalid("spec: expected an object");
  if (const auto extra = spec.find("extra"); extra != spec.end() && extra->is_object())
    for (const auto& [key, values] : extra->items()) request.extra[key] = texts_in(values);
  if (const auto usages = spec.find("usages"); usages != spec.end()) request.usages = texts_in(*usages);
  auto pem = kubernetes::decode_base64(text_at(json, "/spec/request"));
  if (!pem) return invalid("spec.request: expected base64");
  request.request_pem = *std::move(pem);
  const Json::json_pointer conditions("/status/conditions"), certificate("/status/certificate");
  request.is_settled = (json.contains(conditions) && !json.at(conditions).empty()) ||
                       !text_at(json, "/status/certificate").empty();
  return request;
}

Verdict judge(const SigningRequest& request, const ApproverPolicy& policy) {
  if (request.is_settled || request.signer != policy.signer) return {};
  const auto facts = messaging::read_certificate_request(request.request_pem);
  if (!facts) return {};
  const Agents known[] = {{.role = "monitor", .account = policy.account},
                          {.role = "netprobe", .account = policy.netprobe_account},
                          {.role = "agent", .account = policy.agent_account}};
  const auto* const meant = std::ranges::find_if(known, [&](const Agents& agents) {
    return std::ranges::any_of(facts->common_names, [&](const std::string& name) {
      return name.starts_with(agent_name(agents.role, ""));
    });
  });
  if (meant == std::end(known)) return {};
  std::string fault = fault_of(request, *facts, *meant);
  if (!fault.empty()) return {.kind = Verdict::Kind::deny, .why = std::move(fault)};
  return {.kind = Verdict::Kind::approve, .why = "asked for from the node it names"};
}

Result<std::string> with_verdict(std::string_view text, const Verdict& verdict) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("expected a CertificateSigningRequest");
  json["apiVersion"] = "certificates.k8s.io/v1";
  json["kind"] = "CertificateSigningRequest";
  const bool is_approved = verdict.kind == Verdict::Kind::approve;
  json["status"]["conditions"].push_back({{"type", is_approved ? "Approved" : "Denied"},
                                          {"status", "True"},
                                          {"reason", is_approved ? "EvenkeelMonitor" : "EvenkeelRefused"},
                                          {"message", verdict.why}});
  return json.dump();
}

}  // namespace evenkeel::apps

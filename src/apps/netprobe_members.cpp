#include "apps/netprobe_members.h"

#include <nlohmann/json.hpp>

#include "cluster/app_group.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::json;

std::string text_at(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& at(const Json& json, const char* key) {
  static const Json nothing;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : nothing;
}

}  // namespace

Result<ProbeNode> read_probe_node(std::string_view text, const std::string& port) {
  const Json json = Json::parse(text, nullptr, false);
  ProbeNode node;
  node.member.node = text_at(at(json, "metadata"), "name");
  if (node.member.node.empty()) return invalid("expected a Node with a name");
  const Json& labels = at(at(json, "metadata"), "labels");
  node.member.region = text_at(labels, std::string(kRegionLabel).c_str());
  node.member.zone = text_at(labels, std::string(kZoneLabel).c_str());
  const Json& status = at(json, "status");
  for (const Json& address : at(status, "addresses"))
    if (text_at(address, "type") == "InternalIP" && node.to.host.empty())
      node.to = {.host = text_at(address, "address"), .port = port};
  bool is_ready = false;
  for (const Json& condition : at(status, "conditions"))
    if (text_at(condition, "type") == "Ready") is_ready = text_at(condition, "status") == "True";
  node.is_ready = is_ready && !node.to.host.empty();
  node.bandwidth = text_at(at(status, "allocatable"), std::string(kBandwidthResource).c_str());
  return node;
}

Result<std::vector<ProbeNode>> parse_peers(const std::vector<std::string>& texts) {
  std::vector<ProbeNode> nodes;
  for (const std::string& text : texts) {
    const std::size_t name_end = text.find('='), zone = text.find('@');
    if (name_end == std::string::npos || name_end == 0)
      return invalid("--peers " + text + ": expected NAME=HOST:PORT or NAME=HOST:PORT@ZONE");
    const std::size_t begin = name_end + 1;
    auto to = messaging::parse_host_port(text.substr(begin, zone == std::string::npos ? zone : zone - begin));
    if (!to) return invalid("--peers " + text + ": " + to.error().message);
    nodes.push_back({.member = {.node = text.substr(0, name_end),
                                .region = "",
                                .zone = zone == std::string::npos ? "" : text.substr(zone + 1)},
                     .to = *std::move(to),
                     .is_ready = true});
  }
  return nodes;
}

std::vector<monitor::ProbeMember> ready_members(const std::vector<ProbeNode>& nodes) {
  std::vector<monitor::ProbeMember> members;
  for (const ProbeNode& node : nodes)
    if (node.is_ready) members.push_back(node.member);
  return members;
}

}  // namespace evenkeel::apps

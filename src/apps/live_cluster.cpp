#include "apps/live_cluster.h"

#include "base/file.h"
#include "kubernetes/client_api.h"
#include "kubernetes/http_url.h"
#include "kubernetes/read_object.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::apps {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiClient;
using kubernetes::ApiConnection;
using kubernetes::ApiObject;
using kubernetes::ApiRequest;
using kubernetes::ResourceType;

constexpr int kPageSize = 500;
constexpr int kGone = 410, kNotFound = 404;

// What nodes use, where a metrics server says so; the API answers 503 where there should be one and is not.
ResourceType node_metrics() { return {"metrics.k8s.io/v1beta1", "NodeMetrics", "nodes", false}; }

std::vector<ResourceType> kinds() {
  namespace types = kubernetes::types;
  return {types::nodes(),
          types::pods(),
          types::namespaces(),
          types::services(),
          types::replication_controllers(),
          types::replica_sets(),
          types::stateful_sets(),
          types::persistent_volumes(),
          types::persistent_volume_claims(),
          types::storage_classes(),
          types::csi_nodes(),
          types::csi_drivers(),
          types::csi_storage_capacities(),
          types::volume_attachments(),
          types::pod_disruption_budgets(),
          types::priority_classes(),
          types::app_groups(),
          types::network_topologies(),
          node_metrics()};
}

void read_items(const kubernetes::ListPage& page, const ResourceType& type, ListedCluster& into) {
  for (const std::string& what : page.damaged) into.left_out.push_back(type.kind + ": " + what);
  for (const kubernetes::WireObject& item : page.items) {
    const std::string name = type.kind + " " + item.identity.key();
    const Result<kubernetes::JsonDocument> document = kubernetes::JsonDocument::parse(item.json, name);
    if (!document) {
      into.left_out.push_back(document.error().message);
      continue;
    }
    Result<std::optional<ApiObject>> object =
        kubernetes::read_object(document->root(), type.kind, type.api_version);
    if (!object) {
      into.left_out.push_back(object.error().message);
    } else if (*object) {
      into.objects.push_back(**std::move(object));
    }
  }
}

// Page by page; a list that has grown too old between two pages is asked for again, whole.
Status list_kind(ApiConnection& server, const ResourceType& type, ListedCluster& into) {
  const std::size_t before = into.objects.size();
  std::string token;
  bool in_pages = true;
  for (;;) {
    ApiRequest request;
    request.accept = type.best_format();
    request.waits_its_turn = type.kind != node_metrics().kind;
    request.path = type.collection() + "?limit=" + std::to_string(in_pages ? kPageSize : 0);
    if (!token.empty()) request.path += "&continue=" + kubernetes::percent_encoded(token);
    const ApiAnswer answer = server.call_now(std::move(request));
    if (answer.code == kGone && !token.empty()) {
      into.objects.erase(into.objects.begin() + static_cast<std::ptrdiff_t>(before), into.objects.end());
      token.clear();
      in_pages = false;
      continue;
    }
    if (!answer.ok()) return answer.error();
    const Result<kubernetes::ListPage> page =
        kubernetes::read_list(answer.format, answer.body, type.api_version, type.kind);
    if (!page) return page.error();
    read_items(*page, type, into);
    token = page->continue_token;
    if (token.empty()) return {};
  }
}

Result<std::unique_ptr<ApiClient>> open(kubernetes::EventLoop& loop,
                                        const kubernetes::ClusterAccess& access) {
  ApiClient::Options options;
  options.max_tries = 3;  // somebody sits and waits
  return ApiClient::open(loop, access, read_file, options);
}

}  // namespace

Result<ListedCluster> list_cluster(ApiConnection& server) {
  ListedCluster listed;
  for (const ResourceType& type : kinds()) {
    const Status done = list_kind(server, type, listed);
    if (done) continue;
    const std::string trouble = "listing " + type.plural + ": " + done.error().message;
    // Without them there is no question, and a server that does not answer will not answer the next one.
    const bool is_needed = type.kind == "Node" || type.kind == "Pod";
    const bool is_silent = done.error().kind == Error::Kind::unavailable && type.kind != node_metrics().kind;
    if (is_needed || is_silent) return Error{done.error().kind, trouble};
    if (done.error().kind != Error::Kind::not_found) listed.left_out.push_back(trouble);
  }
  return listed;
}

Result<LiveCluster> load_live_cluster(const ClusterChoice& choice) {
  const Result<kubernetes::ClusterAccess> access = kubernetes::find_access(
      {choice.kubeconfig, choice.context}, kubernetes::kubernetes_environment(), read_file);
  if (!access) return access.error();
  kubernetes::EventLoop loop;
  const Result<std::unique_ptr<ApiClient>> client = open(loop, *access);
  if (!client) return client.error();
  Result<ListedCluster> listed = list_cluster(**client);
  if (!listed) return Error{listed.error().kind, access->server + ": " + listed.error().message};
  Result<OfflineCluster> cluster = OfflineCluster::build(std::move(listed->objects), access->server);
  if (!cluster) return cluster.error();
  return LiveCluster{*std::move(cluster), access->default_namespace, std::move(listed->left_out)};
}

Result<std::string> ask_decisions(const std::string& url, const std::string& token_file,
                                  const std::string& pod) {
  return ask_scheduler(url, token_file, "/decisions?limit=3&pod=" + kubernetes::percent_encoded(pod));
}

Result<std::string> ask_scheduler(const std::string& url, const std::string& token_file,
                                  const std::string& path) {
  kubernetes::ClusterAccess access;
  access.server = url;
  access.token_file = token_file;
  kubernetes::EventLoop loop;
  const Result<std::unique_ptr<ApiClient>> client = open(loop, access);
  if (!client) return Error{client.error().kind, "--server: " + client.error().message};
  ApiRequest request;
  request.path = path;
  request.timeout = std::chrono::seconds(10);
  const ApiAnswer answer = (*client)->call_now(std::move(request));
  if (answer.code == kNotFound) return not_found(url + " has nothing at " + path.substr(0, path.find('?')));
  if (!answer.ok()) return Error{answer.error().kind, url + ": " + answer.error().message};
  return answer.body;
}

}  // namespace evenkeel::apps

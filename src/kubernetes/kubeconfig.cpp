#include "kubernetes/kubeconfig.h"

#include <cstdlib>
#include <optional>

#include "base/spelling.h"
#include "base/yaml_file.h"
#include "kubernetes/base64.h"
#include "kubernetes/http_url.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

// A named entry of `clusters`, `users` or `contexts`, and the file it stands in.
struct Entry {
  const YamlFile* file = nullptr;
  const YamlNode* node = nullptr;  // the map behind `cluster:`, `user:` or `context:`
  std::string path;                // "users.admin", for messages

  Error error(std::string_view field, const std::string& message) const {
    const YamlNode* at = node->child(field);
    return invalid(file->name() + ":" + std::to_string((at != nullptr ? at : node)->line) + ": " + path +
                   (field.empty() ? "" : "." + std::string(field)) + ": " + message);
  }
  bool has(std::string_view field) const {
    const YamlNode* found = node->child(field);
    return found != nullptr && found->kind != YamlNode::Kind::null;
  }
  std::string text(std::string_view field) const {
    const YamlNode* found = node->child(field);
    return found != nullptr && found->kind == YamlNode::Kind::scalar ? found->text : std::string();
  }
};

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string value_or(const Environment& environment, const std::string& name, const std::string& fallback) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.empty() ? fallback : found->second;
}

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const auto colon = list.find(':');
    if (colon != 0) paths.emplace_back(list.substr(0, colon));
    list.remove_prefix(colon == std::string_view::npos ? list.size() : colon + 1);
  }
  return paths;
}

class Kubeconfig {
 public:
  static Result<Kubeconfig> open(const KubeconfigRequest& request, const Environment& environment,
                                 const FileReader& read) {
    Kubeconfig config;
    const bool is_named = !request.path.empty();
    const std::string standard = value_or(environment, "HOME", "") + "/.kube/config";
    const auto paths =
        is_named ? std::vector{request.path} : split_paths(value_or(environment, "KUBECONFIG", standard));
    std::string missing;
    for (const std::string& path : paths) {
      const auto text = read(path);
      if (!text && text.error().kind == Error::Kind::not_found && !is_named) {
        missing += (missing.empty() ? "" : ", ") + path;  // $KUBECONFIG may name files yet to come
        continue;
      }
      if (!text) return text.error();
      auto file = YamlFile::parse(*text, path);
      if (!file) return file.error();
      if (file->root().kind != YamlNode::Kind::map) return invalid(path + ":1: expected a kubeconfig");
      config.files_.push_back(*std::move(file));
    }
    if (config.files_.empty()) return not_found("no kubeconfig: looked for " + missing);
    return config;
  }

  std::string current_context() const {
    for (const YamlFile& file : files_) {
      const YamlNode* current = file.root().child("current-context");
      if (current != nullptr && !current->text.empty()) return current->text;
    }
    return {};
  }

  Result<Entry> find(std::string_view list, std::string_view inner, const std::string& name) const {
    std::vector<std::string> names;
    for (const YamlFile& file : files_) {
      const YamlNode* entries = file.root().child(list);
      if (entries == nullptr || entries->kind != YamlNode::Kind::list) continue;
      for (const YamlNode& entry : entries->items) {
        const YamlNode* label = entry.kind == YamlNode::Kind::map ? entry.child("name") : nullptr;
        if (label == nullptr) continue;
        if (label->text != name) {
          names.push_back(label->text);
          continue;
        }
        const YamlNode* content = entry.child(inner);
        if (content == nullptr || content->kind != YamlNode::Kind::map) {
          return invalid(file.name() + ":" + std::to_string(entry.line) + ": " + std::string(list) + "." +
                         name + ": expected a map under '" + std::string(inner) + "'");
        }
        return Entry{&file, content, std::string(list) + "." + name};
      }
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    return invalid(files_.front().name() + ": " + std::string(list) + ": there is no '" + name + "'" +
                   (views.empty() ? "" : "; there are " + joined(views)));
  }

  const std::string& name() const { return files_.front().name(); }

 private:
  std::vector<YamlFile> files_;
};

// `field`-data holds the PEM in base64, `field` names a file beside the kubeconfig.
Result<std::string> pem_of(const Entry& entry, const std::string& field, const FileReader& read) {
  if (const std::string data = entry.text(field + "-data"); !data.empty()) {
    auto decoded = decode_base64(data);
    if (!decoded) return entry.error(field + "-data", "expected base64");
    if (decoded->find("-----BEGIN") == std::string::npos) {
      return entry.error(field + "-data", "expected PEM in base64, found something else");
    }
    return *std::move(decoded);
  }
  const std::string path = entry.text(field);
  if (path.empty()) return std::string();
  auto pem = read(path.front() == '/' ? path : directory_of(entry.file->name()) + path);
  if (!pem) return entry.error(field, pem.error().message);
  return *std::move(pem);
}

std::optional<Error> refuse_cluster(const Entry& cluster) {
  if (cluster.text("insecure-skip-tls-verify") == "true") {
    return cluster.error("insecure-skip-tls-verify",
                         "not supported: servers are always verified; give certificate-authority, or "
                         "tls-server-name where the certificate carries another name");
  }
  if (cluster.has("proxy-url")) return cluster.error("proxy-url", "proxies are not supported");
  return std::nullopt;
}

std::optional<Error> refuse_user(const Entry& user) {
  if (user.has("exec")) {
    const YamlNode* command = user.node->child("exec")->child("command");
    return user.error("exec",
                      "credential plugins are not supported (" +
                          (command != nullptr ? "'" + command->text + "'" : std::string("no command")) +
                          "); use a token, a client certificate or a service account "
                          "(kubectl create token)");
  }
  if (user.has("auth-provider")) {
    return user.error("auth-provider",
                      "not supported, and removed from Kubernetes in 1.26; use a token or a "
                      "client certificate");
  }
  if (user.has("username") || user.has("password")) {
    return user.error(user.has("username") ? "username" : "password",
                      "passwords are not supported, nor by API servers since 1.19; use a token or a client "
                      "certificate");
  }
  for (const std::string_view field : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.has(field)) return user.error(field, "acting as somebody else is not supported");
  }
  return std::nullopt;
}

std::string pem_or_error(const Entry& entry, const char* field, const FileReader& read,
                         std::optional<Error>& first) {
  auto pem = pem_of(entry, field, read);
  if (!pem && !first) first = pem.error();
  return pem ? *std::move(pem) : std::string();
}

}  // namespace

Result<ClusterAccess> access_from_kubeconfig(const KubeconfigRequest& request, const Environment& environment,
                                             const FileReader& read) {
  const auto config = Kubeconfig::open(request, environment, read);
  if (!config) return config.error();
  const std::string name = request.context.empty() ? config->current_context() : request.context;
  if (name.empty()) return invalid(config->name() + ": current-context is not set; name one with --context");
  const auto context = config->find("contexts", "context", name);
  if (!context) return context.error();
  const auto cluster = config->find("clusters", "cluster", context->text("cluster"));
  if (!cluster) return cluster.error();
  if (auto refusal = refuse_cluster(*cluster)) return *refusal;

  ClusterAccess access;
  access.server = cluster->text("server");
  if (access.server.empty()) return cluster->error("", "server is missing");
  if (const auto url = parse_url(access.server); !url) return cluster->error("server", url.error().message);
  access.tls_server_name = cluster->text("tls-server-name");
  if (const std::string name_space = context->text("namespace"); !name_space.empty()) {
    access.default_namespace = name_space;
  }
  std::optional<Error> first;
  access.ca_pem = pem_or_error(*cluster, "certificate-authority", read, first);

  if (const std::string user_name = context->text("user"); !user_name.empty()) {
    const auto user = config->find("users", "user", user_name);
    if (!user) return user.error();
    if (auto refusal = refuse_user(*user)) return *refusal;
    access.client_certificate_pem = pem_or_error(*user, "client-certificate", read, first);
    access.client_key_pem = pem_or_error(*user, "client-key", read, first);
    access.token = user->text("token");
    access.token_file = user->text("tokenFile");
    if (!access.token_file.empty() && access.token_file.front() != '/') {
      access.token_file = directory_of(user->file->name()) + access.token_file;
    }
    if (access.client_certificate_pem.empty() != access.client_key_pem.empty() && !first) {
      first = user->error("", "a client certificate and its key belong together; one of them is missing");
    }
  }
  if (first) return *first;
  return access;
}

Result<ClusterAccess> access_from_pod(const Environment& environment, const FileReader& read) {
  const std::string host = value_or(environment, "KUBERNETES_SERVICE_HOST", "");
  const std::string port = value_or(environment, "KUBERNETES_SERVICE_PORT", "443");
  if (host.empty()) return not_found("not inside a pod: KUBERNETES_SERVICE_HOST is not set");
  ClusterAccess access;
  access.server = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  access.token_file = std::string(kServiceAccount) + "token";
  auto ca = read(std::string(kServiceAccount) + "ca.crt");
  if (!ca) return ca.error();
  access.ca_pem = *std::move(ca);
  auto name_space = read(std::string(kServiceAccount) + "namespace");
  if (name_space && !name_space->empty()) access.default_namespace = *std::move(name_space);
  return access;
}

Result<ClusterAccess> find_access(const KubeconfigRequest& request, const Environment& environment,
                                  const FileReader& read) {
  auto access = access_from_kubeconfig(request, environment, read);
  const bool may_be_pod = !access && access.error().kind == Error::Kind::not_found && request.path.empty();
  if (!may_be_pod) return access;
  auto in_pod = access_from_pod(environment, read);
  if (in_pod || in_pod.error().kind != Error::Kind::not_found) return in_pod;
  return not_found(access.error().message + "; " + in_pod.error().message);
}

Environment kubernetes_environment() {
  Environment environment;
  for (const char* name : {"KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return environment;
}

}  // namespace evenkeel::kubernetes

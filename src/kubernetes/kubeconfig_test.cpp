#include "kubernetes/kubeconfig.h"

#include <gtest/gtest.h>

#include <map>

namespace evenkeel::kubernetes {
namespace {

constexpr const char* kPem64 = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";  // -----BEGIN CERTIFICATE-----
constexpr const char* kPem = "-----BEGIN CERTIFICATE-----\n";

std::string config_with(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
         "contexts: [{name: lab, context: {cluster: c, user: u, namespace: team}}]\n"
         "clusters:\n- name: c\n  cluster:\n    server: https://10.0.0.1:6443\n" +
         cluster + "users:\n- name: u\n  user:\n" + user;
}

struct Files {
  std::map<std::string, std::string> files;

  FileReader reader() const {
    return [this](const std::string& path) -> Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return not_found(path + ": No such file or directory");
      return found->second;
    };
  }
  Result<ClusterAccess> access(const std::string& context = "") const {
    return access_from_kubeconfig({"/k/config", context}, {}, reader());
  }
};

std::string refusal_of(const std::string& cluster, const std::string& user) {
  const Files files{{{"/k/config", config_with(cluster, user)}}};
  const auto access = files.access();
  return access ? "accepted" : access.error().message;
}

TEST(Kubeconfig, TakesInlineCertificatesAndTheNamespaceOfItsContext) {
  const Files files{
      {{"/k/config", config_with("    certificate-authority-data: " + std::string(kPem64) + "\n",
                                 "    client-certificate-data: " + std::string(kPem64) +
                                     "\n    client-key-data: " + kPem64 + "\n")}}};
  const auto access = files.access();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->ca_pem, kPem);
  EXPECT_EQ(access->client_certificate_pem, kPem);
  EXPECT_EQ(access->client_key_pem, kPem);
  EXPECT_EQ(access->default_namespace, "team");
}

TEST(Kubeconfig, FindsFilesBesideItself) {
  const Files files{
      {{"/k/config", config_with("    certificate-authority: pki/ca.crt\n", "    tokenFile: t\n")},
       {"/k/pki/ca.crt", "CA"}}};
  const auto access = files.access();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->ca_pem, "CA");
  EXPECT_EQ(access->token_file, "/k/t");
}

TEST(Kubeconfig, NamesFileLineAndFieldOfAMissingCa) {
  const Files files{{{"/k/config", config_with("    certificate-authority: /no/ca\n", "    token: abc\n")}}};
  EXPECT_EQ(files.access().error().message,
            "/k/config:9: clusters.c.certificate-authority: /no/ca: No such file or directory");
}

TEST(Kubeconfig, RefusesToSkipVerification) {
  EXPECT_NE(refusal_of("    insecure-skip-tls-verify: true\n", "    token: abc\n").find("always verified"),
            std::string::npos);
  EXPECT_EQ(refusal_of("    insecure-skip-tls-verify: false\n", "    token: abc\n"), "accepted");
}

TEST(Kubeconfig, RefusesACredentialPluginByItsName) {
  const std::string said = refusal_of("", "    exec: {apiVersion: v1, command: aws, args: [eks]}\n");
  EXPECT_NE(said.find("/k/config:12: users.u.exec: credential plugins are not supported ('aws')"),
            std::string::npos)
      << said;
}

TEST(Kubeconfig, RefusesPasswordsProxiesAndImpersonation) {
  EXPECT_NE(refusal_of("", "    username: me\n    password: pw\n").find("passwords"), std::string::npos);
  EXPECT_NE(refusal_of("    proxy-url: http://p\n", "    token: t\n").find("proxies"), std::string::npos);
  EXPECT_NE(refusal_of("", "    token: t\n    as: root\n").find("somebody else"), std::string::npos);
  EXPECT_NE(refusal_of("", "    auth-provider: {name: gcp}\n").find("removed"), std::string::npos);
}

TEST(Kubeconfig, RefusesACertificateWithoutItsKey) {
  EXPECT_NE(
      refusal_of("", "    client-certificate-data: " + std::string(kPem64) + "\n").find("belong together"),
      std::string::npos);
}

TEST(Kubeconfig, RefusesWhatIsNotBase64OrNotPem) {
  EXPECT_NE(refusal_of("    certificate-authority-data: '***'\n", "    token: t\n").find("expected base64"),
            std::string::npos);
  EXPECT_NE(refusal_of("    certificate-authority-data: aGVsbG8=\n", "    token: t\n").find("expected PEM"),
            std::string::npos);
}

TEST(Kubeconfig, ListsTheContextsThereAreWhenTheNameIsWrong) {
  const Files files{{{"/k/config", config_with("", "    token: t\n")}}};
  EXPECT_EQ(files.access("prod").error().message, "/k/config: contexts: there is no 'prod'; there are lab");
}

TEST(Kubeconfig, TakesTheFirstMentionOfANameFromAListOfFiles) {
  const Files files{{{"/a", config_with("", "    token: first\n")},
                     {"/b", "current-context: other\nusers: [{name: u, user: {token: second}}]\n"}}};
  const auto access = access_from_kubeconfig({}, {{"KUBECONFIG", "/missing:/a:/b"}}, files.reader());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token, "first");
}

TEST(Kubeconfig, FallsBackToThePodItRunsIn) {
  const std::string account = "/var/run/secrets/kubernetes.io/serviceaccount/";
  const Files files{{{account + "ca.crt", "CA"}, {account + "namespace", "kube-system"}}};
  const Environment inside{
      {"HOME", "/home/somebody"}, {"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const auto access = find_access({}, inside, files.reader());
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, account + "token");
  EXPECT_EQ(access->default_namespace, "kube-system");
}

TEST(Kubeconfig, SaysBothPlacesItLookedInVain) {
  const auto access = find_access({}, {{"HOME", "/home/somebody"}}, Files{}.reader());
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().kind, Error::Kind::not_found);
  EXPECT_NE(access.error().message.find("/home/somebody/.kube/config"), std::string::npos);
  EXPECT_NE(access.error().message.find("KUBERNETES_SERVICE_HOST"), std::string::npos);
}

TEST(Kubeconfig, SurvivesEntriesOfOddShape) {
  for (const char* text :
       {"[]", "clusters: 3", "contexts: [3, {}, {name: lab}]\ncurrent-context: lab",
        "current-context: x\ncontexts: {a: b}", "contexts: [{name: x, context: 7}]\ncurrent-context: x"}) {
    const Files files{{{"/k/config", text}}};
    EXPECT_FALSE(files.access()) << text;
  }
}

}  // namespace
}  // namespace evenkeel::kubernetes

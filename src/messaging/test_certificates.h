#pragma once
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "messaging/tls_files.h"

namespace evenkeel::messaging {

// An authority for tests, and what it signs, in a folder of its own.
class TestAuthority {
 public:
  TestAuthority() {
    char name[] = "/tmp/evenkeel-authority-XXXXXX";
    folder_ = ::mkdtemp(name);
    key_.reset(EVP_EC_gen("P-256"));
    certificate_ = make("authority", key_.get(), nullptr, "", 3600);
    write_certificate(folder_ + "/ca.pem", certificate_.get());
  }
  ~TestAuthority() { std::filesystem::remove_all(folder_); }
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  // Certificate and key under this name, valid for so many seconds from now (negative: no longer).
  TlsFiles issue(const std::string& file, const std::string& common_name, const std::string& alternative = "",
                 long seconds = 3600, const char* usage = nullptr) const {
    const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_EC_gen("P-256"));
    const auto certificate = make(common_name, key.get(), certificate_.get(), alternative, seconds, usage);
    TlsFiles files{.certificate = folder_ + "/" + file + ".pem",
                   .key = folder_ + "/" + file + ".key",
                   .authority = folder_ + "/ca.pem"};
    write_certificate(files.certificate, certificate.get());
    write(files.key,
          [&](FILE* to) { PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    return files;
  }
  TlsFiles monitor(const std::string& node) const { return issue(node, "evenkeel:monitor:" + node); }
  // As kubernetes.io/kube-apiserver-client signs it: a client's, and nothing else.
  TlsFiles agent(const std::string& node, long seconds = 3600) const {
    return issue(node, "evenkeel:agent:" + node, "", seconds, "clientAuth");
  }
  TlsFiles server() const { return issue("server", "evenkeel", "IP:127.0.0.1"); }
  const std::string& folder() const { return folder_; }

 private:
  struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  struct FreeCertificate {
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Certificate = std::unique_ptr<X509, FreeCertificate>;

  Certificate make(const std::string& common_name, EVP_PKEY* key, X509* issuer,
                   const std::string& alternative, long seconds, const char* usage = nullptr) const {
    Certificate made(X509_new());
    static long serial = 1;
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), seconds);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer != nullptr ? issuer : made.get()));
    extend(made.get(), NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!alternative.empty()) extend(made.get(), NID_subject_alt_name, alternative.c_str());
    if (usage != nullptr) extend(made.get(), NID_ext_key_usage, usage);
    X509_sign(made.get(), key_.get(), EVP_sha256());
    return made;
  }
  static void extend(X509* certificate, int nid, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static void write_certificate(const std::string& path, X509* certificate) {
    write(path, [&](FILE* to) { PEM_write_X509(to, certificate); });
  }
  // Under another name first: whoever looks at the file sees the old one or the new one.
  template <class Writes>
  static void write(const std::string& path, Writes writes) {
    FILE* to = std::fopen((path + ".new").c_str(), "w");
    writes(to);
    (void)std::fclose(to);
    std::filesystem::rename(path + ".new", path);
  }

  std::string folder_;
  std::unique_ptr<EVP_PKEY, FreeKey> key_;
  Certificate certificate_;
};

}  // namespace evenkeel::messaging

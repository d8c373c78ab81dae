#include "messaging/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cmath>
#include <memory>

namespace evenkeel::messaging {
namespace {

constexpr std::size_t kMostCommonName = 64;  // RFC 5280, ub-common-name

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Request = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

bool add_name(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

std::time_t time_of(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? ::timegm(&parts) : 0;
}

}  // namespace

Result<CertificateRequest> make_certificate_request(const std::string& common_name,
                                                    const std::string& organization) {
  if (common_name.size() > kMostCommonName)
    return invalid("'" + common_name + "' is too long for a certificate, which names nobody in more than " +
                   std::to_string(kMostCommonName) + " letters");
  const Error failed = invalid("no certificate request for '" + common_name + "' could be made");
  const Key key(EVP_EC_gen("P-256"));
  const Request request(X509_REQ_new());
  if (!key || !request) return failed;
  X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  if (!add_name(subject, "O", organization) || !add_name(subject, "CN", common_name)) return failed;
  if (X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) <= 0)
    return failed;
  const Bio key_text(BIO_new(BIO_s_mem())), request_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509_REQ(request_text.get(), request.get()) != 1)
    return failed;
  return CertificateRequest{.key_pem = text_of(key_text.get()), .request_pem = text_of(request_text.get())};
}

Result<RequestFacts> read_certificate_request(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Request request(bio ? PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!request) return invalid("expected a PEM certificate request");
  RequestFacts facts;
  const X509_NAME* subject = X509_REQ_get_subject_name(request.get());
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    unsigned char* bytes = nullptr;
    const int length = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry));
    if (length < 0) return invalid("a name that is no text");
    std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
    OPENSSL_free(bytes);
    switch (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) {
      case NID_commonName:
        facts.common_names.push_back(std::move(text));
        break;
      case NID_organizationName:
        facts.organizations.push_back(std::move(text));
        break;
      default:
        facts.names_more = true;
    }
  }
  facts.wants_extensions = X509_REQ_get_attr_count(request.get()) > 0;
  facts.is_signed = X509_REQ_verify(request.get(), X509_REQ_get0_pubkey(request.get())) == 1;
  return facts;
}

std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and the zero that OpenSSL adds
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                                       static_cast<int>(bytes.size()))));
  return text;
}

Result<CertificateFacts> read_certificate(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Certificate certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!certificate) return invalid("expected a PEM certificate");
  CertificateFacts facts;
  char name[256] = {};
  if (X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name, sizeof name) >
      0)
    facts.common_name = name;
  facts.valid_from = time_of(X509_get0_notBefore(certificate.get()));
  facts.valid_until = time_of(X509_get0_notAfter(certificate.get()));
  return facts;
}

std::time_t renewal_time(const CertificateFacts& facts, double share) {
  const auto life = static_cast<double>(facts.valid_until - facts.valid_from);
  return facts.valid_from + static_cast<std::time_t>(std::llround(life * (0.7 + 0.2 * share)));
}

}  // namespace evenkeel::messaging

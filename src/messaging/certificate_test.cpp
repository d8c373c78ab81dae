#include "messaging/certificate.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "messaging/test_certificates.h"

namespace evenkeel::messaging {
namespace {

TEST(Certificate, RequestHasItsKeyAndNames) {
  const auto made = make_certificate_request("evenkeel:monitor:node-1", "evenkeel:monitors");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->key_pem.starts_with("-----BEGIN PRIVATE KEY-----"));
  BIO* bio = BIO_new_mem_buf(made->request_pem.data(), static_cast<int>(made->request_pem.size()));
  X509_REQ* request = PEM_read_bio_X509_REQ(bio, nullptr, nullptr, nullptr);
  ASSERT_NE(request, nullptr);
  char text[256] = {};
  X509_NAME_oneline(X509_REQ_get_subject_name(request), text, sizeof text);
  EXPECT_STREQ(text, "/O=evenkeel:monitors/CN=evenkeel:monitor:node-1");
  EXPECT_EQ(X509_REQ_verify(request, X509_REQ_get0_pubkey(request)), 1);
  X509_REQ_free(request);
  BIO_free(bio);
}

TEST(Certificate, RequestIsReadBack) {
  const auto made = make_certificate_request("evenkeel:monitor:node-1", "evenkeel:monitors");
  ASSERT_TRUE(made);
  const auto facts = read_certificate_request(made->request_pem);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->common_names, std::vector<std::string>{"evenkeel:monitor:node-1"});
  EXPECT_EQ(facts->organizations, std::vector<std::string>{"evenkeel:monitors"});
  EXPECT_FALSE(facts->names_more);
  EXPECT_FALSE(facts->wants_extensions);
  EXPECT_TRUE(facts->is_signed);
  EXPECT_FALSE(read_certificate_request(made->key_pem));
}

TEST(Certificate, RequestForANameThatIsTooLongIsRefusedInWords) {
  const auto made = make_certificate_request("evenkeel:monitor:" + std::string(48, 'n'), "evenkeel:monitors");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("too long for a certificate"), std::string::npos);
  EXPECT_TRUE(make_certificate_request("evenkeel:monitor:" + std::string(47, 'n'), "evenkeel:monitors"));
}

TEST(Certificate, TwoRequestsHaveTwoKeys) {
  EXPECT_NE(make_certificate_request("a", "b")->key_pem, make_certificate_request("a", "b")->key_pem);
}

TEST(Certificate, SaysForWhomAndHowLong) {
  const TestAuthority authority;
  const auto text = read_file(authority.monitor("node-1").certificate);
  ASSERT_TRUE(text);
  const auto facts = read_certificate(*text);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->common_name, "evenkeel:monitor:node-1");
  EXPECT_EQ(facts->valid_until - facts->valid_from, 7200);
  EXPECT_FALSE(read_certificate("no certificate"));
}

TEST(Certificate, TravelsAsBase64) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("a"), "YQ==");
  EXPECT_EQ(to_base64("abc"), "YWJj");
}

TEST(Certificate, IsRenewedInTheLastThirdOfItsLife) {
  const CertificateFacts facts{.common_name = "", .valid_from = 1000, .valid_until = 2000};
  EXPECT_EQ(renewal_time(facts, 0), 1700);
  EXPECT_EQ(renewal_time(facts, 0.5), 1800);
}

}  // namespace
}  // namespace evenkeel::messaging

#include "messaging/tls_session.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace evenkeel::messaging {
namespace {

TlsFileStamps::Stamp stamp_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {.inode = found.st_ino, .size = found.st_size, .changed = found.st_mtim};
}

std::string openssl_trouble() {
  std::string all;
  while (const unsigned long code = ERR_get_error()) {
    if (const char* reason = ERR_reason_error_string(code))
      all += (all.empty() ? "" : ", ") + std::string(reason);
  }
  return all.empty() ? "no reason given" : all;
}

bool is_address(const std::string& text) {
  unsigned char room[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, text.c_str(), room) == 1 || ::inet_pton(AF_INET6, text.c_str(), room) == 1;
}

}  // namespace

TlsFileStamps TlsFileStamps::of(const TlsFiles& files) {
  return {.certificate = stamp_of(files.certificate),
          .key = stamp_of(files.key),
          .authority = stamp_of(files.authority)};
}

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> TlsContext::read(const TlsFiles& files, Role role) {
  ERR_clear_error();
  std::unique_ptr<ssl_ctx_st, Free> context(
      SSL_CTX_new(role == Role::server ? TLS_server_method() : TLS_client_method()));
  if (!context) return unavailable("no TLS: " + openssl_trouble());
  const auto refuse = [](const std::string& what, const std::string& file) {
    return invalid(file + ": expected " + what + ": " + openssl_trouble());
  };
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (role == Role::peer) SSL_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  if (SSL_CTX_load_verify_locations(context.get(), files.authority.c_str(), nullptr) != 1)
    return refuse("the authority's PEM certificates", files.authority);
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1)
    return refuse("a PEM certificate", files.certificate);
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return refuse("the PEM key of " + files.certificate, files.key);
  return TlsContext(std::move(context), role);
}

void TlsSession::Free::operator()(ssl_st* session) const { SSL_free(session); }

TlsSession::TlsSession(const TlsContext& context, int socket, const std::string& server_name)
    : session_(SSL_new(context.native())) {
  EVENKEEL_CHECK(session_ != nullptr);
  EVENKEEL_CHECK(SSL_set_fd(session_.get(), socket) == 1);
  if (context.role() == TlsContext::Role::server) {
    SSL_set_accept_state(session_.get());
    return;
  }
  SSL_set_connect_state(session_.get());
  if (context.role() == TlsContext::Role::peer) return;
  if (is_address(server_name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), server_name.c_str());
  } else {
    SSL_set_tlsext_host_name(session_.get(), server_name.c_str());
    SSL_set_hostflags(session_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(session_.get(), server_name.c_str());
  }
}

TlsSession::Step TlsSession::judged(int returned) {
  if (returned == 1) return Step::done;
  const int said = errno;
  switch (SSL_get_error(session_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return Step::wants_read;
    case SSL_ERROR_WANT_WRITE:
      return Step::wants_write;
    case SSL_ERROR_ZERO_RETURN:
      return Step::closed;
    case SSL_ERROR_SYSCALL:
      trouble_ = said != 0 ? std::strerror(said) : "the connection was cut";
      return Step::failed;
    default:
      trouble_ = openssl_trouble();
      if (const long verified = SSL_get_verify_result(session_.get()); verified != X509_V_OK)
        trouble_ += std::string(" (") + X509_verify_cert_error_string(verified) + ")";
      return Step::failed;
  }
}

// What an earlier connection of this thread left in OpenSSL's queue would be taken for this one's trouble.
TlsSession::Step TlsSession::shake_hands() {
  ERR_clear_error();
  errno = 0;
  return judged(SSL_do_handshake(session_.get()));
}

TlsSession::Step TlsSession::read(char* into, std::size_t most, std::size_t& count) {
  ERR_clear_error();
  errno = 0;
  count = 0;
  return judged(SSL_read_ex(session_.get(), into, most, &count));
}

TlsSession::Step TlsSession::write(std::string_view bytes, std::size_t& count) {
  ERR_clear_error();
  errno = 0;
  count = 0;
  return judged(SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count));
}

void TlsSession::read_ahead() { SSL_set_read_ahead(session_.get(), 1); }

bool TlsSession::has_more() const { return SSL_has_pending(session_.get()) == 1; }

void TlsSession::say_farewell() {
  ERR_clear_error();
  (void)SSL_shutdown(session_.get());
  ERR_clear_error();
}

std::string TlsSession::peer_name() const {
  X509* certificate = SSL_get0_peer_certificate(session_.get());
  if (certificate == nullptr || SSL_get_verify_result(session_.get()) != X509_V_OK) return {};
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  // Two names would be one for each reader's choice.
  if (place < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, place) >= 0) return {};
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place));
  unsigned char* text = nullptr;
  const int length = ASN1_STRING_to_UTF8(&text, value);
  if (length < 0) return {};
  std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(length));
  OPENSSL_free(text);
  return name.find('\0') == std::string::npos ? name : std::string();
}

std::time_t TlsSession::peer_valid_until() const {
  const X509* certificate = SSL_get0_peer_certificate(session_.get());
  std::tm end{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return 0;
  return ::timegm(&end);
}

TlsSession::Traffic TlsSession::traffic() const {
  return {.read = BIO_number_read(SSL_get_rbio(session_.get())),
          .written = BIO_number_written(SSL_get_wbio(session_.get()))};
}

}  // namespace evenkeel::messaging

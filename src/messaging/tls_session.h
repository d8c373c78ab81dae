#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "messaging/tls_files.h"

struct ssl_ctx_st;
struct ssl_st;

namespace evenkeel::messaging {

// Which version of the three files was read, so that a change is noticed without reading them.
struct TlsFileStamps {
  struct Stamp {
    ino_t inode = 0;
    off_t size = 0;
    timespec changed{};
    bool operator==(const Stamp& other) const {
      return inode == other.inode && size == other.size && changed.tv_sec == other.changed.tv_sec &&
             changed.tv_nsec == other.changed.tv_nsec;
    }
  };
  Stamp certificate, key, authority;
  bool operator==(const TlsFileStamps&) const = default;
  static TlsFileStamps of(const TlsFiles& files);  // what is not there is all zeros
};

// Certificate, key and authority as read once: TLS 1.3, both sides show a certificate, no resumption (who was
// trusted yesterday is asked again). This, the session below and certificate.cpp are all that knows OpenSSL.
class TlsContext {
 public:
  // A peer dials as a client does, but whoever answers is one of its own kind: it shows a client's
  // certificate too and is known by its common name, which the caller has to look at, instead of by where it
  // was reached.
  enum class Role { server, client, peer };
  static Result<TlsContext> read(const TlsFiles& files, Role role);

  ssl_ctx_st* native() const { return context_.get(); }
  Role role() const { return role_; }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  TlsContext(std::unique_ptr<ssl_ctx_st, Free> context, Role role)
      : context_(std::move(context)), role_(role) {}

  std::unique_ptr<ssl_ctx_st, Free> context_;
  Role role_;
};

// One encrypted connection over a socket that does not block. Every step says how it went; whoever drives it
// waits for the socket as told and takes the step again.
class TlsSession {
 public:
  enum class Step { done, wants_read, wants_write, closed, failed };

  // `server_name`: of a client, what the server's certificate must be for: a name or an address.
  TlsSession(const TlsContext& context, int socket, const std::string& server_name = "");

  Step shake_hands();
  Step read(char* into, std::size_t most, std::size_t& count);
  Step write(std::string_view bytes, std::size_t& count);
  // Takes whatever has arrived by one call of the kernel instead of a record by two. What was taken and not
  // yet read no longer makes the socket readable: whoever asks for it reads until nothing is left.
  void read_ahead();
  bool has_more() const;  // taken from the socket and not yet read
  void say_farewell();    // if it can be said at once

  const std::string& trouble() const { return trouble_; }  // after `failed`: why
  std::string peer_name() const;                           // common name of the peer's verified certificate
  std::time_t peer_valid_until() const;                    // 0: no certificate

  // What went over the socket so far, handshake and encryption included.
  struct Traffic {
    std::uint64_t read = 0, written = 0;
  };
  Traffic traffic() const;

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };
  Step judged(int returned);

  std::unique_ptr<ssl_st, Free> session_;
  std::string trouble_;
};

}  // namespace evenkeel::messaging

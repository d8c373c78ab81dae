#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kubernetes/event_loop.h"
#include "kubernetes/http_url.h"
#include "kubernetes/kubeconfig.h"

namespace evenkeel::kubernetes {

// A connection's bytes, encrypted or not. One read and one write may be under way at a time; after close() or
// the destruction no handler is called any more.
class Transport {
 public:
  using Done = std::function<void(Status)>;
  using Read = std::function<void(Result<std::string_view>)>;  // empty: the other side closed

  virtual ~Transport() = default;
  virtual void connect(Done done) = 0;
  virtual void read(Read done) = 0;
  virtual void write(std::string bytes, Done done) = 0;
  virtual void close() = 0;
};

// Makes connections to one server. The only place that knows OpenSSL: servers are always verified, against
// the CA given or what the system trusts, and by name; TLS 1.2 at least.
class TransportMaker {
 public:
  static Result<std::unique_ptr<TransportMaker>> open(EventLoop& loop, const ClusterAccess& access);
  virtual ~TransportMaker() = default;
  virtual std::unique_ptr<Transport> make() = 0;
  virtual const Url& url() const = 0;
};

}  // namespace evenkeel::kubernetes

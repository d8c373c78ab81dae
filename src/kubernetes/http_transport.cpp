#include "kubernetes/http_transport.h"

#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <type_traits>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = ssl::stream<tcp::socket>;

// A peer that vanished without a word is noticed in half a minute, on an idle watch as well.
void notice_dead_peers(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const auto set = [&](int name, int value) {
    (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
  };
  set(TCP_KEEPIDLE, 15);
  set(TCP_KEEPINTVL, 5);
  set(TCP_KEEPCNT, 3);
  set(TCP_USER_TIMEOUT, 30'000);  // milliseconds
}

bool is_ip_address(const std::string& host) {
  error_code error;
  (void)asio::ip::make_address(host, error);
  return !error;
}

// Go's server ends connections without TLS's farewell, and HTTP says by itself where an answer ends.
bool is_close(const error_code& error) {
  return error == asio::error::eof || error == ssl::error::stream_truncated ||
         error == asio::error::connection_reset;
}

// Shared by the Transport and by what is under way: an operation that was cut off still finds its memory.
template <class Stream>
struct Channel {
  template <class... Arguments>
  Channel(asio::io_context& io, Url to, Arguments&... arguments)
      : url(std::move(to)), resolver(io), stream(io, arguments...) {}

  Url url;
  tcp::resolver resolver;
  Stream stream;
  std::array<char, 16 * 1024> input;  // as long as a TLS record may be: no read brings more
  std::string output;
  bool closed = false;

  tcp::socket& socket() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      return stream.next_layer();
    } else {
      return stream;
    }
  }
  Error failed(const std::string& what, const error_code& error) const {
    return unavailable(url.authority() + ": " + what + ": " + error.message());
  }
};

template <class Stream>
class ChannelTransport final : public Transport {
 public:
  explicit ChannelTransport(std::shared_ptr<Channel<Stream>> channel) : channel_(std::move(channel)) {}
  ~ChannelTransport() override { close(); }
  ChannelTransport(const ChannelTransport&) = delete;
  ChannelTransport& operator=(const ChannelTransport&) = delete;

  void connect(Done done) override {
    const auto channel = channel_;
    channel->resolver.async_resolve(
        channel->url.host, std::to_string(channel->url.port),
        [channel, done = std::move(done)](const error_code& error,
                                          const tcp::resolver::results_type& found) mutable {
          if (channel->closed) return;
          if (error) return done(channel->failed("cannot find the host", error));
          connect_to(channel, found, std::move(done));
        });
  }

  void read(Read done) override {
    channel_->stream.async_read_some(
        asio::buffer(channel_->input),
        [channel = channel_, done = std::move(done)](const error_code& error, std::size_t count) {
          if (channel->closed) return;
          if (!error) return done(std::string_view(channel->input.data(), count));
          if (is_close(error)) return done(std::string_view());
          done(channel->failed("reading failed", error));
        });
  }

  void write(std::string bytes, Done done) override {
    channel_->output = std::move(bytes);
    asio::async_write(channel_->stream, asio::buffer(channel_->output),
                      [channel = channel_, done = std::move(done)](const error_code& error, std::size_t) {
                        if (channel->closed) return;
                        done(error ? Status(channel->failed("writing failed", error)) : Status());
                      });
  }

  void close() override {
    channel_->closed = true;
    error_code ignored;
    channel_->resolver.cancel();
    channel_->socket().close(ignored);
  }

 private:
  using Shared = std::shared_ptr<Channel<Stream>>;

  static void connect_to(const Shared& channel, const tcp::resolver::results_type& found, Done done) {
    asio::async_connect(channel->socket(), found,
                        [channel, done = std::move(done)](const error_code& error, const tcp::endpoint&) {
                          if (channel->closed) return;
                          if (error) return done(channel->failed("cannot connect", error));
                          notice_dead_peers(channel->socket());
                          shake_hands(channel, done);
                        });
  }

  static void shake_hands(const Shared& channel, const Done& done) {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      channel->stream.async_handshake(TlsStream::client, [channel, done](const error_code& error) {
        if (channel->closed) return;
        done(error ? Status(channel->failed("no TLS connection", error)) : Status());
      });
    } else {
      done({});
    }
  }

  Shared channel_;
};

class PlainMaker final : public TransportMaker {
 public:
  PlainMaker(EventLoop& loop, Url url) : io_(loop.io()), url_(std::move(url)) {}
  std::unique_ptr<Transport> make() override {
    return std::make_unique<ChannelTransport<tcp::socket>>(std::make_shared<Channel<tcp::socket>>(io_, url_));
  }
  const Url& url() const override { return url_; }

 private:
  asio::io_context& io_;
  Url url_;
};

class TlsMaker final : public TransportMaker {
 public:
  TlsMaker(EventLoop& loop, Url url, std::string server_name)
      : io_(loop.io()), url_(std::move(url)), server_name_(std::move(server_name)) {}

  Status configure(const ClusterAccess& access) {
    context_.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                         ssl::context::no_tlsv1_1);
    context_.set_verify_mode(ssl::verify_peer);
    SSL_CTX_set_mode(context_.native_handle(), SSL_MODE_RELEASE_BUFFERS);  // dozens of connections lie idle
    static constexpr unsigned char kProtocols[] = "\x08http/1.1";
    SSL_CTX_set_alpn_protos(context_.native_handle(), kProtocols, sizeof kProtocols - 1);
    error_code error;
    if (access.ca_pem.empty()) {
      context_.set_default_verify_paths(error);
      if (error) return invalid("the system's CA certificates cannot be read: " + error.message());
    } else {
      context_.add_certificate_authority(asio::buffer(access.ca_pem), error);
      if (error) return invalid("certificate-authority: expected PEM certificates: " + error.message());
    }
    if (access.client_certificate_pem.empty()) return {};
    context_.use_certificate_chain(asio::buffer(access.client_certificate_pem), error);
    if (error) return invalid("client-certificate: expected a PEM certificate: " + error.message());
    context_.use_private_key(asio::buffer(access.client_key_pem), ssl::context::pem, error);
    if (error)
      return invalid("client-key: expected the PEM key of the client certificate: " + error.message());
    return {};
  }

  std::unique_ptr<Transport> make() override {
    auto channel = std::make_shared<Channel<TlsStream>>(io_, url_, context_);
    channel->stream.set_verify_callback(ssl::host_name_verification(server_name_));
    if (!is_ip_address(server_name_)) {
      SSL_set_tlsext_host_name(channel->stream.native_handle(), server_name_.c_str());
    }
    return std::make_unique<ChannelTransport<TlsStream>>(std::move(channel));
  }
  const Url& url() const override { return url_; }

 private:
  asio::io_context& io_;
  Url url_;
  std::string server_name_;
  ssl::context context_{ssl::context::tls_client};
};

}  // namespace

Result<std::unique_ptr<TransportMaker>> TransportMaker::open(EventLoop& loop, const ClusterAccess& access) {
  const auto url = parse_url(access.server);
  if (!url) return url.error();
  if (!url->is_tls) return std::unique_ptr<TransportMaker>(std::make_unique<PlainMaker>(loop, *url));
  auto maker = std::make_unique<TlsMaker>(
      loop, *url, access.tls_server_name.empty() ? url->host : access.tls_server_name);
  if (auto configured = maker->configure(access); !configured) return configured.error();
  return std::unique_ptr<TransportMaker>(std::move(maker));
}

}  // namespace evenkeel::kubernetes

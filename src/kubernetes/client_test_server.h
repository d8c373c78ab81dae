#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/event_loop.h"

namespace evenkeel::kubernetes {

// A server on loopback within the same event loop: tests say what each request is answered, byte by byte, and
// whether the connection is closed after it. No thread, so nothing depends on timing.
class TestServer {
 public:
  struct Reply {
    std::string bytes;
    bool closes = false;
    bool hangs = false;  // no answer at all
  };
  struct Seen {
    std::string line;     // GET /x HTTP/1.1
    std::string headers;  // all of them
    std::size_t connection = 0;
  };
  using Answer = std::function<Reply(const Seen&)>;

  TestServer(EventLoop& loop, Answer answer)
      : acceptor_(loop.io(), tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        answer_(std::move(answer)) {
    accept();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  const std::vector<Seen>& seen() const { return seen_; }
  std::size_t connections() const { return connections_.size(); }

  // Closes what is open, as a server does with connections that lie idle.
  void close_all() {
    for (const auto& connection : connections_) connection->socket.close();
  }

 private:
  using tcp = boost::asio::ip::tcp;
  struct Connection {
    explicit Connection(tcp::socket taken) : socket(std::move(taken)) {}
    tcp::socket socket;
    boost::asio::streambuf input;
    std::string output;
    std::size_t number = 0;
  };

  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
      if (error) return;
      auto connection = std::make_shared<Connection>(std::move(socket));
      connection->number = connections_.size();
      connections_.push_back(connection);
      read(connection);
      accept();
    });
  }

  void read(const std::shared_ptr<Connection>& connection) {
    boost::asio::async_read_until(
        connection->socket, connection->input, "\r\n\r\n",
        [this, connection](const boost::system::error_code& error, std::size_t size) {
          if (!error) respond(connection, size);
        });
  }

  // Bodies of requests are not looked at: tests send such as stand in the same packet, or none.
  void respond(const std::shared_ptr<Connection>& connection, std::size_t size) {
    std::string head(size, '\0');
    std::istream(&connection->input).read(head.data(), static_cast<std::streamsize>(size));
    connection->input.consume(connection->input.size());
    seen_.push_back({head.substr(0, head.find("\r\n")), head, connection->number});
    Reply reply = answer_(seen_.back());
    if (reply.hangs) return;
    connection->output = std::move(reply.bytes);
    boost::asio::async_write(
        connection->socket, boost::asio::buffer(connection->output),
        [this, connection, closes = reply.closes](const boost::system::error_code& error, std::size_t) {
          if (error) return;
          if (closes) return connection->socket.close();
          read(connection);
        });
  }

  tcp::acceptor acceptor_;
  Answer answer_;
  std::vector<Seen> seen_;
  std::vector<std::shared_ptr<Connection>> connections_;
};

inline std::string http_reply(int code, const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 " + std::to_string(code) + " X\r\nContent-Type: application/json\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace evenkeel::kubernetes

#include "apps/bench_child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace evenkeel::apps {

Child::Child(const std::vector<std::string>& command) : process_(::fork()) {
  if (process_ != 0) return;
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) (void)::dup2(nothing, fd);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  (void)::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

Child::~Child() {
  (void)::kill(process_, SIGKILL);
  (void)::waitpid(process_, nullptr, 0);
}

bool Child::is_alive() const { return ::waitpid(process_, nullptr, WNOHANG) == 0; }

double Child::cpu_seconds() const {
  clockid_t clock = 0;
  timespec time{};
  if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double Child::reads() const {
  std::ifstream io("/proc/" + std::to_string(process_) + "/io");
  for (std::string word; io >> word;) {
    double count = 0;
    if (word == "syscr:" && io >> count) return count;
  }
  return 0;
}

double Child::megabytes(const std::string& field) const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == field + ":" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

std::string scrape(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  std::string text;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    (void)!::write(fd, request.data(), request.size());
    char bytes[16384];
    for (ssize_t count = 0; (count = ::read(fd, bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
  }
  (void)::close(fd);
  return text;
}

}  // namespace evenkeel::apps

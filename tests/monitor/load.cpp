// A load that says what it did: tests ask the monitor the same and compare.
//
//   monitor_load LOG SECONDS [cpu=CORES] [memory=BYTES] [send=BYTES/S,ADDRESS,PORT] [listen=ADDRESS,PORT]
//                [write=BYTES/S,FILE] [read=BYTES/S,FILE]
//
// Every 20 ms a line goes to LOG: seconds since the machine started, then how much was done since the load
// began: CPU seconds, bytes of memory held, bytes received and sent (with their Ethernet, IP and UDP
// headers), bytes read and written.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPayload = 1400, kHeaders = 14 + 20 + 8;  // Ethernet, IPv4, UDP
constexpr std::size_t kBlock = 64 * 1024;
constexpr off_t kFileSize = 32 << 20;

double clock_seconds(clockid_t clock) {
  timespec time{};
  (void)::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double now() { return clock_seconds(CLOCK_BOOTTIME); }
void sleep_for(double seconds) { ::usleep(static_cast<useconds_t>(seconds * 1e6)); }

double end = 0;
std::atomic<std::uint64_t> received{0}, sent{0}, bytes_read{0}, written{0};

[[noreturn]] void give_up(const std::string& what) {
  std::perror(what.c_str());
  std::_Exit(1);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  return parts;
}

// Catches up with what it is behind: on a busy machine it does the same work, later. What it does is in the
// log.
void burn(double cores) {
  const double begin = now();
  volatile double sink = 1;
  while (now() < end) {
    while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < cores * (now() - begin))
      for (int i = 0; i < 20'000; ++i) sink = sink * 1.0000001;
    sleep_for(0.002);
  }
}

sockaddr_in address_of(const std::string& host, const std::string& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port.c_str())));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) give_up("address " + host);
  return address;
}

void send_datagrams(double rate, const std::string& host, const std::string& port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = address_of(host, port);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    give_up("send to " + host);
  const std::vector<char> payload(kPayload);
  const double begin = now();
  while (now() < end) {
    while (static_cast<double>(sent) < rate * (now() - begin))
      if (::send(fd, payload.data(), payload.size(), 0) == static_cast<ssize_t>(kPayload))
        sent += kPayload + kHeaders;
    sleep_for(0.002);
  }
}

void receive_datagrams(const std::string& host, const std::string& port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = address_of(host, port);
  const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
  const int room = 8 << 20;
  (void)::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    give_up("listen at " + host);
  std::vector<char> payload(2 * kPayload);
  while (now() < end) {
    const ssize_t count = ::recv(fd, payload.data(), payload.size(), 0);
    if (count > 0) received += static_cast<std::uint64_t>(count) + kHeaders;
  }
}

// Past the page cache: what is asked for reaches the disk at once, and nothing else does. The file is whole
// beforehand, so that no write changes where its blocks are.
void use_disk(double rate, const std::string& path, bool writes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
  if (fd < 0) give_up(path);
  void* block = nullptr;
  if (::posix_memalign(&block, 4096, kBlock) != 0) give_up("memory");
  std::memset(block, 7, kBlock);
  for (off_t place = 0; place < kFileSize; place += kBlock)
    if (::pwrite(fd, block, kBlock, place) != kBlock) give_up(path);
  (void)::fsync(fd);
  std::atomic<std::uint64_t>& done = writes ? written : bytes_read;
  done = 0;
  const double begin = now();
  off_t place = 0;
  while (now() < end) {
    while (static_cast<double>(done) < rate * (now() - begin) && now() < end) {
      const ssize_t count = writes ? ::pwrite(fd, block, kBlock, place) : ::pread(fd, block, kBlock, place);
      if (count != kBlock) give_up(path);
      done += kBlock;
      place = (place + static_cast<off_t>(kBlock)) % kFileSize;
    }
    sleep_for(0.002);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  FILE* log = std::fopen(argv[1], "w");
  if (log == nullptr) give_up(argv[1]);
  end = now() + std::atof(argv[2]);
  std::size_t held = 0;
  std::vector<std::thread> threads;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string name = argument.substr(0, argument.find('='));
    const std::vector<std::string> values = split(argument.substr(argument.find('=') + 1));
    const double amount = std::atof(values[0].c_str());
    if (name == "cpu") threads.emplace_back(burn, amount);
    if (name == "send") threads.emplace_back(send_datagrams, amount, values.at(1), values.at(2));
    if (name == "listen") threads.emplace_back(receive_datagrams, values.at(0), values.at(1));
    if (name == "write" || name == "read")
      threads.emplace_back(use_disk, amount, values.at(1), name == "write");
    if (name == "memory") {
      held = static_cast<std::size_t>(amount);
      void* room = ::mmap(nullptr, held, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (room == MAP_FAILED) give_up("memory");
      std::memset(room, 1, held);
    }
  }
  while (now() < end) {
    (void)std::fprintf(log, "%.6f %.9f %zu %llu %llu %llu %llu\n", now(),
                       clock_seconds(CLOCK_PROCESS_CPUTIME_ID), held,
                       static_cast<unsigned long long>(received), static_cast<unsigned long long>(sent),
                       static_cast<unsigned long long>(bytes_read), static_cast<unsigned long long>(written));
    (void)std::fflush(log);
    sleep_for(0.02);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

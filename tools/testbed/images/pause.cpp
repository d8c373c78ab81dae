// What holds a pod's namespaces open: waits to be told to end, and buries orphans where it is the first
// process.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace {
void bury(int) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}
void end(int) { ::_exit(0); }
}  // namespace

int main() {
  (void)std::signal(SIGCHLD, bury);
  (void)std::signal(SIGTERM, end);
  (void)std::signal(SIGINT, end);
  while (true) ::pause();
}

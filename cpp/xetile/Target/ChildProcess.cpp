//===- ChildProcess.cpp - what may die, in a process of its own -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a child of fork(). Out: how it ended.
// Refused: children that sleep for ever.
//===----------------------------------------------------------------------===//
#include "xetile/Target/ChildProcess.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

using namespace llvm;

namespace {

/// State and processor time of a process, as the system counts it.
std::pair<char, uint64_t> lookAt(pid_t process) {
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/" + Twine(process) + "/stat");
  if (!text)
    return {'Z', 0};
  SmallVector<StringRef> facts;
  (*text)->getBuffer().rsplit(')').second.trim().split(facts, ' ');
  uint64_t user = 0, system = 0;
  if (facts.size() < 13 || facts[11].getAsInteger(10, user) || facts[12].getAsInteger(10, system))
    return {'Z', 0};
  return {facts[0].front(), user + system};
}

} // namespace

void xetile::detail::beginChild() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Nobody's handlers: Python's and LLVM's print what is said better.
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

std::optional<int> xetile::detail::awaitChild(pid_t child) {
  using namespace std::chrono;
  auto pause = microseconds(500);
  auto moved = steady_clock::now();
  std::pair<char, uint64_t> before{'R', 0};
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno == ECHILD))
      return status;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, microseconds(20000));
    auto now = steady_clock::now();
    if (now - moved < seconds(10))
      continue;
    auto seen = lookAt(child);
    if (seen.first != 'S' || seen != before) {
      before = seen;
      moved = now;
      continue;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return std::nullopt;
  }
}

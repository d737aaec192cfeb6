//===- Supervise.cpp - run a program that does not outlive us ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a program, a time limit, a folder for its files. Out: how it ended.
// Refused: nothing; a program that cannot be started is an ending, too.
//
// A process of our own stands between us and the program: it stays in our process group, where
// Ctrl-C reaches it, hears of our death from the kernel, and leads nothing else than the program's
// group. After fork() it calls only what POSIX allows in a child of a threaded process.
#include "xetile/Target/Xe/Binary/Supervise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace xetile;

extern char **environ;

namespace {

/// The signal that tells the supervisor of our death. No one else sends it.
constexpr int kOrphaned = SIGUSR1;

/// All that children need, made before fork(): they must not allocate.
struct Job {
  std::vector<char *> arguments, environment;
  std::vector<char *> remove;
  const char *log;
  unsigned seconds;
  sigset_t callersMask;
  pid_t caller;
  int result; // pipe that the ending goes into
};

std::vector<char *> pointersTo(ArrayRef<std::string> texts) {
  std::vector<char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// In the program's process, which it becomes. Returns errno.
int becomeProgram(const Job &job) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL); // for the supervisor's death
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    // Python ignores SIGPIPE, which is no program's business but its own.
    if (sigaction(signal, nullptr, &action) == 0 &&
        (action.sa_handler != SIG_IGN || signal == SIGPIPE))
      std::signal(signal, SIG_DFL);
  }
  int input = open("/dev/null", O_RDONLY);
  int output = open(job.log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (input < 0 || output < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
    return errno;
  for (int descriptor : {input, output})
    if (descriptor > 2)
      close(descriptor);
  sigprocmask(SIG_SETMASK, &job.callersMask, nullptr);
  execve(job.arguments[0], job.arguments.data(), job.environment.data());
  return errno;
}

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

void report(const Job &job, Ending ending) {
  // A caller that is gone does not read; SIGPIPE is blocked.
  (void)!write(job.result, &ending, sizeof ending);
}

[[noreturn]] void removeFolder(const Job &job) {
  execv(job.remove[0], job.remove.data());
  _exit(1);
}

/// SIGCHLD, and what would end a process that does not ignore it.
sigset_t awaitedSignals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, kOrphaned);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action;
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
      sigaddset(&awaited, signal);
  }
  return awaited;
}

/// The program's process, or an end of this one.
pid_t startProgram(const Job &job) {
  int started[2]; // closed by a successful exec, else it brings errno
  if (pipe2(started, O_CLOEXEC)) {
    report(job, {Ending::NotStarted, errno});
    _exit(1);
  }
  pid_t program = fork();
  if (program == 0) {
    close(started[0]);
    int failure = becomeProgram(job);
    (void)!write(started[1], &failure, sizeof failure);
    _exit(127);
  }
  int failure = errno;
  close(started[1]);
  if (program < 0 || read(started[0], &failure, sizeof failure) == sizeof failure) {
    report(job, {Ending::NotStarted, failure});
    _exit(1);
  }
  setpgid(program, program);
  return program;
}

/// Until the program ends, its time is over, or a signal comes.
Ending awaitEnd(const Job &job, pid_t program, const sigset_t &awaited) {
  int64_t end = now() + int64_t(job.seconds) * 1000000000;
  for (;;) {
    int status;
    if (waitpid(program, &status, WNOHANG) == program)
      return WIFSIGNALED(status) ? Ending{Ending::Killed, WTERMSIG(status)}
                                 : Ending{Ending::Exited, WEXITSTATUS(status)};
    int64_t left = end - now();
    if (left <= 0)
      return {Ending::TimedOut, int(job.seconds)};
    timespec time = {time_t(left / 1000000000), long(left % 1000000000)};
    int signal = sigtimedwait(&awaited, nullptr, &time);
    if (signal > 0 && signal != SIGCHLD)
      return {Ending::Interrupted, signal};
  }
}

/// The supervisor's whole life. All signals are blocked: it fetches those that matter.
[[noreturn]] void supervise(const Job &job) {
  prctl(PR_SET_PDEATHSIG, kOrphaned);
  sigset_t awaited = awaitedSignals();
  std::signal(SIGCHLD, SIG_DFL);
  if (getppid() != job.caller)
    removeFolder(job);

  pid_t program = startProgram(job);
  Ending ending = awaitEnd(job, program, awaited);
  // Whatever it has started and left behind ends with it.
  kill(-program, SIGKILL);
  while (waitpid(program, nullptr, 0) < 0 && errno == EINTR) {
  }
  report(job, ending);
  // The signal may be what our caller dies of, before or after it reads the pipe.
  if (ending.kind == Ending::Interrupted || getppid() != job.caller)
    removeFolder(job);
  _exit(0);
}

} // namespace

std::string Ending::str() const {
  switch (kind) {
  case Exited:
    return ("status " + Twine(value)).str();
  case Killed:
    return ("killed by signal " + Twine(value)).str();
  case TimedOut:
    return ("no end after " + Twine(value) + " s").str();
  case Interrupted:
    return ("interrupted by signal " + Twine(value)).str();
  case NotStarted:
    break;
  }
  return std::string("it cannot be started: ") + std::strerror(value);
}

Ending xetile::runSupervised(ArrayRef<std::string> arguments, ArrayRef<std::string> settings,
                             const std::string &log, const std::string &folder, unsigned seconds) {
  Job job;
  job.arguments = pointersTo(arguments);
  auto isOverridden = [&](StringRef entry) {
    StringRef name = entry.split('=').first;
    return any_of(settings, [&](const std::string &setting) {
      return StringRef(setting).split('=').first == name;
    });
  };
  job.environment = pointersTo(settings);
  job.environment.pop_back();
  for (char **entry = environ; entry && *entry; ++entry)
    if (!isOverridden(*entry))
      job.environment.push_back(*entry);
  job.environment.push_back(nullptr);
  const std::string remove[] = {"/bin/rm", "-rf", "--", folder};
  job.remove = pointersTo(remove);
  job.log = log.c_str();
  job.seconds = seconds;
  job.caller = getpid();
  int result[2];
  if (pipe2(result, O_CLOEXEC))
    return {Ending::NotStarted, errno};
  job.result = result[1];

  // No handler of ours may run in the children.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &job.callersMask);
  pid_t supervisor = fork();
  if (supervisor == 0)
    supervise(job);
  int failure = errno;
  pthread_sigmask(SIG_SETMASK, &job.callersMask, nullptr);
  close(result[1]);
  // A supervisor that says nothing was killed.
  Ending ending = {Ending::Killed, SIGKILL};
  if (supervisor < 0) {
    ending = {Ending::NotStarted, failure};
  } else {
    while (read(result[0], &ending, sizeof ending) < 0 && errno == EINTR) {
    }
    while (waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(result[0]);
  return ending;
}

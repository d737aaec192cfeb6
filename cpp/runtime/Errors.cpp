// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors.cpp: failures inside the runtime.
// Input: a message; output: stderr and exit status 1, or the recorded message.
// Refused: nothing.
#include "Errors.h"

#include "XeTileRuntime.h"

#include <atomic>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <unistd.h>

namespace xetile::runtime {
namespace {

std::atomic<int> mode{XETILE_RUNTIME_EXIT_ON_ERROR};
std::atomic<bool> pending{false};

std::mutex &messageMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

// Never destroyed: a module's destructor may fail after the static destructors ran.
std::string &message() {
  static auto *text = new std::string;
  return *text;
}

} // namespace

int setErrorMode(int newMode) {
  if (newMode != XETILE_RUNTIME_EXIT_ON_ERROR && newMode != XETILE_RUNTIME_RECORD_ERRORS)
    return mode;
  return mode.exchange(newMode);
}

bool errorPending() { return pending; }

std::string peekError() {
  std::lock_guard<std::mutex> lock(messageMutex());
  return message();
}

std::string takeError() {
  std::lock_guard<std::mutex> lock(messageMutex());
  std::string text;
  text.swap(message());
  pending = false;
  return text;
}

void reportError(const std::string &text) {
  if (mode == XETILE_RUNTIME_RECORD_ERRORS) {
    std::lock_guard<std::mutex> lock(messageMutex());
    if (!pending) {
      message() = text;
      pending = true;
    }
    return;
  }
  std::cout.flush();
  std::fflush(stdout);
  std::fprintf(stderr, "xetile runtime: error: %s\n", text.c_str());
  std::fflush(stderr);
  // Not exit(): this may run inside a JIT's module constructor, whose locks the JIT's own exit
  // handlers would wait for.
  _exit(1);
}

} // namespace xetile::runtime

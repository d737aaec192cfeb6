// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors.h: failures inside the runtime.
// Input: an exception; output: a message on stderr and exit status 1, or a recorded message
// (XeTileRuntime.h). Refused: nothing; an exception of any type becomes a message.
#ifndef XETILE_RUNTIME_ERRORS_H
#define XETILE_RUNTIME_ERRORS_H

#include <exception>
#include <stdexcept>
#include <string>

namespace xetile::runtime {

/// An error message: expected, got, remedy. `log` is a compiler's output, shown below the
/// message.
class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message, std::string log = {})
      : std::runtime_error(log.empty() ? message : message + "\nbuild log:\n" + log) {}
};

int setErrorMode(int mode);

/// True while a recorded error waits to be taken.
bool errorPending();

std::string peekError();
std::string takeError();

/// Records the message or prints it and ends the process, as the mode says.
void reportError(const std::string &message);

/// Runs `body`, the inside of every exported function: no exception leaves it. Returns `fallback`
/// if it failed.
template <typename Result, typename Body> Result guarded(Result fallback, Body &&body) {
  try {
    return body();
  } catch (const std::exception &error) {
    reportError(error.what());
  } catch (...) {
    reportError("an unknown exception was thrown");
  }
  return fallback;
}

template <typename Body> void guarded(Body &&body) {
  guarded(0, [&] {
    body();
    return 0;
  });
}

} // namespace xetile::runtime
#endif

//===- Supervise.h - run a program that does not outlive us -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_BINARY_SUPERVISE_H
#define XETILE_TARGET_XE_BINARY_SUPERVISE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace xetile {

/// How a program ended.
struct Ending {
  enum Kind : int {
    Exited,      // value: its exit status
    Killed,      // value: the signal
    TimedOut,    // value: the seconds that it had
    Interrupted, // value: the signal that came to our process group
    NotStarted,  // value: errno
  };
  Kind kind = NotStarted;
  int value = 0;

  bool succeeded() const { return kind == Exited && value == 0; }
  std::string str() const;
};

/// Runs `arguments`, the first of which is the program's path, with `settings` ("NAME=VALUE") added
/// to the environment, nothing as input, and its output in the file `log`. The program and all that
/// it starts are killed after `seconds`, and when this process ends, however it ends. `folder` is
/// then removed, too.
Ending runSupervised(llvm::ArrayRef<std::string> arguments, llvm::ArrayRef<std::string> settings,
                     const std::string &log, const std::string &folder, unsigned seconds);

} // namespace xetile

#endif // XETILE_TARGET_XE_BINARY_SUPERVISE_H

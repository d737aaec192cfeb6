//===- ChildProcess.h - what may die, in a process of its own -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CHILDPROCESS_H
#define XETILE_TARGET_CHILDPROCESS_H

#include <optional>
#include <sys/types.h>

namespace xetile::detail {

/// The first thing that a child of fork() does: it dies with its parent, leaves no core, and a
/// signal ends it without the handlers of Python or LLVM.
void beginChild();

/// The status that waitpid has; nothing if the child slept for ever and was killed: another thread
/// of the parent held a lock when it was forked.
std::optional<int> awaitChild(pid_t child);

} // namespace xetile::detail

#endif // XETILE_TARGET_CHILDPROCESS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch.h: kernel launches.
// Input: a kernel, grid and group sizes, pointers to the arguments' values; output: a running
// kernel. Refused: an argument count or group size that does not fit the kernel, host pointers on a
// device that cannot read them.
#ifndef XETILE_RUNTIME_LAUNCH_H
#define XETILE_RUNTIME_LAUNCH_H

#include "Program.h"

#include <array>
#include <vector>

namespace xetile::runtime {

class HostCopies;

struct LaunchConfig {
  /// Groups, and work-items of a group.
  std::array<intptr_t, 3> grid, block;
  /// Dynamic local memory in bytes: of each parameter that is local memory in order, or one size
  /// for all.
  std::vector<size_t> localBytes;
};

/// `arguments[i]` points to the value of the parameter i of those that are not local memory.
/// Asynchronous only if `stream` is given. `hosts` has the blocks that arguments are copies of, if
/// they are, and is told which of them the launch left in the host's memory itself.
void launch(Kernel &kernel, const LaunchConfig &config, Stream *stream, void **arguments,
            size_t argumentCount, HostCopies *hosts = nullptr);

uint64_t launchCount();
/// Waits for the last kernel; 0 before the first.
uint64_t lastKernelNanoseconds();

/// Throws if work of the queue failed.
void finish(cl_command_queue queue);

} // namespace xetile::runtime
#endif

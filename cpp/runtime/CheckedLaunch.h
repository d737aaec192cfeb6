// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedLaunch.h: launches under XETILE_CHECK.
// Input: a launch; output: the same results, and errors of the kernel. Refused: accesses outside of
// arrays, results that depend on the order of subgroups.
#ifndef XETILE_RUNTIME_CHECKEDLAUNCH_H
#define XETILE_RUNTIME_CHECKEDLAUNCH_H

#include "Launch.h"

namespace xetile::runtime {

/// Runs the kernel on its arrays, and again on copies of them, or on the host's own, with
/// workgroups and their subgroups in the other order; `enqueue` runs a kernel with arguments and
/// waits for it. `hosts` may be null.
using Enqueue = void (*)(Kernel &kernel, const LaunchConfig &config, void **arguments,
                         size_t argumentCount, cl_command_queue queue);
void launchChecked(Kernel &kernel, const LaunchConfig &config, void **arguments,
                   size_t argumentCount, HostCopies *hosts, cl_command_queue queue,
                   Enqueue enqueue);

} // namespace xetile::runtime
#endif

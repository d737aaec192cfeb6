// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LaunchRecord.h: what a launch left in a program's own memory.
// Input: a program with a kernel that copies and clears a record; output: the record.
// Refused: a program without that kernel.
#ifndef XETILE_RUNTIME_LAUNCHRECORD_H
#define XETILE_RUNTIME_LAUNCHRECORD_H

#include "OpenCL.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xetile::runtime {

/// Runs `kernel`, which takes a `__global uint *` of `words` words; the queue is idle afterwards.
/// `action` is what failed if it fails.
std::vector<uint32_t> takeRecord(cl_context context, cl_program program, cl_command_queue queue,
                                 const char *kernel, size_t words, const std::string &action);

} // namespace xetile::runtime
#endif

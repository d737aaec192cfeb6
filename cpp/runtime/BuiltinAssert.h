// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinAssert.h: assertions of kernels.
// Input: the imported function that a failed assertion calls; output: OpenCL C that keeps the first
// message, and that message after a launch. Refused: an assertion that failed.
#ifndef XETILE_RUNTIME_BUILTINASSERT_H
#define XETILE_RUNTIME_BUILTINASSERT_H

#include "BuiltinText.h"
#include "OpenCL.h"

#include <string>

namespace xetile::runtime {

/// `__devicelib_assert_fail` of SYCL's and Triton's compilers, and its relatives.
bool isAssertion(const SpirvImport &import);
void addAssertion(BuiltinText &out, const SpirvImport &import);

/// The kernel that `examineAssertions` runs; a program has it if it has assertions.
extern const char *const takeAssertionKernel;

/// After a launch: throws an Error with the message of the first assertion of `kernel` that failed.
/// The queue is idle afterwards.
void examineAssertions(cl_context context, cl_program program, cl_command_queue queue,
                       const std::string &kernel);

} // namespace xetile::runtime
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SurfaceCheck.h: the rules of 2D block messages, for XETILE_CHECK.
// Input: imported 2D block functions; output: OpenCL C that keeps the first message that breaks a
// rule, and the surfaces that there were. Refused: records that tell of a broken rule.
#ifndef XETILE_RUNTIME_SURFACECHECK_H
#define XETILE_RUNTIME_SURFACECHECK_H

#include "BuiltinText.h"
#include "OpenCL.h"

#include <cstdint>
#include <optional>
#include <string>

namespace xetile::runtime {

/// A function of the import's name, which checks and then calls the one of `unchecked`'s name.
void addCheckedBlockIo(BuiltinText &out, const SpirvImport &import, const BlockIo &block,
                       const std::string &unchecked);

extern const char *const takeSurfacesKernel;

/// A 2D block message that breaks a rule, or whose matrix is not all there.
struct BrokenMessage {
  /// "a block of ... : expected ...", for people.
  std::string what, advice;
  uint64_t base;
  uint32_t width, height, pitch, x;
  /// False where any message of the matrix is as wrong.
  bool byX;
};

/// After a launch: the first message that breaks a rule of Intel's GPUs, else a matrix that does
/// not lie within one allocation. The queue is idle afterwards.
std::optional<BrokenMessage> examineSurfaces(cl_context context, cl_program program,
                                             cl_command_queue queue);

} // namespace xetile::runtime
#endif

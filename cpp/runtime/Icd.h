// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Icd.h: which OpenCL platforms there are.
// Input: the system's ICD loader and the places where Intel's CPU driver from PyPI may lie; output:
// platforms. Refused: nothing; a driver that does not load is a line in the description.
#ifndef XETILE_RUNTIME_ICD_H
#define XETILE_RUNTIME_ICD_H

#include "OpenCL.h"

#include <string>
#include <vector>

namespace xetile::runtime {

struct Platforms {
  std::vector<cl_platform_id> ids;
  /// One line per place that was looked at.
  std::string description;
};

/// The system's platforms first, then Intel's CPU platform if a driver library was found and is not
/// among them.
Platforms findPlatforms();

} // namespace xetile::runtime
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WholeGroups.h: kernels whose workgroups are all within bounds, without masks.
// Input: a module as makePortable() leaves it with its ids reversed; output: one that computes the
// same. Refused: nothing; what is not understood stays.
#ifndef XETILE_RUNTIME_WHOLEGROUPS_H
#define XETILE_RUNTIME_WHOLEGROUPS_H

#include <cstdint>
#include <vector>

namespace xetile::runtime {

/// Kernels that begin with a test by which some work-items leave have a second body, for
/// workgroups that none leaves.
std::vector<uint32_t> splitWholeGroups(const std::vector<uint32_t> &spirv);

} // namespace xetile::runtime
#endif

//===- PlanProof.h - run a plan on the message model -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_PLANPROOF_H
#define XETILE_LAYOUT_PLANPROOF_H

#include "xetile/Layout/BlockLoadPlan.h"
#include "xetile/Layout/MessageModel.h"

namespace xetile {

/// A surface, and where the workgroup's tile lies on it: its corner is at memory row `y` and
/// element `x`, and may be outside.
struct ProofPlace {
  int64_t height, width; // memory rows, elements of a memory row
  int64_t y = 0, x = 0;
  unsigned subgroup = 0;
};

/// Applies the plan's messages and register map to a surface of distinct values and compares every
/// register of every lane with what the operand's layout demands, zeros outside the surface
/// included. A store must write each element of the subgroup's part inside the surface once, and
/// nothing else; a prefetch must touch each once. The error names the first difference.
std::optional<Error> provePlan(const PlanRequest &request, const BlockLoadPlan &plan,
                               const ProofPlace &place);

} // namespace xetile

#endif // XETILE_LAYOUT_PLANPROOF_H

//===- TileMessages.cpp - what the compiler asks for each access -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile of one subgroup, of any size. Out: its messages, in the order in which they are made.
// Refused: what no message of the target can bring or take, and more messages than code can hold.
#include "xetile/Layout/TileMessages.h"
#include "llvm/Support/MathExtras.h"

using namespace xetile;
using llvm::Twine;

// Each is an instruction, and prefetched lines of more would replace each other.
static constexpr unsigned maxPrefetchMessages = 1024;

Result<TileMessages> xetile::planTile(const PlanRequest &request) {
  if (!request.target)
    return Error("no target; expected one of " + listTargets());
  PlanRequest part = request;
  uint64_t parts = 1;
  for (unsigned dim : {0, 1}) {
    if (request.shape[dim] == 0)
      return Error("shape[" + Twine(dim) + "] of the tile is 0, expected at least 1");
    part.shape[dim] = request.shape[dim] & -request.shape[dim];
    parts = llvm::SaturatingMultiply(parts, request.shape[dim] / part.shape[dim]);
  }
  Result<BlockLoadPlan> plan =
      request.access == BlockAccess::Prefetch
          ? planBlockPrefetch(*request.target, request.elemBits, part.shape)
          : planBlockAccess(part);
  if (!plan)
    return plan.error();
  unsigned limit = request.access == BlockAccess::Prefetch ? maxPrefetchMessages : maxPlanMessages;
  if (llvm::SaturatingMultiply<uint64_t>(parts, plan->messages.size()) > limit)
    return Error(Twine(request.shape[0]) + "x" + Twine(request.shape[1]) + " elements take " +
                 Twine(parts) + " times " + Twine(plan->messages.size()) +
                 " messages, expected at most " + Twine(limit) +
                 " in all; use more subgroups, a smaller tile, or sides with larger powers of two");
  TileMessages tile{plan->shape, {}};
  for (uint64_t row = 0; row < request.shape[0]; row += part.shape[0])
    for (uint64_t col = 0; col < request.shape[1]; col += part.shape[1])
      for (BlockMessage message : plan->messages) {
        message.row += row;
        message.col += col;
        tile.messages.push_back(message);
      }
  return tile;
}

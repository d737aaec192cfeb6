//===- TileMessages.h - what the compiler asks for each access ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_TILEMESSAGES_H
#define XETILE_LAYOUT_TILEMESSAGES_H

#include "xetile/Layout/BlockLoadPlan.h"

namespace xetile {

/// The messages that one subgroup makes for a tile of its own.
struct TileMessages {
  BlockShape shape;
  llvm::SmallVector<BlockMessage, 8> messages;
};

/// The messages of an access to a tile whose rows are memory rows. Its sides need not be
/// powers of two: the plan of the largest part with such sides that divides it is repeated, row by
/// row of parts. A prefetch takes the whole tile and no operand.
Result<TileMessages> planTile(const PlanRequest &request);

} // namespace xetile

#endif // XETILE_LAYOUT_TILEMESSAGES_H

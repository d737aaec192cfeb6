//===- BlockMessage.h - one 2D block message ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_BLOCKMESSAGE_H
#define XETILE_LAYOUT_BLOCKMESSAGE_H

#include <cstdint>

namespace xetile {

enum class BlockAccess { Load, Store, Prefetch };

/// The shape that all messages of a plan share. `width` and `elemBits` are the message's own: eight
/// 32-bit elements of a transposing load hold sixteen f16.
struct BlockShape {
  unsigned elemBits = 0, width = 0, height = 0, blocks = 1;
  bool transpose = false, transform = false;

  uint64_t bytes() const { return uint64_t(elemBits) / 8 * width * height * blocks; }
  friend bool operator==(const BlockShape &left, const BlockShape &right) {
    return left.elemBits == right.elemBits && left.width == right.width &&
           left.height == right.height && left.blocks == right.blocks &&
           left.transpose == right.transpose && left.transform == right.transform;
  }
};

/// A message at a place of the operand's tile. `row` and `col` are the tile's, in its elements, for
/// a subgroup whose part starts at (0, 0).
struct BlockMessage : BlockShape {
  uint64_t row = 0, col = 0;
};

} // namespace xetile

#endif // XETILE_LAYOUT_BLOCKMESSAGE_H

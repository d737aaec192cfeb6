//===- MemoryBits.h - index bits of lanes and registers in memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operand's layout and a message's are permutations of index bits: they agree on lanes if the
// same memory bits select the lane, and registers then follow bit by bit.
#ifndef XETILE_LAYOUT_MEMORYBITS_H
#define XETILE_LAYOUT_MEMORYBITS_H

#include "xetile/Layout/BlockLoadPlan.h"

namespace xetile {

/// A bit of a place in memory: bit i of element x is i, bit i of memory row y is `yBit` + i.
using MemoryBit = uint8_t;
constexpr MemoryBit yBit = 32;

/// Memory bits, lowest register (lane) bit first.
struct MemoryBits {
  llvm::SmallVector<MemoryBit, 24> registers;
  llvm::SmallVector<MemoryBit, 8> lanes;
};

/// Of an operand's layout. Every basis is a step along one dimension.
MemoryBits operandBits(const LinearLayout &operand, unsigned contiguousDim);
/// Of a message on elements of `elemBits` bits; sizes are powers of two.
MemoryBits messageBits(const BlockShape &shape, unsigned elemBits);

/// The lowest bits of x and of y that a subgroup owns without gaps.
struct Extent {
  unsigned x, y;
};
Extent contiguousExtent(const MemoryBits &bits);
/// Of one DPAS operand.
Extent tileExtent(const PlanRequest &request);
/// Of a message.
Extent messageExtent(const BlockShape &shape, unsigned elemBits);

} // namespace xetile

#endif // XETILE_LAYOUT_MEMORYBITS_H

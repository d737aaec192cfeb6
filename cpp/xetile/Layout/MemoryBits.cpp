//===- MemoryBits.cpp - index bits of lanes and registers in memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an operand's layout, or a message's shape. Out: which bit of x or y each index bit selects.
// Refused: nothing; callers give powers of two and layouts whose bases are single bits.
#include "xetile/Layout/MemoryBits.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

namespace {

constexpr unsigned laneBits = 4; // subgroups of 16, as 2D block messages need them

} // namespace

MemoryBits xetile::operandBits(const LinearLayout &operand, unsigned contiguousDim) {
  unsigned rowBits = operand.outs()[0].bits;
  auto convert = [&](uint64_t basis) -> MemoryBit {
    unsigned bit = llvm::countr_zero(basis);
    unsigned dim = bit < rowBits ? 0 : 1;
    return (dim == contiguousDim ? 0 : yBit) + (dim ? bit - rowBits : bit);
  };
  MemoryBits bits;
  for (uint64_t basis : operand.packedBases("register"))
    bits.registers.push_back(convert(basis));
  for (uint64_t basis : operand.packedBases("lane"))
    bits.lanes.push_back(convert(basis));
  return bits;
}

MemoryBits xetile::messageBits(const BlockShape &shape, unsigned elemBits) {
  unsigned pack = llvm::Log2_32(shape.elemBits / elemBits);
  unsigned width = llvm::Log2_32(shape.width), height = llvm::Log2_32(shape.height);
  MemoryBits bits;
  auto append = [](auto &list, unsigned base, unsigned from, unsigned to) {
    for (unsigned bit = from; bit < to; ++bit)
      list.push_back(base + bit);
  };
  append(bits.registers, 0, 0, pack);
  unsigned xEnd = pack + width;
  if (shape.transpose) {
    unsigned fromY = std::min(height, laneBits), fromX = std::min(width, laneBits - fromY);
    append(bits.lanes, yBit, 0, fromY);
    append(bits.registers, yBit, fromY, height);
    append(bits.lanes, 0, pack, pack + fromX);
    append(bits.registers, 0, pack + fromX, xEnd);
  } else {
    // A transforming load has width 16: its lanes' arrays are those of a plain one.
    unsigned fromX = std::min(width, laneBits), fromY = std::min(height, laneBits - fromX);
    append(bits.registers, 0, pack, xEnd - fromX);
    append(bits.lanes, 0, xEnd - fromX, xEnd);
    append(bits.lanes, yBit, 0, fromY);
    append(bits.registers, yBit, fromY, height);
  }
  append(bits.registers, 0, xEnd, xEnd + llvm::Log2_32(shape.blocks));
  return bits;
}

Extent xetile::contiguousExtent(const MemoryBits &bits) {
  uint64_t owned = 0;
  for (MemoryBit bit : bits.registers)
    owned |= uint64_t(1) << bit;
  for (MemoryBit bit : bits.lanes)
    owned |= uint64_t(1) << bit;
  return {unsigned(llvm::countr_one(uint32_t(owned))),
          unsigned(llvm::countr_one(uint32_t(owned >> yBit)))};
}

Extent xetile::tileExtent(const PlanRequest &request) {
  Shape2D tile = instructionShape(request.dpas, request.operand);
  return {llvm::Log2_64(tile[request.contiguousDim]),
          llvm::Log2_64(tile[1 - request.contiguousDim])};
}

Extent xetile::messageExtent(const BlockShape &shape, unsigned elemBits) {
  return {llvm::Log2_32(shape.elemBits / elemBits * shape.width * shape.blocks),
          llvm::Log2_32(shape.height)};
}

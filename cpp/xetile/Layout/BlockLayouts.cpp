//===- BlockLayouts.cpp - how a plan grows from the DPAS tile ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a plan. Out: its layouts of one tile, of one message (iterations) and of all (loads), and
// what it takes for granted of the surface. Refused: nothing that a plan can hold.
#include "xetile/Layout/MemoryBits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;
using llvm::Twine;

Result<BlockLayouts> xetile::blockLayouts(const PlanRequest &request, const BlockLoadPlan &plan) {
  // Bits of x and y that lie inside one element of the output.
  unsigned packX = llvm::Log2_32(plan.shape.elemBits / request.elemBits);
  unsigned packY = plan.shape.transform ? llvm::Log2_32(32 / plan.shape.elemBits) : 0;
  MemoryBits operand = operandBits(plan.operand, request.contiguousDim);
  Extent message = messageExtent(plan.shape, request.elemBits), tile = tileExtent(request);
  // A store may take less than a DPAS operand; an element of the message may hold more than one
  // operand (A with one row, transposed).
  tile = {std::clamp(tile.x, packX, message.x), std::clamp(tile.y, packY, message.y)};

  auto place = [&](MemoryBit bit) -> LinearLayout::Coordinates {
    if (bit >= yBit)
      return {uint64_t(1) << (bit - yBit - packY), 0};
    return {0, uint64_t(1) << (bit - packX)};
  };
  auto within = [](MemoryBit bit, Extent extent) {
    return bit >= yBit ? bit - yBit < extent.y : bit < extent.x;
  };
  LinearLayout::Input offset = {"offset", {}}, iteration = {"iteration", {}}, load = {"load", {}};
  for (unsigned bit = packX; bit < tile.x; ++bit)
    offset.bases.push_back(place(bit));
  for (unsigned bit = packY; bit < tile.y; ++bit)
    offset.bases.push_back(place(yBit + bit));
  for (const auto &list : {llvm::ArrayRef<MemoryBit>(operand.registers), {operand.lanes}})
    for (MemoryBit bit : list) {
      if (within(bit, tile))
        continue;
      (within(bit, message) ? iteration : load).bases.push_back(place(bit));
    }

  auto create = [&](llvm::ArrayRef<LinearLayout::Input> ins, unsigned yBits, unsigned xBits,
                    bool surjective) {
    return LinearLayout::create(
        ins, {{"dim0", uint64_t(1) << (yBits - packY)}, {"dim1", uint64_t(1) << (xBits - packX)}},
        surjective);
  };
  // A single load leaves the outputs as they are; several reach into the workgroup's tile, which
  // other subgroups share.
  Extent whole = message;
  if (!load.bases.empty())
    whole = {llvm::Log2_64(request.shape[request.contiguousDim]),
             llvm::Log2_64(request.shape[1 - request.contiguousDim])};
  Result<LinearLayout> tiles = create({offset}, tile.y, tile.x, true);
  if (!tiles)
    return tiles.error();
  Result<LinearLayout> iterations = create({offset, iteration}, message.y, message.x, true);
  if (!iterations)
    return iterations.error();
  Result<LinearLayout> loads = create({offset, iteration, load}, whole.y, whole.x, false);
  if (!loads)
    return loads.error();
  return BlockLayouts{*std::move(tiles), *std::move(iterations), *std::move(loads)};
}

llvm::SmallVector<std::string> xetile::surfaceAssumptions(const PlanRequest &request,
                                                          const BlockLoadPlan &plan) {
  const SurfaceFacts &facts = request.surface;
  const SurfaceLimits &limits = request.target->surface;
  llvm::SmallVector<std::string> result;
  auto add = [&](const Twine &text) { result.push_back(text.str()); };
  unsigned elemBytes = std::max(4u, plan.shape.elemBits / 8);
  if (!facts.baseAlign)
    add("base is a multiple of " + Twine(limits.baseAlign) + " bytes");
  if (!facts.width)
    add("width is " + Twine(limits.minWidthBytes) + " to " + Twine(limits.maxExtent) +
        " bytes, a multiple of " + Twine(elemBytes));
  if (!facts.pitch)
    add("pitch is at least the width, at most " + Twine(limits.maxExtent) +
        " bytes, a multiple of " + Twine(limits.pitchMultiple));
  if (!facts.height)
    add("height is 1 to " + Twine(limits.maxExtent) + " memory rows");
  unsigned pack = plan.shape.elemBits / request.elemBits;
  // The smallest x that the message may start at.
  unsigned step = 1;
  while (request.target->checkXOffset(plan.shape.elemBits, step))
    ++step;
  if (!facts.xMultiple && step * pack > 1)
    add("the tile starts at a multiple of " + Twine(step * pack) + " elements of a memory row");
  return result;
}

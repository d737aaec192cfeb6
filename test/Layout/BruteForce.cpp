//===- BruteForce.cpp - the fewest messages, by trying all --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an operand in memory. Out: the fewest messages of one shape that bring each lane its own
// elements, found by running every legal message on the model. Refused: nothing.
#include "Test.h"
#include "xetile/Layout/MessageModel.h"
#include <vector>

using namespace xetile;
using namespace xetile::test;

std::optional<uint64_t> xetile::test::fewestMessages(const PlanRequest &request,
                                                     const LinearLayout &operand) {
  uint64_t registers = operand.inSize("register"), lanes = operand.inSize("lane");
  Shape2D tile = instructionShape(request.dpas, request.operand);
  int64_t tileX = tile[request.contiguousDim], tileY = tile[1 - request.contiguousDim];
  bool prefetch = request.access == BlockAccess::Prefetch;
  // The lane that wants an element of memory for the first subgroup; -1 where it wants none.
  int64_t rows = request.shape[1 - request.contiguousDim],
          columns = request.shape[request.contiguousDim];
  std::vector<int8_t> wanted(rows * columns, -1);
  for (uint64_t lane = 0; lane < lanes; ++lane)
    for (uint64_t reg = 0; reg < registers; ++reg) {
      auto at = operand.unpackOut(operand.apply(reg + registers * lane));
      wanted[at[1 - request.contiguousDim] * columns + at[request.contiguousDim]] = lane;
    }
  auto laneOf = [&](int64_t y, int64_t x) {
    return y < rows && x < columns ? wanted[y * columns + x] : -1;
  };
  auto suits = [&](const BlockShape &shape) {
    int64_t pack = shape.elemBits / request.elemBits;
    int64_t width = int64_t(shape.width) * shape.blocks * pack, height = shape.height;
    if (request.oneMatrixPerLoad && (width > tileX || height > tileY))
      return false;
    // The far corners first: they tell at once if the message is too large.
    if (laneOf(height - 1, width - 1) < 0)
      return false;
    if (prefetch) {
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          if (laneOf(y, x) < 0)
            return false;
      return true;
    }
    Result<LaneArrays> arrays =
        modelLoad(shape, {request.elemBits, height, width}, 0, 0,
                  [&](int64_t y, int64_t x) { return uint32_t(y * width + x); });
    if (!arrays)
      return false;
    for (unsigned lane = 0; lane < modelLanes; ++lane)
      for (unsigned reg = 0; reg < arrays->perLane; ++reg) {
        uint32_t cell = arrays->at(lane, reg);
        if (laneOf(cell / width, cell % width) != int(lane))
          return false;
      }
    return true;
  };
  const TargetInfo &target = *request.target;
  std::optional<uint64_t> fewest;
  for (unsigned elemBits : {8, 16, 32, 64})
    for (unsigned width = 1; width <= 64; width *= 2)
      for (unsigned height = 1; height <= 32; height *= 2)
        for (unsigned blocks : {1, 2, 4})
          for (bool transpose : {false, true})
            for (bool transform : {false, true}) {
              bool load = request.access == BlockAccess::Load;
              if (elemBits < request.elemBits || (!load && (transpose || transform)))
                continue;
              BlockShape shape = {elemBits, width, height, blocks, transpose, transform};
              uint64_t count = registers * lanes * request.elemBits / 8 / shape.bytes();
              if (!count || (fewest && count >= *fewest))
                continue;
              auto illegal = load ? target.check2DBlockLoad(elemBits, width, height, blocks,
                                                            transpose, transform)
                             : prefetch
                                 ? target.check2DBlockPrefetch(elemBits, width, height, blocks)
                             : blocks > 1 ? std::optional<std::string>("stores have one block")
                                          : target.check2DBlockStore(elemBits, width, height);
              if (!illegal && suits(shape))
                fewest = count;
            }
  return fewest;
}

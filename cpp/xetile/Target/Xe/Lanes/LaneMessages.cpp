//===- LaneMessages.cpp - 2D block messages between memory and lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile, the vector that it is loaded to (stored from), the vector's lanes. Out: the fewest
// messages that only need registers renamed, checked element by element against the message model.
// Refused: nothing; where no message does, the caller has each lane load its elements.
#include "xetile/Target/Xe/Lanes/LaneMessages.h"
#include "xetile/Layout/MessageModel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

struct Candidate {
  BlockShape shape;
  int64_t number;
  bool otherRegisters;
  size_t order; // in which it was listed
};

/// Widths that OpenCL's builtins are known to have; stores in the verifier of XeVM, too.
bool hasBuiltin(unsigned elemBits, unsigned width, bool transpose, bool store) {
  if (elemBits > 32)
    return false;
  if (transpose)
    return elemBits == 32;
  return width == 16 || (elemBits == 8 && width == 32) || (elemBits == 32 && width == 8 && !store);
}

/// Whole messages of one shape that tile a rectangle of `rows` and `columns` elements.
SmallVector<Candidate> listCandidates(const TargetInfo &target, const MessageRequest &request,
                                      unsigned bits, int64_t rows, int64_t columns) {
  SmallVector<Candidate> candidates;
  auto consider = [&](unsigned elemBits, bool transpose, bool transform) {
    if (elemBits < bits || elemBits % bits)
      return;
    int64_t pack = elemBits / bits;
    for (unsigned height = 1; height <= 32; height *= 2)
      for (unsigned width = 1; width <= 64; width *= 2)
        for (unsigned blocks : {1, 2, 4}) {
          if (rows % height || columns % (int64_t(width) * blocks * pack))
            continue;
          if (uint64_t(width) * height % modelLanes)
            continue;
          bool store = request.access == BlockAccess::Store;
          if (!hasBuiltin(elemBits, width, transpose, store))
            continue;
          if (store ? blocks != 1 || target.check2DBlockStore(elemBits, width, height).has_value()
                    : target.check2DBlockLoad(elemBits, width, height, blocks, transpose, transform)
                          .has_value())
            continue;
          Candidate candidate;
          candidate.shape.elemBits = elemBits;
          candidate.shape.width = width;
          candidate.shape.height = height;
          candidate.shape.blocks = blocks;
          candidate.shape.transpose = transpose;
          candidate.shape.transform = transform;
          candidate.number = rows / height * (columns / (int64_t(width) * blocks * pack));
          candidate.otherRegisters = transform != request.inDwords;
          candidate.order = candidates.size();
          candidates.push_back(candidate);
        }
  };
  unsigned least = std::max(bits, 8u);
  consider(least, false, false);
  if (request.access == BlockAccess::Load) {
    if (bits == 8 || bits == 16)
      consider(bits, false, true);
    consider(32, true, false);
  }
  llvm::sort(candidates, [](const Candidate &left, const Candidate &right) {
    return std::tuple(left.number, left.otherRegisters, left.order) <
           std::tuple(right.number, right.otherRegisters, right.order);
  });
  return candidates;
}

} // namespace

const LaneMessages *MessagePlanner::plan(const MessageRequest &request) {
  auto [entry, isNew] = known.try_emplace(request.key());
  if (isNew)
    entry->second = find(request);
  return entry->second ? &*entry->second : nullptr;
}

/// For each place of the messages' arrays the register that holds its cell in every lane, or false.
static bool findStored(LaneMessages &plan, const LaneArrays &arrays, const LaneTable &table,
                       ArrayRef<int64_t> elementOf, int64_t columns) {
  for (auto [row, column] : plan.corners)
    for (unsigned reg = 0; reg < plan.perLane; ++reg) {
      int found = -1;
      for (unsigned lane = 0; lane < modelLanes; ++lane) {
        int64_t cell = arrays.at(lane, reg) + row * columns + column;
        int here = table.find(elementOf[cell], lane);
        if (here < 0 || (lane > 0 && here != found))
          return false;
        found = here;
      }
      plan.source.push_back(found);
    }
  return true;
}

/// For each register the place of the messages' arrays that brings it to every lane, or false.
static bool findLoaded(LaneMessages &plan, const LaneArrays &arrays, const LaneTable &table,
                       ArrayRef<int64_t> cellOf, int64_t columns) {
  // Which place of which lane brings each cell.
  std::vector<unsigned> placeOf(cellOf.size()), laneOf(cellOf.size());
  for (auto [m, corner] : llvm::enumerate(plan.corners))
    for (unsigned lane = 0; lane < modelLanes; ++lane)
      for (unsigned reg = 0; reg < plan.perLane; ++reg) {
        int64_t cell = arrays.at(lane, reg) + corner[0] * columns + corner[1];
        placeOf[cell] = m * plan.perLane + reg;
        laneOf[cell] = lane;
      }
  for (unsigned flat = 0; flat < table.flatRegisters(); ++flat) {
    unsigned place = placeOf[cellOf[table.row(flat)[0]]];
    for (auto [lane, element] : llvm::enumerate(table.row(flat)))
      if (laneOf[cellOf[element]] != lane || placeOf[cellOf[element]] != place)
        return false;
    plan.source.push_back(place);
  }
  return true;
}

std::optional<LaneMessages> MessagePlanner::find(const MessageRequest &request) const {
  auto tile = request.tile;
  unsigned bits = memoryBits(tile.getElementType());
  if (!target.has2DBlock || tile.getRank() != 2 || tile.isScattered() ||
      tile.getMemorySpace() != xegpu::MemorySpace::Global || (bits != 4 && bits < 8))
    return std::nullopt;
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1) * tile.getArrayLength();
  ArrayRef<int64_t> shape = request.vector.getShape();
  LaneTable table(LaneMap(request.lanes), shape, modelLanes);

  size_t count = size_t(rows) * columns;
  if (size_t(request.vector.getNumElements()) != count)
    return std::nullopt;
  std::vector<int64_t> cellOf(count), elementOf(count);
  for (size_t element = 0; element < count; ++element) {
    auto [row, column] =
        cellInTile(request.vector, tile, request.transpose, request.packed, element);
    cellOf[element] = row * columns + column;
    elementOf[cellOf[element]] = element;
  }

  std::optional<LaneMessages> best;
  unsigned bestCuts = 0;
  for (const Candidate &candidate : listCandidates(target, request, bits, rows, columns)) {
    if (best && candidate.number > int64_t(best->corners.size()))
      break;
    const BlockShape &message = candidate.shape;
    int64_t pack = message.elemBits / bits, width = int64_t(message.width) * message.blocks * pack;
    Result<LaneArrays> arrays =
        modelLoad(message, {bits, rows, columns}, 0, 0,
                  [&](int64_t y, int64_t x) { return uint32_t(y * columns + x); });
    if (!arrays)
      continue;
    LaneMessages plan;
    plan.shape = message;
    plan.perLane = arrays->perLane;
    for (int64_t row = 0; row < rows; row += message.height)
      for (int64_t column = 0; column < columns; column += width)
        plan.corners.push_back({row, column});
    if (!(request.access == BlockAccess::Store
              ? findStored(plan, *arrays, table, elementOf, columns)
              : findLoaded(plan, *arrays, table, cellOf, columns)))
      continue;
    // Places that do not follow one another.
    unsigned cuts = candidate.otherRegisters;
    for (unsigned i = 1; i < plan.source.size(); ++i)
      if (i % table.registers)
        cuts += plan.source[i] != plan.source[i - 1] + 1;
    if (!best || cuts < bestCuts) {
      best = std::move(plan);
      bestCuts = cuts;
    }
    if (bestCuts == 0)
      break;
  }
  return best;
}

std::optional<LaneMessages> MessagePlanner::planPrefetch(xegpu::TensorDescType tile) const {
  unsigned bits = memoryBits(tile.getElementType()), unit = std::max(bits, 8u);
  if (!target.has2DBlock || tile.getRank() != 2 ||
      tile.getMemorySpace() != xegpu::MemorySpace::Global)
    return std::nullopt;
  int64_t rows = tile.getDimSize(0), width = tile.getDimSize(1), blocks = tile.getArrayLength();
  // As it is, or what covers the tile: what hangs over does no harm. Upstream's op takes powers of
  // two only.
  LaneMessages plan;
  plan.shape.elemBits = unit;
  int64_t pack = unit / bits;
  if (llvm::isPowerOf2_64(rows) && llvm::isPowerOf2_64(width) && width % pack == 0 &&
      !target.check2DBlockPrefetch(unit, width / pack, rows, blocks).has_value()) {
    plan.shape.width = width / pack;
    plan.shape.height = rows;
    plan.shape.blocks = blocks;
    plan.corners.push_back({0, 0});
    return plan;
  }
  width *= blocks;
  int64_t best = 0;
  for (unsigned height = 1; height <= 32; height *= 2)
    for (unsigned columns = 1; columns <= 64; columns *= 2) {
      if (target.check2DBlockPrefetch(unit, columns, height, 1).has_value())
        continue;
      int64_t number = llvm::divideCeil(rows, height) * llvm::divideCeil(width, columns * pack);
      if (best && number >= best)
        continue;
      best = number;
      plan.shape.width = columns;
      plan.shape.height = height;
      plan.shape.blocks = 1;
    }
  if (!best)
    return std::nullopt;
  for (int64_t row = 0; row < rows; row += plan.shape.height)
    for (int64_t column = 0; column < width; column += plan.shape.width * pack)
      plan.corners.push_back({row, column});
  return plan;
}

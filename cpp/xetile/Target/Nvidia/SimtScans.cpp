//===- SimtScans.cpp - scans of what threads have ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: chunks of a vector, a scan along its rows, what the rows start from. Out: each element
// combined with those before it, and what the rows end with, in all threads of a row: one after the
// other in a chunk, by shuffles within a warp, and through shared memory between warps. Refused:
// nothing; SimtPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/SimtWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kWarp = 32;

/// Chunks of a row, in order: as many of a thread as fit no row of the workgroup's threads, those
/// of `threads` of them side by side each, in `warps` warps where these are several.
struct SimtWriter::ScanShape {
  int64_t threads, ofThread, warps;

  explicit ScanShape(const SimtPlan &plan)
      : threads(std::min(plan.chunksOfRow(), plan.threads)), ofThread(plan.chunksOfRow() / threads),
        warps(std::max<int64_t>(threads / kWarp, 1)) {}
  /// Of a row, what warps have together of each chunk of a thread.
  int64_t parts() const { return ofThread * warps; }
  int64_t lanes() const { return std::min(threads, kWarp); }
};

int64_t hopper::scanBytes(const SimtPlan &plan, vector::ScanOp scan) {
  int64_t warps = std::max<int64_t>(plan.threads / kWarp, 1);
  unsigned bits = scan.getSourceType().getElementTypeBitWidth();
  return plan.chunksOfRow() <= kWarp ? 0 : plan.chunks() * warps * std::max<int64_t>(bits / 8, 1);
}

/// The value of the lane `distance` before, or of a lane whose number `distance` is.
Value SimtWriter::fromLane(Value value, Value lane, NVVM::ShflKind how) {
  // Lanes that have none before them keep their own.
  Value bound = number(how == NVVM::ShflKind::up ? 0 : kWarp - 1);
  return part(inWords(pack({value}),
                      [&](Value word) -> Value {
                        return NVVM::ShflOp::create(b, word.getType(), number(-1), word, lane,
                                                    bound, how, UnitAttr());
                      }),
              0);
}

/// Of groups of so many lanes side by side: each combined with those before it in its group.
Value SimtWriter::scanLanes(Value value, int64_t lanes) {
  Value lane = bitAnd(thread, lanes - 1);
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    Value all = combine(fromLane(value, number(distance), NVVM::ShflKind::up), value);
    value = select(isBelow(lane, number(distance)), value, all);
  }
  return value;
}

/// The prefix of each of a row's parts, and then the result of the whole row. `totals`: of this
/// thread's chunks of the row, those of its lane and the ones before it, of which `first` is the
/// number.
SmallVector<Value> SimtWriter::beforeParts(ArrayRef<Value> totals, size_t first, Value start,
                                           const ScanShape &shape) {
  int64_t last = shape.lanes() - 1;
  auto lastOf = [&](Value value) {
    Value lane = bitAnd(thread, (kWarp - 1) & ~last);
    return fromLane(value, add(lane, last), NVVM::ShflKind::idx);
  };
  SmallVector<Value> before;
  if (shape.warps == 1) {
    for (Value total : totals) {
      before.push_back(start);
      start = combine(start, lastOf(total));
    }
    before.push_back(start);
    return before;
  }
  // All warps scan what all have written; it is less than to wait for one of them.
  Type element = start.getType();
  auto one = VectorType::get({1}, element);
  int64_t ofChunk = plan.threads / kWarp,
          bytes = std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Value warp = shiftRight(thread, 5), lane = bitAnd(thread, kWarp - 1);
  Value base = add(bitAnd(warp, ~(shape.warps - 1)), int64_t(first) * ofChunk);
  int64_t parts = shape.parts(), group = std::min(parts, kWarp);
  SmallVector<Value> shifted;
  for (int64_t from = 0; from < parts; from += group) {
    Value at = add(add(base, bitAnd(lane, group - 1)), from);
    Value own = LLVM::LoadOp::create(b, element, placeInShared(at, one), unsigned(bytes));
    own = combine(start, scanLanes(own, group));
    Value earlier = fromLane(own, number(1), NVVM::ShflKind::up);
    shifted.push_back(select(isEqual(bitAnd(lane, group - 1), number(0)), start, earlier));
    start = fromLane(own, number(group - 1), NVVM::ShflKind::idx);
  }
  Value ofRow = bitAnd(warp, shape.warps - 1);
  for (int64_t chunk = 0; chunk < shape.ofThread; ++chunk) {
    int64_t place = chunk * shape.warps;
    before.push_back(
        fromLane(shifted[size_t(place / group)], add(ofRow, place % group), NVVM::ShflKind::idx));
  }
  before.push_back(start);
  return before;
}

void SimtWriter::scan(vector::ScanOp scan) {
  kind = scan.getKind();
  Chunks own = chunksOf(scan.getSource()), starts = chunksOf(scan.getInitialValue());
  ScanShape shape(plan);
  SmallVector<SmallVector<Value>> prefixes;
  SmallVector<Value> totals, exclusive;
  Value lane = bitAnd(thread, shape.lanes() - 1);
  for (Value chunk : own) {
    Value all;
    SmallVector<Value> &prefix = prefixes.emplace_back();
    for (int64_t at = 0; at < plan.width; ++at)
      prefix.push_back(all = combine(all, part(chunk, at)));
    totals.push_back(scanLanes(all, shape.lanes()));
    exclusive.push_back(
        shape.lanes() == 1 ? Value() : fromLane(totals.back(), number(1), NVVM::ShflKind::up));
  }
  if (shape.warps > 1) {
    auto one = VectorType::get({1}, totals.front().getType());
    NVVM::Barrier0Op::create(b);
    onlyIf(isEqual(bitAnd(thread, kWarp - 1), number(kWarp - 1)), [&] {
      for (auto [chunk, total] : llvm::enumerate(totals)) {
        Value at = add(shiftRight(thread, 5), int64_t(chunk) * (plan.threads / kWarp));
        LLVM::StoreOp::create(
            b, total, placeInShared(at, one),
            unsigned(std::max<int64_t>(total.getType().getIntOrFloatBitWidth() / 8, 1)));
      }
    });
    NVVM::Barrier0Op::create(b);
  }
  Chunks made, ends;
  auto ofThread = size_t(shape.ofThread);
  for (size_t first = 0; first < own.size(); first += ofThread) {
    SmallVector<Value> before =
        beforeParts(ArrayRef(totals).slice(first, ofThread), first, part(starts[first], 0), shape);
    for (size_t chunk = first; chunk < first + ofThread; ++chunk) {
      Value from = before[chunk - first];
      if (exclusive[chunk])
        from = select(isEqual(lane, number(0)), from, combine(from, exclusive[chunk]));
      SmallVector<Value> elements;
      for (Value prefix : prefixes[chunk])
        elements.push_back(combine(from, prefix));
      made.push_back(pack(elements));
      ends.push_back(splat(before.back()));
    }
  }
  held[scan.getDest()] = made;
  held[scan.getAccumulatedValue()] = ends;
}

//===- LaneMap.h - what each lane holds of a vector --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector of any shape is a grid of blocks with sides that are powers of two. Within a block the
// place of an element is a linear function of the bits of register and lane; the blocks follow one
// another in row-major order. Each lane holds a block as one flat vector, a piece.
#ifndef XETILE_TARGET_XE_LANES_LANEMAP_H
#define XETILE_TARGET_XE_LANES_LANEMAP_H

#include "xetile/IR/XeTileAttrs.h"
#include "xetile/Layout/LinearLayout.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <optional>
#include <vector>

namespace xetile {

/// The block, and the steps within it that the bits of the register and of the lane stand for,
/// lowest bit first. A lane bit without a step (zeros): lanes that hold the same.
struct LaneMap {
  using Shape = llvm::SmallVector<int64_t, 4>;
  using Steps = llvm::SmallVector<Shape, 8>;

  Shape block;
  Steps registers, lanes;

  LaneMap() = default;
  explicit LaneMap(LaneLayoutAttr attr);
  LaneLayoutAttr attr(mlir::MLIRContext *context) const;
  /// Of a layout from register and lane to dimensions.
  explicit LaneMap(const LinearLayout &layout);
  Result<LinearLayout> linearLayout() const;

  unsigned rank() const { return block.size(); }
  int64_t numRegisters() const { return int64_t(1) << registers.size(); }

  /// The first violation as the map of a vector of `shape`, or nothing: sides that divide the
  /// shape, every element of the block held, and by one register of a lane.
  std::optional<std::string> check(llvm::ArrayRef<int64_t> shape, unsigned subgroupSize) const;

  /// True if the block tiles a vector of `shape`: it has its rank, and sides that divide it.
  bool fits(llvm::ArrayRef<int64_t> shape) const;

  // Maps of one value from those of another. Where none follows: nothing.

  /// Result dimension i is dimension permutation[i] of this.
  LaneMap transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// Without the dimensions that `drop` marks: their registers go, their lanes hold the same.
  LaneMap dropped(llvm::ArrayRef<bool> drop) const;
  /// As `dropped`, but the dimensions stay, of size 1.
  LaneMap flattened(llvm::ArrayRef<bool> flat) const;
  /// `count` dimensions of block 1 in front.
  LaneMap prepended(unsigned count) const;
  /// Of a vector of `from` repeated to one of `to`: lanes that hold the same take different copies.
  LaneMap broadcast(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) const;
  /// For a vector of `shape`: the block is cut down to sides that divide it.
  LaneMap trimmed(llvm::ArrayRef<int64_t> shape) const;
  /// The last dimension is cut in `factor` neighbours, which are in one lane.
  LaneMap split(unsigned factor) const;
  /// `factor` neighbours along the last dimension become one.
  std::optional<LaneMap> joined(unsigned factor) const;
  /// The same elements in row-major order, as another shape.
  std::optional<LaneMap> reshaped(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) const;

  /// Every lane holds all, in row-major order.
  static LaneMap uniform(llvm::ArrayRef<int64_t> shape, unsigned subgroupSize);
  /// Lanes along the last dimension first, then registers along the one before it: what block
  /// messages bring, and where nobody asks for another.
  static LaneMap natural(llvm::ArrayRef<int64_t> shape, unsigned subgroupSize);

private:
  void addMissingSteps();
};

/// A map and a shape, element by element.
class LaneTable {
public:
  LaneTable(const LaneMap &map, llvm::ArrayRef<int64_t> shape, unsigned subgroupSize);

  unsigned pieces, registers, lanes;
  /// The element, row-major, in a register of a lane.
  int64_t at(unsigned piece, unsigned reg, unsigned lane) const {
    return elements[(size_t(piece) * registers + reg) * lanes + lane];
  }
  /// A row per register of all pieces.
  llvm::ArrayRef<int64_t> row(unsigned flatRegister) const {
    return llvm::ArrayRef(elements).slice(size_t(flatRegister) * lanes, lanes);
  }
  unsigned flatRegisters() const { return pieces * registers; }
  size_t numElements() const { return laneOf.size(); }
  /// The first register (of all pieces) of `lane` that holds the element, or -1.
  int find(int64_t element, unsigned lane) const {
    return registerOf[size_t(element) * lanes + lane];
  }
  /// A lane that holds it.
  unsigned someLane(int64_t element) const { return laneOf[size_t(element)]; }
  /// Every lane holds every element.
  bool isUniform() const;

private:
  std::vector<int64_t> elements;
  std::vector<int> registerOf;
  std::vector<unsigned> laneOf;
};

/// Coordinates of a row-major index.
LaneMap::Shape unravel(int64_t index, llvm::ArrayRef<int64_t> shape);
int64_t ravel(llvm::ArrayRef<int64_t> place, llvm::ArrayRef<int64_t> shape);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEMAP_H

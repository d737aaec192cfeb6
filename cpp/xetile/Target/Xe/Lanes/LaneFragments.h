//===- LaneFragments.h - what each lane holds instead of a value -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A vector becomes one flat vector a block (a piece), a descriptor the values that it is made of.
#ifndef XETILE_TARGET_XE_LANES_LANEFRAGMENTS_H
#define XETILE_TARGET_XE_LANES_LANEFRAGMENTS_H

#include "xetile/Target/Xe/Lanes/LaneBuilder.h"
#include "xetile/Target/Xe/Lanes/LaneRules.h"
#include "llvm/Support/Allocator.h"
#include <map>

namespace xetile {

/// Pieces of a vector, and which element each register of each lane is.
struct LaneSource {
  llvm::ArrayRef<mlir::Value> pieces;
  const LaneTable &table;
};

/// From values of the subgroup to those of a lane, in a function.
class LaneFragments {
public:
  explicit LaneFragments(unsigned lanes) : lanes(lanes) {}

  /// True for types that are cut into pieces: vectors and descriptors.
  static bool isCut(mlir::Type type);
  /// The type of an element in registers.
  static mlir::Type storedType(mlir::Type element);

  LaneLayoutAttr layoutOf(mlir::Value value);
  void setLayout(mlir::Value value, LaneLayoutAttr layout) { layouts[value] = layout; }
  const LaneTable &tableOf(mlir::Value value);
  const LaneTable &tableFor(LaneLayoutAttr layout, llvm::ArrayRef<int64_t> shape);
  /// The flat vector that a lane holds of a block.
  mlir::VectorType pieceType(mlir::Value value);
  /// The types that a value of a region or function is replaced by.
  llvm::SmallVector<mlir::Type> typesOf(mlir::Value value);

  void define(mlir::Value value, llvm::ArrayRef<mlir::Value> made) {
    pieces[value] = made.copy(storage);
  }
  /// A value that is cut has these; one that is not is replaced by the only one.
  void defineOrReplace(mlir::Value value, llvm::ArrayRef<mlir::Value> made);
  /// Valid until `clear`.
  llvm::ArrayRef<mlir::Value> piecesOf(mlir::Value value) const { return pieces.lookup(value); }
  LaneSource sourceOf(mlir::Value value) { return {piecesOf(value), tableOf(value)}; }
  Values flatten(mlir::ValueRange values) const;
  /// Dimensions of the memory that a descriptor describes.
  unsigned rankOf(mlir::Value descriptor) const { return ranks.lookup(descriptor); }
  void setRank(mlir::Value descriptor, unsigned rank) { ranks[descriptor] = rank; }

  /// Arguments of `block` for the pieces of those that it has, which stay: what is kept here is
  /// keyed by them.
  void cutArguments(mlir::Block &block, llvm::ArrayRef<llvm::SmallVector<mlir::Type>> types);
  void clear();

private:
  unsigned lanes;
  llvm::BumpPtrAllocator storage;
  llvm::DenseMap<mlir::Value, llvm::ArrayRef<mlir::Value>> pieces;
  llvm::DenseMap<mlir::Value, unsigned> ranks;
  llvm::DenseMap<mlir::Value, LaneLayoutAttr> layouts;
  std::map<std::pair<const void *, std::vector<int64_t>>, std::unique_ptr<LaneTable>> tables;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEFRAGMENTS_H

//===- TileSizes.h - sizes that a run knows ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_TILESIZES_H
#define XETILE_SCHEDULE_TILES_TILESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <map>

namespace xetile::transform_ops {

/// How many elements a dimension has: a number, or a value that a run has before the kernel.
struct Extent {
  int64_t number = 1;
  mlir::Value value; // null for numbers

  Extent() = default;
  Extent(int64_t number) : number(number) {} // NOLINT: numbers are extents
  explicit Extent(mlir::Value value) : number(mlir::ShapedType::kDynamic), value(value) {}

  bool isKnown() const { return !mlir::ShapedType::isDynamic(number); }
  bool is(int64_t other) const { return number == other; }
  bool operator==(const Extent &other) const {
    return number == other.number && value == other.value;
  }
  /// True if all blocks of `block` elements are whole.
  bool isMultipleOf(int64_t block) const { return isKnown() && number % block == 0; }
  mlir::OpFoldResult fold(mlir::Builder &b) const {
    return value ? mlir::OpFoldResult(value) : b.getIndexAttr(number);
  }
};

/// Sizes of the tensors that a function computes. Those that ops of the function want to be equal
/// are one: they are checked before the function is called.
class TileSizes {
public:
  TileSizes(mlir::RewriterBase &rewriter, mlir::func::FuncOp func);

  /// Replaces sizes of tensors that are computed by sizes of arguments.
  void replaceDims();
  /// True if two tensors have the same sizes whatever these are. Changes nothing.
  bool haveOneShape(mlir::Value x, mlir::Value y) const;

  /// Dimension `dim` of `tensor`. Values are there at the end of the function.
  Extent of(mlir::Value tensor, unsigned dim);
  llvm::SmallVector<Extent> of(mlir::Value tensor);
  llvm::SmallVector<Extent> loopsOf(mlir::linalg::LinalgOp op);
  /// The same as numbers: those of a run as what tiles are planned for.
  llvm::SmallVector<int64_t> planned(mlir::Value tensor);
  llvm::SmallVector<int64_t> planned(mlir::linalg::LinalgOp op);

private:
  /// A dimension of a tensor, a loop of an op, or a number of a run (kNumber).
  using Size = std::pair<void *, unsigned>;
  static constexpr unsigned kNumber = ~0u;

  void unify(mlir::Operation *op);
  void unifyReshape(mlir::Value wide, mlir::Value narrow,
                    llvm::ArrayRef<mlir::ReassociationIndices> groups);
  void join(mlir::Value x, unsigned dimOfX, mlir::Value y, unsigned dimOfY);
  void joinNumber(mlir::Value tensor, unsigned dim, mlir::OpFoldResult size);
  Extent of(Size size);
  mlir::Value compute(mlir::Value tensor, unsigned dim);
  mlir::Value combine(mlir::Location loc, mlir::AffineExpr expr,
                      llvm::ArrayRef<mlir::OpFoldResult> operands);

  mlir::RewriterBase &rewriter;
  mlir::func::FuncOp func;
  llvm::EquivalenceClasses<Size> same;
  llvm::DenseMap<void *, mlir::Value> tensors;
  /// By the leaders of classes.
  std::map<Size, Extent> known;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILESIZES_H

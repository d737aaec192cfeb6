//===- SizeTerms.h - sizes as a caller of a function can compute them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_SIZETERMS_H
#define XETILE_TARGET_HOST_SIZETERMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include <optional>
#include <string>

namespace xetile {

/// A number of the function: an index, or the size of a tensor's dimension.
struct SizeLeaf {
  mlir::OpFoldResult index;
  mlir::Value tensor;
  int64_t dim = 0;
};

/// `expr` of leaves d0, d1, ...: one side of a condition.
struct SizeExpr {
  explicit SizeExpr(SizeLeaf leaf);
  SizeExpr(mlir::OpFoldResult index) : SizeExpr(SizeLeaf{index, {}, 0}) {}
  SizeExpr(mlir::Value tensor, int64_t dim) : SizeExpr(SizeLeaf{{}, tensor, dim}) {}
  SizeExpr(mlir::AffineExpr expr, llvm::ArrayRef<SizeLeaf> leaves)
      : expr(expr), leaves(leaves.begin(), leaves.end()) {}

  std::optional<int64_t> constant() const;
  mlir::ValueBoundsConstraintSet::Variable variable() const;

  mlir::AffineExpr expr;
  llvm::SmallVector<SizeLeaf> leaves;
};

/// A number in the function that checks, and what to call it.
struct SizeTerm {
  mlir::Value value;
  std::string text;
};

/// Computes numbers of one function in another one, which gets the same arguments as memrefs.
class SizeTerms {
public:
  /// Builds where `builder` stands. `sizes` are those of `function`'s arguments there, by number.
  SizeTerms(mlir::OpBuilder &builder, mlir::func::FuncOp function, mlir::ValueRange arguments,
            llvm::ArrayRef<llvm::SmallVector<mlir::Value>> sizes);

  /// Nothing for what depends on more than arguments. Elements of arguments are read, if `allowed`
  /// holds, which an op here computes: indices that are wrong are told before.
  std::optional<SizeTerm> of(const SizeExpr &expr);
  std::optional<SizeTerm> of(mlir::Value index);

  /// Values that are made until `pop` are known until then.
  void push() { scopes.emplace_back(); }
  void pop() { scopes.pop_back(); }
  void define(mlir::Value index, mlir::Value here, llvm::StringRef text);

  /// True if all conditions have held so far: a value at the builder's insertion point.
  std::function<mlir::Value()> allowed;

private:
  using Key = std::pair<mlir::Value, int64_t>;
  template <typename Compute> std::optional<SizeTerm> remember(Key key, Compute compute);
  std::optional<SizeTerm> sizeOf(mlir::Value tensor, int64_t dim);
  std::optional<SizeTerm> sizeOfResult(mlir::OpResult tensor, int64_t dim);
  std::optional<SizeTerm> sizeOfRegionArgument(mlir::BlockArgument tensor, int64_t dim);
  std::optional<SizeTerm> compute(mlir::Value index);
  std::optional<SizeTerm> element(mlir::Operation *extract);
  std::optional<SizeTerm> choose(mlir::Value condition, std::optional<SizeTerm> yes,
                                 std::optional<SizeTerm> no);
  SizeTerm number(int64_t value);

  mlir::OpBuilder &b;
  mlir::func::FuncOp function;
  mlir::ValueRange arguments;
  llvm::ArrayRef<llvm::SmallVector<mlir::Value>> sizes;
  llvm::SmallVector<llvm::DenseMap<Key, std::optional<SizeTerm>>> scopes;
};

} // namespace xetile

#endif // XETILE_TARGET_HOST_SIZETERMS_H

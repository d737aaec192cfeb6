//===- Online.h - reductions that depend on another, in one loop ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// m = max_n S; P = exp(S - m); l = sum_n P; O = P V: each of l and O is a sum along n of powers
// whose exponents have one row's maximum subtracted. A loop over blocks of n may take the maximum
// of what it has seen, if it multiplies the sums so far by exp(m before - m now).
//
// s = sum_n x; q = sum_n (x - s / n)^2: a block's sum of squares about its own mean, q', with its
// sum s' of c elements, goes with those of the b elements before: q + q' + (s' / c - s / b)^2 b c /
// (b + c). About any other r it is larger by n (s / n - r)^2.
//
// H = f(X W), Y = H V: blocks of H, which never exists as a whole, are computed where Y's sum along
// their columns reads them.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_LINALG_ONLINE_ONLINE_H
#define XETILE_LINALG_ONLINE_ONLINE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/Facts/Result.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {

/// The scalar that an op of one result computes.
mlir::Value yielded(mlir::linalg::GenericOp op);

/// The operand that `scalar` in the body of `op` is an element of, null if it is none.
mlir::OpOperand *operandOf(mlir::linalg::GenericOp op, mlir::Value scalar);

/// An element that is proportional to exp(x - r), r the same for all n: how it comes to be.
struct OnlinePower {
  /// x - r, and products of that with constants.
  mlir::Operation *difference = nullptr;
  llvm::SmallVector<mlir::Operation *> factors;
  /// exp or exp2.
  mlir::Operation *power = nullptr;
  /// Products and quotients with what is the same for all n and known behind the loop only, and
  /// selections of zero by such a condition; in the order in which they are done.
  llvm::SmallVector<mlir::Operation *> rowSteps;
};

/// An element that is proportional to (x - r)^2, r the same for all n: how it comes to be.
struct OnlineSquare {
  /// x - r, or r - x, and the number of its operand that is x.
  mlir::Operation *difference = nullptr;
  unsigned varying = 0;
  /// The square.
  mlir::Operation *square = nullptr;
  /// Products and quotients with what is the same for all n, in the order in which they are done.
  llvm::SmallVector<mlir::Operation *> rowSteps;
  /// The sum of x.
  mlir::linalg::GenericOp sum;
};

/// A reduction along n.
struct OnlineReduction {
  mlir::linalg::GenericOp op;
  /// The number of its loop along n.
  unsigned loop = 0;
  /// Of a sum of powers, or of squares; none where nothing that is reduced depends on another
  /// reduction.
  std::optional<OnlinePower> power;
  std::optional<OnlineSquare> square;

  bool depends() const { return power.has_value() || square.has_value(); }
};

/// A loop of an op, or a dimension of a tensor: a member of a class of unified ones.
using OnlineAxis = std::pair<void *, unsigned>;

/// A tensor that is read by a scalar, and the axis of each of its dimensions.
struct OnlineLeaf {
  mlir::Value tensor;
  llvm::SmallVector<OnlineAxis> axes;
};

/// Element n of row r is minus infinity, and its power zero, where n < r + first or n > r + last: a
/// causal mask has a last one, a window both.
struct OnlineReach {
  OnlineAxis rows;
  std::optional<int64_t> first, last;
  /// The comparisons in bodies that say so, and what they are where an element is seen.
  llvm::SmallDenseMap<mlir::Operation *, bool> comparisons;
};

/// Reductions along one dimension, of which sums depend on others.
struct Online {
  /// In the order of their block; behind the last of them all that they read is known.
  llvm::SmallVector<OnlineReduction, 2> reductions;
  /// The reductions and the ops between them.
  llvm::SetVector<mlir::Operation *> ops;
  OnlineAxis n;
  int64_t extent = 0;
  llvm::EquivalenceClasses<OnlineAxis> axes;
  /// True if maxima are carried as those of x * log2(e), from an init value below all products of
  /// narrow floats: each power is then one exp2 op of a finite difference.
  bool binary = false;
  /// True if none depends on another, and what the last one multiplies is made of other products.
  bool products = false;
  /// Where a row's elements begin and end, if a mask tells.
  std::optional<OnlineReach> reach;

  /// Of a loop of an op, or of a dimension of a tensor, given by its opaque pointer.
  OnlineAxis axisOf(void *of, unsigned number) const;
  /// The loop of `op` along n.
  std::optional<unsigned> loopOf(mlir::linalg::GenericOp op) const;
  const OnlineReduction *reductionOf(mlir::Value result) const;
  /// True if `reduction` is subtracted from the exponents of a sum of powers.
  bool isSubtracted(const OnlineReduction &reduction) const;
  /// True if `reduction` is the sum of what a sum of squares has the squares of.
  bool isCentre(const OnlineReduction &reduction) const;
  /// The maximum that `scalar` in the body of `op` is, maybe but for zero in place of minus
  /// infinity: `guarded` tells.
  const OnlineReduction *maximumOf(mlir::linalg::GenericOp op, mlir::Value scalar,
                                   bool &guarded) const;
  /// True if the op of the set is between reductions, rather than one of them.
  bool isBetween(mlir::Operation *op) const;
  /// Axes of the results' dimensions.
  llvm::SmallVector<OnlineAxis> axesOfResult(mlir::linalg::GenericOp op) const;
  /// The tensors that `scalar` in the body of `op` is computed from through the ops between:
  /// results of reductions, and others.
  void leavesOf(mlir::linalg::GenericOp op, mlir::Value scalar,
                llvm::SmallVectorImpl<OnlineLeaf> &leaves) const;
  /// True if `scalar` in the body of `op` depends on the result of `source`.
  bool dependsOn(mlir::linalg::GenericOp op, mlir::Value scalar, mlir::Operation *source) const;
};

/// The reductions along the dimension that `last`, a sum of powers or squares, sums along: those
/// that it depends on and others of the same elements. None, with the op that does not fit and the
/// reason, where there are no such. With `products` it may be a product of what other products
/// make.
std::optional<Online> findOnline(mlir::linalg::GenericOp last, mlir::Operation *&where,
                                 std::string &why, bool products = false);

/// `op` by itself, as a reduction along its loop `loop`, maybe along others, too; none where its
/// operands are not indexed by dimensions alone.
std::optional<Online> aloneOnline(mlir::linalg::GenericOp op, unsigned loop);

/// True if only ops of the set use the maxima and powers, and each power is exp of a difference of
/// scores of narrow floats, which need no more precision than their factors have.
bool mayBeBinary(const Online &online);

/// Where the elements of each row that all reductions of `online` reduce begin or end; none where
/// some do not.
std::optional<OnlineReach> findReach(const Online &online);

/// The element that a reduction combines with its result so far, by `combiner`; null where there is
/// none.
mlir::Value elementOf(mlir::linalg::GenericOp op, mlir::Operation *&combiner);

/// Computes them in one loop over blocks of `block` elements of n, and what is left over behind it.
/// Producers of what is reduced are computed for a block at a time. Returns the loop. With `masks`
/// what is left over is a block like the others, and the loop has two steps at least: elements
/// beyond n are minus infinity among the scores, and read beyond the ends of memory, which tiles
/// make zeros of.
mlir::scf::ForOp makeOnline(mlir::RewriterBase &b, Online &online, int64_t block,
                            bool masks = false);

/// True if that is right: only maxima and sums of powers are reduced, and what multiplies powers
/// along n is in memory.
bool mayMask(const Online &online);

/// Computes them for blocks of `block` elements of n, each by itself, and what all blocks give of
/// these results.
void splitOnline(mlir::RewriterBase &b, Online &online, int64_t block);

/// The same where the last reduction is a product of powers and values: the ops that are written
/// for blocks, whose number is the first dimension of their results, are returned. Products of one
/// row have a dimension of rows, too.
llvm::SmallVector<mlir::Operation *> splitProducts(mlir::RewriterBase &b, Online &online,
                                                   int64_t block);

/// Why that cannot be done.
Problem whyNotSplitProducts(const Online &online);

/// True if `op` sums up products of two operands along one loop, as a matmul or with one row.
bool sumsProducts(mlir::Operation *op);

/// Of the last reduction, a product of powers and values: the sizes of the longest loop that only
/// powers have, 1 for none; of the last that only values have; and of all other parallel ones.
struct ProductSizes {
  int64_t rows = 1, columns = 1, others = 1;
  /// False if no loop is one of rows alone.
  bool hasRows = false;
};
ProductSizes sizesOfProduct(const Online &online);

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_ONLINE_H

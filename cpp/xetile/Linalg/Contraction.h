//===- Contraction.h - a matmul recognised by its dimensions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_CONTRACTION_H
#define XETILE_LINALG_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/Facts/Result.h"
#include "xetile/IR/MatmulConfig.h"

namespace xetile {

/// The roles of a contraction's iteration dimensions. A blocked operand (MKmk) has several
/// dimensions of one role: the first is tiled, the others are its unit.
struct Contraction {
  /// A handle; that of a const contraction can be asked too, as MLIR's handles want it.
  mutable mlir::linalg::LinalgOp op;
  llvm::SmallVector<unsigned> batch;
  /// The dimensions of each role in the order of the operand that has them.
  std::array<llvm::SmallVector<unsigned>, 3> roles;
  /// Sizes of iteration dimensions, ShapedType::kDynamic where unknown.
  llvm::SmallVector<int64_t> sizes;
  /// Elements in one step of the tiled dimension, 1 if the role has one dimension only.
  std::array<int64_t, 3> unit = {1, 1, 1};

  unsigned tiled(MatmulDim dim) const { return roles[dim].front(); }
  /// Elements of the role, or kDynamic.
  int64_t extent(MatmulDim dim) const;
  mlir::AffineMap map(unsigned operand) const { return op.getIndexingMapsArray()[operand]; }
  /// `map` without the results that are batch dimensions.
  mlir::AffineMap dropBatch(mlir::AffineMap map) const;
  /// True if an integer input is zero-extended.
  bool isUnsigned(unsigned operand) const;
  mlir::Type elementType(unsigned operand) const {
    return mlir::getElementTypeOrSelf(op->getOperand(operand).getType());
  }
};

/// Returns true if a body yields `c + a * b`, with a and b converted to the type of c.
bool addsProduct(mlir::Block &body);

/// The roles of the dimensions of `op`, and their sizes, or what was expected.
Result<Contraction> matchProduct(mlir::Operation *op);

/// The same where tiles of all dimensions can be taken; `onTensors` asks for tensors, otherwise for
/// memrefs.
Result<Contraction> matchContraction(mlir::Operation *op, bool onTensors);

/// Returns true if `op`, which may be null, is a contraction on tensors by matchContraction.
bool isContraction(mlir::Operation *op);

/// True if a contraction in `scope` has an operand that is computed element by element of several
/// tensors, none of which is reduced before, as turned heads are.
bool hasComputedFactors(mlir::Operation *scope);

/// Builds, before `op`, the same contraction on inputs whose indices are dimensions alone where
/// `op` has sums of them (d0 * 32 + d1). Fails without a trace if there are none, or others.
mlir::FailureOr<mlir::linalg::GenericOp> unfoldInputs(mlir::RewriterBase &builder,
                                                      mlir::Operation *op);

/// Recognises `op` on tensors, or else what unfoldInputs makes of it: that one is `standIn` then,
/// for the caller to replace `op` by or to erase by eraseStandIn.
Result<Contraction> matchOrUnfold(mlir::RewriterBase &rewriter, mlir::Operation *op,
                                  mlir::Operation *&standIn);
void eraseStandIn(mlir::RewriterBase &rewriter, mlir::Operation *standIn);

} // namespace xetile

#endif // XETILE_LINALG_CONTRACTION_H

//===- OnlineMaker.h - writes dependent reductions as one loop -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ONLINE_ONLINEMAKER_H
#define XETILE_LINALG_ONLINE_ONLINEMAKER_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Online/Online.h"

namespace xetile {

/// The init value of binary maxima: below all scores, with a finite product with log2(e).
inline constexpr float kLowestScore = -1.0e38f;

/// Maps a tensor to the one that is read instead.
using Substitute = llvm::function_ref<mlir::Value(mlir::Value)>;

inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}

/// `scalar`, a float, as one of `type`.
mlir::Value convert(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, mlir::Type type);

/// Computes reductions that depend on maxima block by block.
class OnlineMaker {
public:
  OnlineMaker(mlir::RewriterBase &b, Online &online)
      : b(b), online(online), loc(online.reductions.back().op.getLoc()) {}

  mlir::scf::ForOp make(int64_t block);

private:
  mlir::SmallVector<mlir::Value> starts();
  mlir::SmallVector<mlir::Value> step(mlir::Value variable, int64_t number, int64_t size,
                                      mlir::ValueRange before);
  mlir::SmallVector<mlir::Value> finish(mlir::ValueRange totals);
  void replace(mlir::ValueRange results);
  void markReach(mlir::scf::ForOp loop);

  mlir::Value slice(mlir::Value tensor, unsigned dim);
  mlir::Value sliceProducer(mlir::linalg::GenericOp op, unsigned loop);
  mlir::Value ofRows(mlir::Value tensor);
  mlir::Value now(const OnlineReduction &reduction);
  mlir::Value factor(const OnlineReduction &reduction);
  mlir::Value scaled(const OnlineReduction &reduction, mlir::Value total);
  void reduceBinary(mlir::linalg::GenericOp op);
  bool isOnRows(mlir::Value scores);
  bool mayCompute(mlir::linalg::GenericOp op, unsigned loop);

  mlir::Value inlined(mlir::OpBuilder &inside, mlir::linalg::GenericOp op, mlir::Value scalar,
                      Substitute element);
  mlir::Value isLowest(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::Value timesLog2E(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::Value finite(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::Value nanIfInfinite(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::linalg::GenericOp opOf(mlir::Operation *scalar) {
    return mlir::cast<mlir::linalg::GenericOp>(scalar->getParentOp());
  }
  void cloneBody(mlir::linalg::GenericOp from, mlir::linalg::GenericOp to,
                 std::optional<unsigned> loop);

  mlir::RewriterBase &b;
  Online &online;
  mlir::Location loc;
  /// Where the block of the moment starts, and its size.
  mlir::Value variable;
  int64_t number = 0, size = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> before, after, rows;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> slices;
};

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_ONLINEMAKER_H

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

/// Lets `made`, a sum into a tensor of `wide`, add terms of that type.
void widenSum(mlir::RewriterBase &b, mlir::linalg::GenericOp made, mlir::Type wide);

/// Computes reductions that depend on others block by block.
class OnlineMaker {
public:
  OnlineMaker(mlir::RewriterBase &b, Online &online)
      : b(b), online(online), loc(online.reductions.back().op.getLoc()) {}

  /// In a loop that carries them.
  mlir::scf::ForOp make(int64_t block, bool masks = false);
  /// Each block by itself, then what these give. Of products, the blocks' number is the first
  /// dimension, and their ops are added to `made`.
  void split(int64_t block, llvm::SmallVectorImpl<mlir::Operation *> *made = nullptr);

private:
  friend class BlockwiseOnline;
  friend class PartsOfProducts;
  mlir::SmallVector<mlir::Value> starts();
  mlir::SmallVector<mlir::Value> step(mlir::Value variable, int64_t number, int64_t size,
                                      mlir::ValueRange before);
  mlir::SmallVector<mlir::Value> finish(mlir::ValueRange totals);
  void replace(mlir::ValueRange results);
  void markReach(mlir::scf::ForOp loop);

  mlir::Value slice(mlir::Value tensor, unsigned dim);
  mlir::Value sliceProducer(mlir::linalg::GenericOp op, unsigned loop);
  mlir::Value ofRows(mlir::Value tensor);
  mlir::Type carriedType(const OnlineReduction &reduction);
  mlir::Value zeros(mlir::linalg::GenericOp like, mlir::Type element);
  mlir::Value now(const OnlineReduction &reduction);
  mlir::Value sumNow(mlir::linalg::GenericOp op);
  mlir::Value centreNow(const OnlineReduction &reduction);
  mlir::Value squaresNow(const OnlineReduction &reduction);
  mlir::Value merged(mlir::OpBuilder &inside, mlir::Value was, mlir::Value own,
                     mlir::Value sumBefore, mlir::Value more);
  mlir::Value factor(const OnlineReduction &reduction);
  mlir::Value ratioOf(mlir::OpBuilder &inside, const OnlineReduction &reduction,
                      llvm::ArrayRef<OnlineLeaf> leaves, Substitute was, Substitute is);
  mlir::Value applySteps(mlir::OpBuilder &inside, llvm::ArrayRef<mlir::Operation *> steps,
                         mlir::Operation *source, mlir::Value value, Substitute element);
  mlir::Value finished(mlir::OpBuilder &inside, const OnlineReduction &reduction, mlir::Value total,
                       mlir::Value sum, Substitute element);
  mlir::Value scaled(const OnlineReduction &reduction, mlir::Value total);
  void reduceBinary(mlir::linalg::GenericOp op);
  mlir::Value masked(mlir::Value scalar, unsigned loop);
  void maskScores(mlir::linalg::GenericOp from, mlir::linalg::GenericOp to, unsigned loop);
  bool isOnRows(mlir::Value scores);
  bool mayCompute(mlir::linalg::GenericOp op, unsigned loop);

  mlir::Value inlined(mlir::OpBuilder &inside, mlir::linalg::GenericOp op, mlir::Value scalar,
                      Substitute element);
  mlir::Value isLowest(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::Value timesLog2E(mlir::OpBuilder &inside, mlir::Value scalar);
  mlir::Value times(mlir::OpBuilder &inside, mlir::Value scalar, double factor);
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
  /// Elements of n from here on are none; zero where all blocks are whole.
  int64_t end = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> before, after, rows;
  /// Sums of the block of the moment alone.
  llvm::DenseMap<mlir::Value, mlir::Value> blockSums;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> slices;
};

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_ONLINEMAKER_H

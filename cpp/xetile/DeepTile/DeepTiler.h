//===- DeepTiler.h - the parts of the nine-loop rewrite ----------------------===//
//
// One class, written by idea: thread loop (DeepTile.cpp), loops in a thread (BlockLoops.cpp), the
// call of the microkernel (MicrokernelCall.cpp), sums of several K threads (PartialSums.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_DEEPTILE_DEEPTILER_H
#define XETILE_DEEPTILE_DEEPTILER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/DeepTile/DeepTile.h"
#include "xetile/DeepTile/LoopNest.h"

namespace xetile {

/// `value` in the wider type `type`.
mlir::Value extendElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type, bool isUnsigned);
/// `value` in the narrower floating-point type `type`.
mlir::Value narrowElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type);
/// An elementwise conversion of `source` into `into`.
mlir::Value convertElements(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source,
                            mlir::Value into);
/// Floating-point results narrower than their sums should be.
bool isLowPrecision(mlir::Type element);

class DeepTiler {
public:
  DeepTiler(mlir::RewriterBase &rewriter, const Contraction &matmul, const MatmulConfig &config,
            const DeepTileOptions &options)
      : b(rewriter), loc(matmul.op.getLoc()), matmul(matmul), config(config), options(options) {
    for (MatmulDim dim : {kM, kN, kK})
      innerSteps[dim] = config.innermost[dim] / matmul.unit[dim];
  }

  mlir::Value run();

private:
  /// The operands of one thread, without batch dimensions, and what the loops know.
  struct Operands {
    std::array<mlir::Value, 3> values;
    std::array<mlir::AffineMap, 3> maps;
  };
  /// A block of the thread's part: offsets and sizes of m, n, k in steps of the tiled dimensions.
  struct Tile {
    std::array<Index, 3> offsets, sizes;
    std::array<bool, 3> known = {false, false, false};
    mlir::Value packedA, packedB, columnSums;
  };

  void findExtents();
  void findInit();
  /// The part of `dim` that thread `id` of `count` works on.
  std::pair<Index, Index> threadRange(MatmulDim dim, Index id, int64_t count);
  /// Steps of a middle loop: blocks of nearly equal size, multiples of the innermost one.
  int64_t blockSteps(MatmulDim dim) const;
  mlir::Value computeThread(const Operands &operands, const std::array<Index, 3> &extents);
  mlir::Value middleLoop(unsigned level, const Tile &block, mlir::Value carried);
  mlir::Value innerLoops(const Tile &block, mlir::Value carried);
  /// `bias`, if any, is added to each row of `c`.
  mlir::Value microkernel(const Tile &block, mlir::Value a, mlir::Value b, mlir::Value c,
                          mlir::Value bias = {});
  mlir::Value batchReduce(mlir::Value a, mlir::Value b, mlir::Value c);
  /// Calls the microkernel on packed operands, groups of k being a dimension of their own.
  mlir::Value callOnGroups(const Tile &block, const Tile &tile, mlir::Value a, mlir::Value bBlock,
                           mlir::Value into);
  mlir::linalg::LinalgOp createGeneric(mlir::Value a, mlir::Value bTile, mlir::Value c,
                                       llvm::ArrayRef<mlir::AffineMap> maps,
                                       llvm::ArrayRef<mlir::utils::IteratorType> iterators);
  void packWhereKnown(Tile &block);
  mlir::Value reducePartials(mlir::Value partials, mlir::Value init);

  /// Whether the integers of an input are extended with zeros; offset bytes change their sign.
  bool isUnsigned(unsigned operand) const {
    return matmul.isUnsigned(operand) != (options.offsetA && operand == 0);
  }
  bool isPlain(unsigned operand) const { return thread.maps[operand].getNumResults() == 2; }
  /// Per dimension of the iteration space: those of the tiled dimensions from `tiled`, the others
  /// whole.
  llvm::SmallVector<Index> full(const std::array<Index, 3> &tiled, bool offsets) const {
    llvm::SmallVector<Index> result = offsets ? zeros : extentOf;
    for (unsigned dim : matmul.batch)
      result[dim] = offsets ? Index(b.getIndexAttr(0)) : Index(b.getIndexAttr(1));
    for (MatmulDim dim : {kM, kN, kK})
      result[matmul.tiled(dim)] = tiled[dim];
    return result;
  }

  mlir::RewriterBase &b;
  mlir::Location loc;
  const Contraction &matmul;
  const MatmulConfig &config;
  const DeepTileOptions &options;
  std::array<int64_t, 3> innerSteps;
  llvm::SmallVector<Index> extentOf, zeros;
  /// The constant that the accumulator starts from, and the tensor to write to; `initial` is null
  /// if the accumulator comes from elsewhere.
  mlir::TypedAttr initial;
  mlir::Value destination;
  Operands thread;
  std::array<Index, 3> threadExtents;
  mlir::Value scratchA, scratchB, scratchSums;
};

} // namespace xetile

#endif // XETILE_DEEPTILE_DEEPTILER_H

//===- DeepTiler.h - the parts of the nine-loop rewrite ----------------------===//
//
// One class, written by idea: thread loop (DeepTile.cpp), loops in a thread (BlockLoops.cpp), the
// call of the microkernel (MicrokernelCall.cpp), what follows a complete sum (Epilogue.cpp), sums
// of several K threads (PartialSums.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_TARGET_CPU_LOOPNEST_DEEPTILER_H
#define XETILE_TARGET_CPU_LOOPNEST_DEEPTILER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Target/Cpu/LoopNest/DeepTile.h"
#include "xetile/Target/Cpu/LoopNest/Fusion.h"
#include "xetile/Target/Cpu/Packing/Packing.h"

namespace xetile {

/// `value` in the wider type `type`.
mlir::Value extendElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type, bool isUnsigned);
/// `value` in the narrower floating-point type `type`.
mlir::Value narrowElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type);
/// Floating-point results narrower than their sums should be.
bool isLowPrecision(mlir::Type element);

class DeepTiler {
public:
  DeepTiler(mlir::RewriterBase &rewriter, const Contraction &matmul, const ConfigChoice &options,
            const Fusion &fusion)
      : b(rewriter), loc(matmul.op.getLoc()), matmul(matmul), config(options.config),
        options(options), fusion(fusion) {
    for (MatmulDim dim : {kM, kN, kK})
      innerSteps[dim] = config.innermost[dim] / matmul.unit[dim];
  }

  mlir::Value run();

private:
  /// A tensor or a scalar, indexed by dimensions of the iteration space.
  struct Input {
    mlir::Value value;
    mlir::AffineMap map;
  };
  /// The operands of one thread, without batch dimensions, and what the loops know. An operand
  /// that is computed on the way has the inputs of its producer instead of a value. `maps[2]`
  /// indexes sums, `result` the tensor to write to.
  struct Operands {
    std::array<mlir::Value, 2> values;
    std::array<mlir::AffineMap, 3> maps;
    std::array<llvm::SmallVector<Input>, 2> produced;
    Input result;
    /// What the epilogue reads besides sums; the accumulator first, if it `addsStart`.
    llvm::SmallVector<Input> epilogue;
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
  /// Loops carry the result, and behind it sums that are kept elsewhere and take several steps.
  using Carried = llvm::SmallVector<mlir::Value>;
  using TileStep = llvm::function_ref<Carried(Carried)>;
  Carried onSlices(const Tile &block, const Carried &carried, TileStep body);
  Carried middleLoop(unsigned level, const Tile &block, Carried carried);
  Carried innerLoops(const Tile &block, Carried carried);
  /// One call of the microkernel for `tile`, offsets within `block`.
  Carried computeTile(const Tile &block, const Tile &tile, mlir::Value a, mlir::Value bBlock,
                      Carried carried);
  /// The microkernel's call, with slices of a, b and the tile of sums.
  mlir::Value multiplyTile(const Tile &block, const Tile &tile, mlir::Value a, mlir::Value bBlock,
                           mlir::Value sums);

  /// Decides where sums are kept and what follows them.
  void planEpilogue(const std::array<bool, 3> &known);
  /// Where the sums of `block` are: those start at blocks that were known then.
  std::array<Index, 3> placeInSums(const Tile &block) const;
  /// Work on a complete sum, written to `into`; `at` are offsets in the thread's part.
  mlir::Value finish(mlir::Value sum, mlir::Value into, const std::array<Index, 3> &at,
                     const std::array<Index, 3> &sizes);
  /// `finish` for a tile of `carried` in the last step of k; else nothing.
  mlir::Value finishInLastStep(const Tile &block, const Tile &tile, mlir::Value sum,
                               mlir::Value carried);
  /// `bias`, if any, is added to each row of `c`.
  mlir::Value microkernel(const Tile &block, mlir::Value a, mlir::Value b, mlir::Value c,
                          mlir::Value bias = {});
  mlir::Value batchReduce(mlir::Value a, mlir::Value b, mlir::Value c);
  /// Calls the microkernel on packed operands, groups of k being a dimension of their own.
  mlir::Value callOnGroups(const Tile &block, const Tile &tile, mlir::Value a, mlir::Value bBlock,
                           mlir::Value c);
  mlir::linalg::LinalgOp createGeneric(mlir::Value a, mlir::Value bTile, mlir::Value c,
                                       llvm::ArrayRef<mlir::AffineMap> maps,
                                       llvm::ArrayRef<mlir::utils::IteratorType> iterators);
  void packWhereKnown(Tile &block);
  /// Packs operands that are constants, in front of all loops.
  void packConstants();
  /// The blocks of packed constants: slices.
  mlir::Value sliceConstantA(const Tile &block);
  mlir::Value sliceConstantB(const Tile &block);
  PackSource packSource(unsigned operand, const Tile &block);
  mlir::Type operandType(unsigned operand) const { return matmul.elementType(operand); }
  mlir::Value reducePartials(mlir::Value partials);
  /// How the iteration space of the matmul indexes an operand of the consumer.
  mlir::AffineMap consumerMap(mlir::OpOperand &operand);
  /// A map without the results that are batch dimensions.
  mlir::AffineMap dropBatch(mlir::AffineMap map) const;

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
  const ConfigChoice &options;
  Fusion fusion;
  std::array<int64_t, 3> innerSteps;
  llvm::SmallVector<Index> extentOf, zeros;
  /// The constant that the accumulator starts from, and the tensor to write to; `initial` is null
  /// if the accumulator comes from elsewhere.
  mlir::TypedAttr initial;
  mlir::Value destination;
  /// The consumer, if it is part of the loops: with K threads it is part of their reduction.
  mlir::linalg::GenericOp consumer;
  /// The consumer's dimensions by those of the matmul.
  mlir::AffineMap consumerDims;
  Operands thread;
  std::array<Index, 3> threadExtents;
  mlir::Value scratchA, scratchB, scratchSums;
  /// All of A or B, packed when it was compiled; where the thread's part begins.
  mlir::Value constantA, constantB;
  std::array<Index, 3> threadOffsets;
  /// Whether B is packed in panels; where it cannot be, but is computed on the way, in rows.
  bool panels = false;

  mlir::Type sumType;
  /// Something follows complete sums; they are kept where the result goes; the accumulator is
  /// added in the end; the loop over k takes several steps.
  bool finishes = false, inPlace = true, addsStart = false, severalSteps = false;
  mlir::Value sumScratch;
  /// Dimensions whose block is known where the sums start.
  std::array<bool, 3> knownAtStart = {false, false, false};
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOOPNEST_DEEPTILER_H

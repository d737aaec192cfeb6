//===- MicrokernelEmitter.h - vector code of one contraction -----------------===//
//
// One class, written by idea: forms and loops (LowerMicrokernels.cpp), sums in vector registers
// (MicrokernelSteps.cpp), sums in tile registers (MicrokernelAmx.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_TARGET_CPU_MICROKERNEL_MICROKERNELEMITTER_H
#define XETILE_TARGET_CPU_MICROKERNEL_MICROKERNELEMITTER_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/LoopNest/Contraction.h"
#include "xetile/Target/Cpu/LoopNest/LoopNest.h"

namespace xetile {

/// The registers and instructions that microkernels are written for.
struct MicrokernelTarget {
  int64_t vectorBits = 512, registers = 32;
  bool bf16Dot = false, int8Dot = false, amx = false;
};

class MicrokernelEmitter {
public:
  MicrokernelEmitter(mlir::RewriterBase &rewriter, const Contraction &kernel,
                     const MicrokernelTarget &target);

  /// Checks that the kernel has a form that vectors can be read from.
  bool prepare();
  void emit();

private:
  /// A place in the iteration space: one index per dimension.
  using Indices = llvm::SmallVector<mlir::Value>;
  using Values = llvm::SmallVector<mlir::Value>;
  /// A part of C, [rowLow, rowHigh) x [columnLow, columnHigh).
  struct Region {
    Index rowLow, rowHigh, columnLow, columnHigh;
  };
  /// The rows and vectors of columns of one register tile; masks are null for whole vectors.
  struct Tile {
    Values rows, columns, masks;
  };

  bool prepareGroups();
  bool isContiguous(unsigned operand) const;
  /// The stride of dimension `place` of an operand, kDynamic where it is not known.
  int64_t strideOf(unsigned operand, unsigned place) const;
  mlir::Type elementOf(unsigned operand) const {
    return llvm::cast<mlir::MemRefType>(operands[operand].getType()).getElementType();
  }
  unsigned lastDim(unsigned operand, unsigned back = 1) const {
    return maps[operand].getDimPosition(maps[operand].getNumResults() - back);
  }
  bool isUnsigned(unsigned operand) const {
    return kernel.isUnsigned(swapped ? 1 - operand : operand);
  }
  mlir::Value constant(int64_t value);
  /// The operand and its dimension that `dim` indexes, if any.
  std::optional<std::pair<unsigned, unsigned>> indexedBy(unsigned dim);
  Index extentOf(unsigned dim);
  Values at(unsigned operand, const Indices &place);
  void overDims(llvm::ArrayRef<unsigned> dims, Indices &place, llvm::function_ref<void()> body);
  void loop(Index low, Index high, int64_t step, llvm::function_ref<void(mlir::Value)> body);
  /// Loops that carry `sums` over `dims` from 0, the last but the group from `firstStep`.
  Values carry(llvm::ArrayRef<unsigned> dims, Indices &place, Values sums, Index last, int64_t step,
               llvm::function_ref<Values(Values)> body);
  /// The steps of k: its dimensions without the one of groups.
  llvm::SmallVector<unsigned> stepDims() const;
  /// Collapses the last two dimensions of an operand in groups, which are contiguous.
  mlir::Value flatten(unsigned operand);

  void findStart();
  void emitRegion(Indices &place, const Region &region);
  void emitColumns(Indices &place, const Region &region, Index firstRow, int64_t rows,
                   bool clampRows);
  void emitTile(Indices place, const Region &region, mlir::Value firstRow, int64_t rows,
                bool clampRows, mlir::Value firstColumn, bool masked);
  Values startSums(Indices &place, const Tile &tile);
  void correctOffset(Indices &place, const Tile &tile, Values &sums);
  Values emitProducts(Indices &place, const Tile &tile, mlir::ValueRange sums);
  llvm::SmallVector<Values> loadColumns(Indices &place, const Tile &tile);
  mlir::Value loadFactor(Indices &place, mlir::Value row, unsigned part);
  mlir::Value multiplyAdd(mlir::Value factor, mlir::Value column, mlir::Value sum);
  mlir::Value dotBytes(mlir::Value unsignedBytes, mlir::Value signedBytes, mlir::Value sum);
  mlir::Value load(unsigned operand, mlir::ValueRange indices, int64_t count, mlir::Value mask);
  mlir::Value widen(mlir::Value value, unsigned operand);

  bool fitsTiles() const;
  /// Computes what fills whole AMX tiles and returns the part of C that it did.
  Region emitTiles(Indices &place);
  void emitTileBlock(Indices &place, mlir::Value row, mlir::Value column, int64_t rowTiles,
                     int64_t columnTiles);

  mlir::RewriterBase &b;
  mlir::Location loc;
  const Contraction &kernel;
  MicrokernelTarget target;
  std::array<mlir::Value, 3> operands;
  std::array<mlir::AffineMap, 3> maps;
  std::array<llvm::SmallVector<unsigned>, 3> roles;
  /// C is column-major: A and B have changed places to compute its transpose.
  bool swapped = false;
  mlir::Type element, sumType;
  int64_t length;
  unsigned rowDim, columnDim;
  /// The dimension of k whose elements lie side by side in B (VNNI layout), and its size.
  std::optional<unsigned> groupDim;
  int64_t group = 1;
  /// One instruction multiplies and adds a group.
  bool usesDot = false;
  /// Both inputs have the same signedness, which the instruction does not have: A is offset by 128.
  bool offsetsA = false;
  RegisterTile tile;
  /// What the sums start from instead of C, if not null, and what is added to them per column.
  mlir::Value initial, bias;
  llvm::SmallVector<mlir::Operation *> absorbed;
  Index firstStep;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_MICROKERNELEMITTER_H

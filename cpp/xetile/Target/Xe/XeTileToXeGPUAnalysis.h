//===- XeTileToXeGPUAnalysis.h - what the conversion to XeGPU must know first ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_XETILETOXEGPUANALYSIS_H
#define XETILE_TARGET_XE_XETILETOXEGPUANALYSIS_H

#include "xetile/IR/XeTileOps.h"
#include "xetile/Layout/TileMessages.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <tuple>

namespace xetile {

/// The matrix that a tile is part of.
struct TileBase {
  mlir::Value source;
  llvm::SmallVector<mlir::OpFoldResult> shape, strides;
  bool operator==(const TileBase &other) const {
    return source == other.source && shape == other.shape && strides == other.strides;
  }
};

/// What a vector is cut into: DPAS operands. Values tied to an operand may have other elements.
struct VectorBlock {
  int64_t rows, columns;
  DpasOperand operand;
  unsigned elemBits; // of the operand

  bool operator==(const VectorBlock &other) const {
    return rows == other.rows && columns == other.columns;
  }
};

/// A load_tile that becomes the loads of one slice of k at a time, where its tile_mma takes them.
struct SlicedLoad {
  mlir::Value tile;
  mlir::Location loc;
  const TileMessages *messages; // of one slice
};

/// Finds the base of each tile and the block shape of each vector below an operation, and checks
/// everything that the conversion relies on.
class XeTileToXeGPUAnalysis {
public:
  /// Emits an error at the first operation that cannot be converted. `chip` is used where no
  /// gpu.module has a target.
  llvm::LogicalResult run(mlir::Operation *root, llvm::StringRef chip);

  const TileBase &getBase(mlir::Value tile) const { return bases.find(tile)->second; }
  /// Null for values that the conversion leaves alone.
  const VectorBlock *getBlock(mlir::Value vector) const {
    auto entry = blocks.find(vector);
    return entry == blocks.end() ? nullptr : &entry->second;
  }
  bool isTile(mlir::Value value) const { return bases.contains(value); }
  /// Null for values that are loaded whole, or not loaded.
  const SlicedLoad *getSlicedLoad(mlir::Value vector) const {
    auto entry = slicedLoads.find(vector);
    return entry == slicedLoads.end() ? nullptr : &entry->second;
  }
  /// How much of k a tile_mma takes at a time.
  int64_t getKSlice(TileMmaOp op) const { return kSlices.lookup(op); }
  /// The planner's messages for a load_tile, store_tile or prefetch_tile.
  const TileMessages &getMessages(mlir::Operation *op) const { return *messages.lookup(op); }

private:
  llvm::LogicalResult assignBase(mlir::Value tile, const TileBase &base);
  llvm::LogicalResult assignBlock(mlir::Value vector, VectorBlock block);
  llvm::LogicalResult findBases(mlir::Operation *root);
  llvm::LogicalResult findBlocks(mlir::Operation *root, llvm::StringRef chip);
  llvm::LogicalResult check(mlir::Operation *op, llvm::StringRef chip);
  llvm::LogicalResult checkArguments();
  llvm::LogicalResult checkMemoryAccess(mlir::Operation *op, mlir::Value tile,
                                        const TargetInfo &target);
  llvm::LogicalResult checkMma(TileMmaOp op, const TargetInfo &target);
  llvm::LogicalResult chooseKSlice(TileMmaOp op, const TargetInfo &target);
  llvm::LogicalResult checkRegisters(mlir::Operation *op, mlir::VectorType vector,
                                     const TargetInfo &target);
  llvm::LogicalResult planMessages(mlir::Operation *op, TileType tile, const TargetInfo &target);

  llvm::MapVector<mlir::Value, TileBase> bases;
  llvm::MapVector<mlir::Value, VectorBlock> blocks;
  llvm::DenseMap<mlir::Operation *, const TileMessages *> messages;
  /// What was planned, by all that a plan depends on: accesses repeat.
  using PlanKey =
      std::tuple<const TargetInfo *, BlockAccess, DpasOperand, unsigned, unsigned, Shape2D>;
  std::map<PlanKey, TileMessages> plans;
  llvm::MapVector<mlir::Value, SlicedLoad> slicedLoads;
  llvm::DenseMap<mlir::Operation *, int64_t> kSlices;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_XETILETOXEGPUANALYSIS_H

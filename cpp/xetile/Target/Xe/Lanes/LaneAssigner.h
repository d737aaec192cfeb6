//===- LaneAssigner.h - finds which lane holds what of each vector -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEASSIGNER_H
#define XETILE_TARGET_XE_LANES_LANEASSIGNER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "xetile/Target/Xe/Lanes/FreeValues.h"
#include "xetile/Target/Xe/Lanes/LaneMessages.h"

namespace xetile {

/// Gives each vector of a module its layout: what dpas and messages want comes first, the rest
/// follows from it, and conversions stand where layouts meet.
class LaneAssigner {
public:
  LaneAssigner(mlir::gpu::GPUModuleOp module, const TargetInfo &target)
      : module(module), target(target), lanes(target.subgroupSize), planner(target),
        free(layouts, lanes) {}

  llvm::LogicalResult run();

private:
  static bool isVector(mlir::Value value) { return llvm::isa<mlir::VectorType>(value.getType()); }
  bool has(mlir::Value value) const { return layouts.contains(value); }
  LaneLayoutAttr get(mlir::Value value) const { return layouts.lookup(value); }

  /// Gives a value its layout, if it has none and `map` fits it.
  void set(mlir::Value value, const std::optional<LaneMap> &map);
  void set(mlir::Value value, LaneLayoutAttr attr);
  /// Follows what was set through operations until nothing is new.
  void propagate();
  void propagateThrough(mlir::Operation *op);
  void propagateThroughFree(mlir::Operation *op);
  void propagateThroughRegions(mlir::Operation *op);
  /// Of a gather or scatter.
  void propagateThroughAccess(mlir::Value offsets, mlir::Value mask, mlir::Value value);
  void propagateByRules(mlir::Operation *op);
  /// The first of `values` that has a layout gives it to the others; one that is made again for
  /// each user only takes it.
  void tie(llvm::ArrayRef<mlir::Value> values);
  void setNatural(mlir::Value value) { set(value, LaneMap::natural(shapeOf(value), lanes)); }
  /// Of what a block access moves: of a row of narrow elements 32 bits to a lane, as the RFC has
  /// it.
  void setBlock(mlir::Value value);
  /// True if an access by `descriptor` moves rows that no message takes, without bounds checks.
  bool isRowsOfElements(mlir::Value descriptor, mlir::VectorType vector) const;
  /// Of such rows: a lane has neighbours, as many as one access of it takes.
  void setRows(mlir::Value value) { setRows(value, kNeighbours); }
  static constexpr int64_t kNeighbours = 4;
  /// Of a load of elements some steps apart in rows: a lane has so many neighbours that what lies
  /// between the first and the last is one access.
  void setNeighbours(mlir::xegpu::LoadGatherOp load);
  void setRows(mlir::Value value, int64_t neighbours);

  /// Functions agree with their callers without looking at each other.
  void anchorCalls();
  void anchorAccesses();
  /// Values that nothing decides: those that others are made of, then those that any lanes make.
  void fillRest(bool isFree);
  llvm::LogicalResult anchorDpas(mlir::xegpu::DpasOp op);
  /// Of accesses to shared memory by blocks the lanes that these take.
  void anchorBlockRows(mlir::Operation *op);
  llvm::LogicalResult applyUserLayouts();
  llvm::LogicalResult applyUserLayout(mlir::Operation *op, mlir::Value value,
                                      mlir::xegpu::DistributeLayoutAttr layout);
  /// A load whose layout no message brings gets the one that messages bring best.
  void fixLoads();
  void insertConversions();
  void convertOperands(mlir::xegpu::DpasOp op);
  void convertOperands(mlir::xegpu::StoreNdOp op);
  void convertOperands(mlir::xegpu::StoreMatrixOp op);
  void carryLayouts(mlir::Operation *op);
  void convertCarried(mlir::Operation *op);
  void convertScattered(mlir::Operation *op);
  /// To the layout of another value.
  void convertTo(mlir::OpOperand &operand, mlir::Value like);
  void convertToNatural(mlir::OpOperand &operand);
  void convertOperand(mlir::OpOperand &operand, LaneLayoutAttr wanted);

  mlir::gpu::GPUModuleOp module;
  const TargetInfo &target;
  unsigned lanes;
  MessagePlanner planner;
  llvm::DenseMap<mlir::Value, LaneLayoutAttr> layouts;
  FreeValues free;
  llvm::SmallVector<mlir::Value> worklist;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, DpasForm> forms;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEASSIGNER_H

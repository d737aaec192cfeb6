//===- LaneLowering.h - operations of a subgroup, lowered to lanes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lowering finds what lanes hold of the operands in `LaneContext::held`, builds at
// `LaneContext::b`, and defines what they hold of the results; what it does not take is an error at
// the operation. A family of them is a file with the function that adds them to the table: nothing
// else knows them.
#ifndef XETILE_TARGET_XE_LANES_LANELOWERING_H
#define XETILE_TARGET_XE_LANES_LANELOWERING_H

#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

struct LaneLowering {
  std::function<llvm::LogicalResult(mlir::Operation *, LaneContext &)> lower;
  /// It does nothing but bring elements to where they are wanted: `print-costs` tells at what cost.
  bool moves = false;
  /// It lowers the operation's regions itself.
  bool hasRegions = false;
};

/// By operation; before these by what holds for an operation that gives only vectors.
class LaneLowerings {
public:
  template <typename Op> using Function = llvm::LogicalResult (*)(Op, LaneContext &);

  template <typename Op> void add(Function<Op> lower) { insert(lower, {}); }
  template <typename Op> void addMove(Function<Op> lower) { insert(lower, {{}, /*moves=*/true}); }
  template <typename Op> void addWithRegions(Function<Op> lower) {
    insert(lower, {{}, /*moves=*/false, /*hasRegions=*/true});
  }
  void addIf(bool (*holds)(mlir::Operation *), Function<mlir::Operation *> lower) {
    general.push_back({holds, {lower}});
  }

  /// Null for an operation without a lowering.
  const LaneLowering *find(mlir::Operation *op) const;

private:
  template <typename Op> void insert(Function<Op> lower, LaneLowering entry) {
    entry.lower = [lower](mlir::Operation *op, LaneContext &lanes) {
      return lower(llvm::cast<Op>(op), lanes);
    };
    exact[mlir::TypeID::get<Op>()] = std::move(entry);
  }

  llvm::SmallVector<std::pair<bool (*)(mlir::Operation *), LaneLowering>> general;
  llvm::DenseMap<mlir::TypeID, LaneLowering> exact;
};

// The families, a file each.
void addAtomicLowerings(LaneLowerings &table);
void addBarrierLowerings(LaneLowerings &table);
void addBlockLowerings(LaneLowerings &table);
void addControlFlowLowerings(LaneLowerings &table);
void addDescriptorLowerings(LaneLowerings &table);
void addDpasLowerings(LaneLowerings &table);
void addElementLowerings(LaneLowerings &table);
void addInsertionLowerings(LaneLowerings &table);
void addMatrixLowerings(LaneLowerings &table);
void addReductionLowerings(LaneLowerings &table);
void addScatteredLowerings(LaneLowerings &table);
void addStructuralLowerings(LaneLowerings &table);
void addTransferLowerings(LaneLowerings &table);

/// The error of an operation, or of types, that no lowering takes.
llvm::LogicalResult refuseLowering(mlir::Operation *op);

/// Rewrites the functions of a module in place. With `printCosts` operations that move elements say
/// at what cost.
llvm::LogicalResult lowerToLanes(mlir::gpu::GPUModuleOp module, const TargetInfo &target,
                                 bool printCosts);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANELOWERING_H

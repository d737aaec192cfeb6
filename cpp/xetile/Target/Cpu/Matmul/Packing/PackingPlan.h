//===- PackingPlan.h - what of a matmul is copied ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_PACKINGPLAN_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_PACKINGPLAN_H

#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/BlockPlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"
#include "xetile/Target/Cpu/Matmul/Packing/Packing.h"

namespace xetile {

/// How the microkernel gets a block of an operand: from where it is; copied row by row; rows along
/// k, copied from columns; panels of B.
enum class BlockForm { InPlace, Rows, RowsFromColumns, Panels };

/// The third plan.
struct PackingPlan {
  struct Operand {
    BlockForm form = BlockForm::InPlace;
    /// All of it is copied before the loops: by the compiler, or once for all calls.
    bool isConstant = false;
    /// All of it is copied before the loop that the matmul stands in.
    bool isBeforeLoop = false;
    /// The element type of the microkernel's operand.
    mlir::Type element;
    /// The dimensions that index rows and columns of copied rows.
    std::array<MatmulDim, 2> dims = {kM, kK};

    /// The loops copy it block by block.
    bool isCopied() const { return form != BlockForm::InPlace && !isWhole(); }
    /// The loops get slices of a copy of all of it.
    bool isWhole() const { return isConstant || isBeforeLoop; }
  };
  std::array<Operand, 2> operands;
  /// As in ConfigChoice.
  int64_t vectorLength, group;
  bool offsetA;
  /// Groups of k that copies have a multiple of, the last ones being zeros.
  int64_t groupsMultiple = 1;
  /// Elements of n in a panel.
  int64_t panel;
  /// True if the microkernel zero-extends the integers of an input; an offset changes that.
  std::array<bool, 2> isUnsigned;

  /// Groups of k in `size` elements of it.
  Index groupsOf(mlir::OpBuilder &b, mlir::Location loc, Index size) const {
    return mulIndex(b, loc, ceilDivIndex(b, loc, size, group * groupsMultiple), groupsMultiple);
  }
  PanelGroups panelGroups() const { return {group, groupsMultiple}; }
  bool hasPanels() const { return operands[1].form == BlockForm::Panels; }
};

PackingPlan planPacking(const Contraction &matmul, const ConfigChoice &choice, const Fusion &fusion,
                        const ThreadPlan &threads, const BlockPlan &blocks);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_PACKINGPLAN_H

//===- PackingPlan.cpp - what of a matmul is copied --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, its configuration, what is computed before it, threads and blocks. Out: the
// form in which the microkernel gets A and B. Nothing is refused: what cannot be copied stays.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Packing/PackingPlan.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"
#include "xetile/Target/Cpu/Matmul/Config/Request.h"

using namespace mlir;
using namespace xetile;

/// The types of copies, once their forms are planned.
static void setElements(const Contraction &matmul, const ConfigChoice &choice, PackingPlan &plan) {
  for (unsigned operand : {0, 1}) {
    PackingPlan::Operand &how = plan.operands[operand];
    how.element = matmul.elementType(operand);
    if (choice.widens[operand] && (how.form == BlockForm::Rows || how.form == BlockForm::Panels))
      how.element = Float32Type::get(matmul.op.getContext());
  }
}

PackingPlan xetile::planPacking(const Contraction &matmul, const ConfigChoice &choice,
                                const Fusion &fusion, const ThreadPlan &threads,
                                const BlockPlan &blocks) {
  PackingPlan plan;
  plan.vectorLength = choice.vectorLength;
  plan.group = choice.group;
  plan.offsetA = choice.offsetA;
  plan.groupsMultiple = choice.fillsTiles ? kTileSide : 1;
  plan.panel = choice.config.innermost[kN];
  plan.isUnsigned = {matmul.isUnsigned(0) != choice.offsetA, matmul.isUnsigned(1)};

  // Blocks of a constant's k must begin where a group of elements does.
  bool wholeGroups =
      blocks.innermost[kK] % plan.group == 0 || (threads.counts[kK] == 1 && blocks.whole[kK]);
  auto isMatrix = [&](unsigned operand) {
    return wholeGroups && !fusion.producers[operand] && matmul.map(operand).getNumResults() == 2;
  };
  auto isKnown = [&](unsigned operand) {
    return isMatrix(operand) && isKnownMatrix(matmul.op->getOperand(operand));
  };
  // Rows and columns of an operand; nothing of the kind in blocked operands, which stay in place.
  auto dims = [&](unsigned operand, MatmulDim own) -> std::array<MatmulDim, 2> {
    bool ownFirst = threads.maps[operand].getDimPosition(0) == matmul.tiled(own);
    return ownFirst ? std::array{own, kK} : std::array{kK, own};
  };

  PackingPlan::Operand &a = plan.operands[0], &b = plan.operands[1];
  if (threads.isPlain(0) && (choice.packA || fusion.producers[0])) {
    a.dims = dims(0, kM);
    a.form = BlockForm::Rows;
    // Groups of k are copied to rows along k, whatever A's own are.
    if (plan.group > 1 && a.dims[0] != kM) {
      a.form = BlockForm::RowsFromColumns;
      a.dims = {kM, kK};
    }
    // Constants keep their bytes and the order of their dimensions.
    a.isConstant = choice.packA && !plan.offsetA && a.form == BlockForm::Rows && isKnown(0);
  }
  if (threads.isPlain(1) && (choice.packB || fusion.producers[1])) {
    b.dims = dims(1, kN);
    b.form = choice.packB ? BlockForm::Panels : BlockForm::Rows;
    b.isConstant = choice.packB && isKnown(1);
    auto loop = dyn_cast<LoopLikeOpInterface>(matmul.op->getParentOp());
    b.isBeforeLoop = choice.packB && !b.isConstant && isMatrix(1) && !choice.offsetA &&
                     matmul.op->hasAttr(kPackBeforeLoopAttr) &&
                     threads.counts == std::array<int64_t, 3>{1, 1, 1} && loop &&
                     loop.isDefinedOutsideOfLoop(matmul.op->getOperand(1));
  }
  if (threads.isPlain(1) && choice.turnB && !choice.packB) {
    // Rows along k that are not contiguous, as those of batches that are, are copied as they are.
    b.form = dims(1, kN)[0] == kN ? BlockForm::Rows : BlockForm::RowsFromColumns;
    b.dims = {kN, kK};
  }
  setElements(matmul, choice, plan);
  return plan;
}

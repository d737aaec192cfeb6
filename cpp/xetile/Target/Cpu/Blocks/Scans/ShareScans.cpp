//===- ShareScans.cpp - rows of scans for threads -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scan along rows of a tensor, in loops over rows. Out: these loops as one scf.forall, each
// step of which writes a row of its own. Refused: nothing; what does more than that stays.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Blocks/Scans/ScanLoop.h"

using namespace mlir;
using namespace xetile;

/// The loop around, if all that it does is `inner` for each row: `inner` writes to its tensor, and
/// its place is one of those that `inner` writes at.
static scf::ForOp loopOverRows(scf::ForOp inner, unsigned output, ScanLoop &scan) {
  auto loop = dyn_cast<scf::ForOp>(inner->getParentOp());
  if (!loop || loop.getNumRegionIterArgs() != 1 ||
      inner.getInitArgs()[output] != loop.getRegionIterArg(0) ||
      loop.getYieldedValues()[0] != inner.getResult(output) ||
      llvm::count(scan.write.getIndices(), loop.getInductionVar()) != 1)
    return nullptr;
  bool isAll = llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    return &op == inner || op.hasTrait<OpTrait::ConstantLike>();
  });
  // Other results of `inner` are dead, and its inits are invariant over rows.
  for (auto [number, result] : llvm::enumerate(inner.getResults()))
    isAll &= number == output || result.use_empty();
  for (Value operand : inner->getOperands())
    isAll &= operand == loop.getRegionIterArg(0) || operand.getParentBlock() != loop.getBody() ||
             matchPattern(operand, m_Constant());
  return isAll ? loop : nullptr;
}

namespace {
/// Bounds of nested loops.
struct Bounds {
  SmallVector<OpFoldResult> low, high, step;
};
} // namespace

/// Those that are known before the outermost loop, if all are.
static std::optional<Bounds> boundsBefore(scf::ForOp outermost, ArrayRef<scf::ForOp> loops) {
  Bounds all;
  for (scf::ForOp loop : loops) {
    // Bounds of the inner ones may be constants inside of the outer ones.
    for (auto [bounds, value] : {std::pair(&all.low, loop.getLowerBound()),
                                 {&all.high, loop.getUpperBound()},
                                 {&all.step, loop.getStep()}}) {
      OpFoldResult bound = getAsOpFoldResult(value);
      if (auto known = dyn_cast<Value>(bound); known && !outermost.isDefinedOutsideOfLoop(known))
        return std::nullopt;
      bounds->push_back(bound);
    }
  }
  return all;
}

void xetile::shareRows(RewriterBase &b, ScanLoop &scan) {
  SmallVector<scf::ForOp> loops;
  unsigned output = scan.outputNumber;
  for (scf::ForOp inner = scan.loop; scf::ForOp outer = loopOverRows(inner, output, scan);
       inner = outer, output = 0)
    loops.insert(loops.begin(), outer);
  if (loops.empty())
    return;
  scf::ForOp outermost = loops.front();
  Location loc = outermost.getLoc();
  std::optional<Bounds> bounds = boundsBefore(outermost, loops);
  if (!bounds)
    return;
  for (Value place : scan.write.getIndices().drop_back())
    if (!outermost.isDefinedOutsideOfLoop(place) &&
        !llvm::any_of(loops, [&](scf::ForOp loop) { return place == loop.getInductionVar(); }))
      return;

  b.setInsertionPoint(outermost);
  auto forall = scf::ForallOp::create(b, loc, bounds->low, bounds->high, bounds->step,
                                      outermost.getInitArgs(), std::nullopt);
  forall->setAttr(kRowsAttr, b.getUnitAttr());
  b.setInsertionPointToStart(forall.getBody());
  IRMapping rows;
  for (auto [loop, place] : llvm::zip_equal(loops, forall.getInductionVars()))
    rows.map(loop.getInductionVar(), place);
  auto type = cast<RankedTensorType>(scan.write.getType());
  SmallVector<OpFoldResult> offsets, sizes(type.getRank(), b.getIndexAttr(1)),
      strides(type.getRank(), b.getIndexAttr(1));
  for (Value place : scan.write.getIndices().drop_back())
    offsets.push_back(getAsOpFoldResult(rows.lookupOrDefault(place)));
  offsets.push_back(b.getIndexAttr(0));
  Value all = forall.getRegionIterArgs()[0];
  sizes.back() = tensor::getMixedSize(b, loc, all, type.getRank() - 1);
  auto rowType = RankedTensorType::get({type.getShape().back()}, type.getElementType());
  Value row = tensor::ExtractSliceOp::create(b, loc, rowType, all, offsets, sizes, strides);
  // Constants of the loops, then the scan.
  for (scf::ForOp loop : loops)
    for (Operation &op : loop.getBody()->without_terminator())
      if (op.hasTrait<OpTrait::ConstantLike>())
        b.clone(op, rows);
  rows.map(scan.loop.getInitArgs()[scan.outputNumber], row);
  auto loop = cast<scf::ForOp>(b.clone(*scan.loop, rows));
  loop.getRegionIterArg(scan.outputNumber).setType(rowType);
  loop.getResult(scan.outputNumber).setType(rowType);
  for (auto write : loop.getBody()->getOps<tensor::InsertOp>()) {
    Value place = write.getIndices().back();
    write.getIndicesMutable().assign(place);
    write.getResult().setType(rowType);
  }
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, loop.getResult(scan.outputNumber), all, offsets,
                                        sizes, strides);
  b.replaceOp(outermost, forall.getResults());
  scan = *ScanLoop::match(loop);
}

//===- TilesInside.cpp - tiles that never reach over their matrix --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: accesses to tiles, each described where it is used. Out: which of them need no test of rows
// or columns, by the ranges of their offsets. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/TilesInside.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace xetile;

/// The least and the greatest number that an offset is at run time.
static std::optional<std::pair<int64_t, int64_t>> getRange(OpFoldResult offset,
                                                           const DataFlowSolver &solver) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return std::pair(*constant, *constant);
  auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(cast<Value>(offset));
  if (!state || state->getValue().isUninitialized())
    return std::nullopt;
  const ConstantIntRanges &range = state->getValue().getValue();
  return std::pair(range.smin().getSExtValue(), range.smax().getSExtValue());
}

llvm::DenseMap<Operation *, std::array<bool, 2>>
xetile::findTilesInside(Operation *root, ArrayRef<Operation *> accesses) {
  llvm::DenseMap<Operation *, std::array<bool, 2>> inside;
  if (accesses.empty())
    return inside;
  DataFlowSolver solver;
  dataflow::loadBaselineAnalyses(solver);
  solver.load<dataflow::IntegerRangeAnalysis>();
  // Without ranges constants still tell.
  (void)solver.initializeAndRun(root);
  for (Operation *access : accesses) {
    InitTileOp init = getLocalInit(access);
    TileType tile = init.getTile().getType();
    auto matrix = dyn_cast<MemRefType>(init.getSource().getType());
    SmallVector<OpFoldResult> sizes =
        getMixedValues(init.getStaticBaseShape(), init.getBaseShape(), init.getContext());
    for (auto [dim, offset] : llvm::enumerate(init.getMixedOffsets())) {
      std::optional<int64_t> size;
      if (!sizes.empty())
        size = getConstantIntValue(sizes[dim]);
      else if (matrix && !matrix.isDynamicDim(dim))
        size = matrix.getDimSize(dim);
      auto range = getRange(offset, solver);
      inside[access][dim] = size && range && range->first >= 0 && tile.getDimSize(dim) <= *size &&
                            range->second <= *size - tile.getDimSize(dim);
    }
  }
  return inside;
}

//===- RestoreLoop.cpp - the loop of a product with a single step ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel whose loop over k was folded, as one step covers k. Out: the same with a loop of one
// step. Refused: nothing; other kernels stay as they are.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/RestoreLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

/// The same load with `counter` added to the offset along k, which is dimension `dim` of the tile.
static Value moveLoad(ImplicitLocOpBuilder &b, LoadTileOp load, unsigned dim, Value counter) {
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
  offsets[dim] = counter;
  bool isStatic = cast<MemRefType>(init.getSource().getType()).hasStaticShape();
  SmallVector<OpFoldResult> shape, strides;
  if (!isStatic) {
    shape = init.getMixedBaseShape();
    strides = init.getMixedBaseStrides();
  }
  auto tile = InitTileOp::create(b, init.getType(), init.getSource(), offsets, shape, strides);
  auto moved = cast<LoadTileOp>(b.clone(*load));
  moved.getTileMutable().assign(tile);
  return moved.getValue();
}

bool hopper::restoreLoop(gpu::GPUFuncOp kernel) {
  SmallVector<TileMmaOp> products;
  kernel.walk([&](TileMmaOp mma) { products.push_back(mma); });
  if (products.size() != 1 || products[0]->getParentOp() != kernel || !products[0].getC())
    return false;
  TileMmaOp mma = products[0];
  std::array<LoadTileOp, 2> loads = {mma.getA().getDefiningOp<LoadTileOp>(),
                                     mma.getB().getDefiningOp<LoadTileOp>()};
  for (auto [dim, load] : llvm::enumerate(loads)) {
    auto init = load ? load.getTile().getDefiningOp<InitTileOp>() : InitTileOp();
    // A begins at column 0, B at row 0.
    if (!init || !isa<MemRefType>(init.getSource().getType()) ||
        !isConstantIntValue(init.getMixedOffsets()[1 - dim], 0))
      return false;
  }
  ImplicitLocOpBuilder b(mma.getLoc(), mma);
  int64_t k = cast<VectorType>(mma.getA().getType()).getDimSize(1);
  auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto loop = scf::ForOp::create(b, number(0), number(k), number(k), mma.getC());
  b.setInsertionPointToStart(loop.getBody());
  Value left = moveLoad(b, loads[0], 1, loop.getInductionVar());
  Value right = moveLoad(b, loads[1], 0, loop.getInductionVar());
  auto inside = cast<TileMmaOp>(b.clone(*mma));
  inside.getAMutable().assign(left);
  inside.getBMutable().assign(right);
  inside.getCMutable().assign(loop.getRegionIterArg(0));
  scf::YieldOp::create(b, inside.getResult());
  mma.getResult().replaceAllUsesWith(loop.getResult(0));
  mma.erase();
  for (LoadTileOp load : loads)
    if (load->use_empty())
      load.erase();
  return true;
}

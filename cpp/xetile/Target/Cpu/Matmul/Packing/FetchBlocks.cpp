//===- FetchBlocks.cpp - lines of B before they are needed -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a block of B, and a tile that is multiplied by it. Out: memref.prefetch of rows of the
// next block, or of this one some steps of k later, for which the microkernel's mark says how
// often. Nothing is refused: the plan says where this is done.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Packing/FetchBlocks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Where the block of B after `block` begins, in the order of the loops.
static std::array<Index, 3> nextBlock(const ThreadNest &nest, const BlockPiece &block) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  const BlockPlan &plan = nest.plan.blocks;
  SmallVector<MatmulDim, 2> loops;
  for (MatmulDim dim : plan.order)
    if (dim != kM && !plan.whole[dim])
      loops.push_back(dim);
  std::array<Index, 3> at = block.offsets;
  if (loops.empty())
    return at;
  auto after = [&](MatmulDim dim) {
    return addIndex(b, loc, at[dim], b.getIndexAttr(plan.sizes[dim]));
  };
  MatmulDim inner = loops.back(), outer = loops.front();
  Index next = after(inner);
  if (inner == outer) {
    at[inner] = next;
    return at;
  }
  // Behind the last step of the inner loop stands the first one of the outer loop's next.
  Value ends = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, asValue(b, loc, next),
                                     asValue(b, loc, nest.extents[inner]));
  auto choose = [&](Index last, Index other) -> Index {
    return arith::SelectOp::create(b, loc, ends, asValue(b, loc, last), asValue(b, loc, other))
        .getResult();
  };
  at[inner] = choose(nest.space.zero, next);
  at[outer] = choose(after(outer), at[outer]);
  return at;
}

/// Rows of the next block that calls before the one for `tile` have fetched.
static Index fetchedBefore(const ThreadNest &nest, const Piece &tile) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  const BlockPlan &plan = nest.plan.blocks;
  Index call = nest.space.zero;
  for (MatmulDim dim : plan.order)
    if (dim != kK) {
      int64_t count = llvm::divideCeil(plan.sizes[dim], plan.innermost[dim]);
      call = addIndex(b, loc, mulIndex(b, loc, call, count),
                      floorDivIndex(b, loc, tile.offsets[dim], plan.innermost[dim]));
    }
  const FetchPlan &fetches = nest.plan.fetches;
  AffineExpr number = b.getAffineSymbolExpr(0);
  auto map = AffineMap::get(
      0, 1, {(number - fetches.firstCall) * fetches.rows, b.getAffineConstantExpr(0)},
      b.getContext());
  return affine::makeComposedFoldedAffineMax(b, loc, map, {call});
}

void xetile::markFetching(const FetchPlan &plan, Operation *kernel) {
  if (plan.fetches())
    kernel->setAttr(kFetchedAttr, DenseI64ArrayAttr::get(kernel->getContext(),
                                                         {plan.columns, plan.steps, plan.lines}));
}

void xetile::fetchLines(const ThreadNest &nest, const BlockPiece &block, const Piece &tile) {
  if (!nest.plan.fetches.fetches())
    return;
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  Value matrix = nest.operands.values[1];
  auto type = cast<RankedTensorType>(matrix.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  Value memory = bufferization::ToBufferOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType(), layout), matrix,
      /*read_only=*/true);

  const FetchPlan &plan = nest.plan.fetches;
  std::array<MatmulDim, 2> dims = {kK, kN};
  std::array<Index, 3> next = block.offsets;
  if (plan.ahead) {
    next[kK] = addIndex(b, loc, next[kK], b.getIndexAttr(plan.ahead));
    next[kN] = addIndex(b, loc, next[kN], tile.offsets[kN]);
  } else {
    dims = nest.plan.packing.operands[1].dims;
    next = nextBlock(nest, block);
    next[dims[0]] = addIndex(b, loc, next[dims[0]], fetchedBefore(nest, tile));
  }
  SmallVector<Value> place;
  for (MatmulDim dim : dims) {
    Index last = subIndex(b, loc, nest.extents[dim], nest.space.one);
    place.push_back(asValue(b, loc, minIndex(b, loc, next[dim], last)));
  }
  memref::PrefetchOp::create(b, loc, memory, place, /*isWrite=*/false,
                             /*localityHint=*/plan.ahead ? 3 : 2, /*isDataCache=*/true);
}

//===- FetchedRows.cpp - lines that come while a microkernel runs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a memref.prefetch before a contraction that is marked. Out: a memref.prefetch for each line
// of what it stands for. Nothing is refused: before other contractions it stays.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/FetchedRows.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Matmul/Packing/FetchBlocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static int64_t bytesOf(MemRefType type) {
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

std::optional<FetchedRows> FetchedRows::before(linalg::LinalgOp kernel) {
  auto marked = kernel->getAttrOfType<DenseI64ArrayAttr>(kFetchedAttr);
  if (!marked || marked.size() != 3 ||
      llvm::any_of(marked.asArrayRef(), [](int64_t value) { return value < 1; }))
    return std::nullopt;
  for (Operation *op = kernel->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto fetch = dyn_cast<memref::PrefetchOp>(op)) {
      if (fetch.getMemRefType().getRank() != 2)
        return std::nullopt;
      int64_t bytes = marked[0] * bytesOf(fetch.getMemRefType());
      return FetchedRows{fetch, int64_t(llvm::divideCeil(bytes, kCacheLineBytes)), marked[1],
                         marked[2]};
    }
    // Side effects end the search, but for ops that initialize the sums.
    if (!isMemoryEffectFree(op) && !isa<linalg::LinalgOp>(op))
      return std::nullopt;
  }
  return std::nullopt;
}

void FetchedRows::fetch(OpBuilder &b, Location loc, Value number) const {
  AffineExpr line = b.getAffineSymbolExpr(0), from = b.getAffineSymbolExpr(1);
  memref::PrefetchOp marked = op;
  MemRefType type = marked.getMemRefType();
  int64_t elements = kCacheLineBytes / bytesOf(type);
  AffineExpr places[] = {from + line.floorDiv(lines), from + (line % lines) * elements};
  SmallVector<Value> indices;
  for (auto [dim, place] : llvm::enumerate(places)) {
    Index at = affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(0, 2, place), {Index(number), Index(marked.getIndices()[dim])});
    Value size = memref::DimOp::create(b, loc, marked.getMemref(), int64_t(dim));
    Value last = arith::SubIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, 1));
    indices.push_back(arith::MinUIOp::create(b, loc, asValue(b, loc, at), last));
  }
  memref::PrefetchOp::create(b, loc, marked.getMemref(), indices, marked.getIsWrite(),
                             marked.getLocalityHint(), marked.getIsDataCache());
}

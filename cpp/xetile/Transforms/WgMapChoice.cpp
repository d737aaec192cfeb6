//===- WgMapChoice.cpp - maps of operands where the rules leave a choice -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/WgMapChoice.h"
#include "xetile/IR/WgMap.h"
#include "xetile/Transforms/Distribution.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace xetile {

WgMapAttr getTransposedSource(TileTransposeOp op, WgMapAttr result) {
  WgMapAttr byRule = deriveOperandMap(op->getOpOperand(0), result);
  if (op.getPermutation() == ArrayRef<int64_t>{0, 1})
    return byRule;
  ArrayRef<int64_t> shape = op.getVector().getType().getShape();
  int64_t all = result.getNumSubgroups();
  SmallVector<SmallVector<int64_t, 2>> grids = {
      SmallVector<int64_t, 2>(byRule.getSgLayout()), {all, 1}, {1, all}};
  for (ArrayRef<int64_t> grid : grids) {
    WgMapAttr map = WgMapAttr::get(op.getContext(), grid, byRule.getSgData());
    if (fitsWgMap(map, shape) &&
        findLocalPieces(getOwnership(map, op.getVector().getType()),
                        getOwnership(result, op.getResult().getType()), {1, 0}))
      return map;
  }
  return byRule;
}

WgMapAttr getMapOfBlocks(WgMapAttr map, VectorType type) {
  SmallVector<int64_t> shape = getMatrixShape(type), data(map.getSgData());
  for (unsigned dim : {0, 1}) {
    int64_t layout = map.getSgLayout()[dim], block = type.getDimSize(2 + dim);
    auto fits = [&](int64_t size) {
      return size % block == 0 && shape[dim] % size == 0 &&
             (shape[dim] % (layout * size) == 0 || layout * size % shape[dim] == 0);
    };
    // All of it fits always.
    for (data[dim] = llvm::alignTo(data[dim], block); !fits(data[dim]);)
      data[dim] += block;
  }
  return WgMapAttr::get(map.getContext(), map.getSgLayout(), data);
}

WgMapAttr getMapAlongVector(WgMapAttr map, ArrayRef<int64_t> shape) {
  int64_t all = map.getNumSubgroups();
  SmallVector<int64_t, 2> layout = {1, 1}, data(shape);
  unsigned dim = shape[0] == 1 ? 1 : 0;
  layout[dim] = all;
  data[dim] = shape[dim] / std::gcd(shape[dim], all);
  return WgMapAttr::get(map.getContext(), layout, data);
}

} // namespace xetile

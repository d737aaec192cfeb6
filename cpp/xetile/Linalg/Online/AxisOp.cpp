//===- AxisOp.cpp - linalg ops by the axes of tensors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensors, an axis for each of their dimensions, and a body. Out: a linalg.generic whose loops
// are the axes. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Online/AxisOp.h"

using namespace mlir;
using namespace xetile;

void AxisOp::add(Value tensor, ArrayRef<OnlineAxis> of) {
  if (llvm::is_contained(inputs, tensor))
    return;
  SmallVector<AffineExpr> exprs;
  for (OnlineAxis axis : of)
    exprs.push_back(getAffineDimExpr(llvm::find(axes, axis) - axes.begin(), tensor.getContext()));
  inputs.push_back(tensor);
  maps.push_back(AffineMap::get(axes.size(), 0, exprs, tensor.getContext()));
}

Value AxisOp::write(OpBuilder &b, Location loc, Value init,
                    llvm::function_ref<Value(OpBuilder &, Get, Value)> body) {
  auto rank = static_cast<unsigned>(cast<RankedTensorType>(init.getType()).getRank());
  SmallVector<AffineMap> all(maps);
  SmallVector<AffineExpr> kept;
  for (unsigned axis = 0; axis < rank; ++axis)
    kept.push_back(b.getAffineDimExpr(axis));
  all.push_back(AffineMap::get(axes.size(), 0, kept, b.getContext()));
  SmallVector<utils::IteratorType> kinds(axes.size(), utils::IteratorType::reduction);
  std::fill_n(kinds.begin(), rank, utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, TypeRange(init.getType()), inputs, ValueRange(init), all, kinds,
      [&](OpBuilder &inside, Location, ValueRange values) {
        auto get = [&](Value tensor) {
          return values[llvm::find(inputs, tensor) - inputs.begin()];
        };
        linalg::YieldOp::create(inside, loc, body(inside, get, values.back()));
      });
  return op.getResult(0);
}

Value AxisOp::create(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type element,
                     llvm::function_ref<Value(OpBuilder &, Get)> body, Value empty) {
  if (!empty)
    empty = tensor::EmptyOp::create(b, loc, shape, element);
  return write(b, loc, empty, [&](OpBuilder &inside, Get get, Value) { return body(inside, get); });
}

Value AxisOp::reduce(OpBuilder &b, Location loc, Value init,
                     llvm::function_ref<Value(OpBuilder &, Get, Value)> body) {
  return write(b, loc, init, body);
}

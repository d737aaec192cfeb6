//===- GroupWorkgroups.cpp - an order of tiles that suits the cache -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels on a grid of tiles, x along columns, y along rows. Out: the same tiles in groups of
// rows. Refused: groups of less than one row.
//===----------------------------------------------------------------------===//
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/Target/Nvidia/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_GROUPWORKGROUPS
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct GroupWorkgroups : xetile::impl::GroupWorkgroupsBase<GroupWorkgroups> {
  using GroupWorkgroupsBase::GroupWorkgroupsBase;

  void runOnOperation() override {
    if (rows < 1) {
      getOperation().emitOpError() << "option rows is " << int64_t(rows) << ", expected at least 1";
      return signalPassFailure();
    }
    if (rows > 1)
      getOperation().walk([&](gpu::GPUFuncOp kernel) { group(kernel); });
  }

private:
  void group(gpu::GPUFuncOp kernel) {
    SmallVector<gpu::BlockIdOp> xs, ys;
    kernel.walk([&](gpu::BlockIdOp id) {
      if (id.getDimension() == gpu::Dimension::x)
        xs.push_back(id);
      else if (id.getDimension() == gpu::Dimension::y)
        ys.push_back(id);
    });
    if (xs.empty() || ys.empty())
      return;
    ImplicitLocOpBuilder b(xs.front().getLoc(), kernel.getContext());
    b.setInsertionPointToStart(&kernel.getBody().front());
    // Divisions of 64 bits take four times as long.
    Type i32 = b.getI32Type();
    auto narrow = [&](Value value) -> Value { return arith::IndexCastOp::create(b, i32, value); };
    auto id = [&](gpu::Dimension dim) { return narrow(gpu::BlockIdOp::create(b, dim)); };
    auto size = [&](gpu::Dimension dim) { return narrow(gpu::GridDimOp::create(b, dim)); };
    auto add = [&](Value l, Value r) -> Value { return arith::AddIOp::create(b, l, r); };
    auto mul = [&](Value l, Value r) -> Value { return arith::MulIOp::create(b, l, r); };
    auto div = [&](Value l, Value r) -> Value { return arith::DivUIOp::create(b, l, r); };
    auto rem = [&](Value l, Value r) -> Value { return arith::RemUIOp::create(b, l, r); };
    Value width = size(gpu::Dimension::x), count = narrow(arith::ConstantIndexOp::create(b, rows));
    Value number = add(mul(id(gpu::Dimension::y), width), id(gpu::Dimension::x));
    Value perGroup = mul(width, count);
    Value first = mul(div(number, perGroup), count), inside = rem(number, perGroup);
    Value left = arith::SubIOp::create(b, size(gpu::Dimension::y), first);
    Value height = arith::MinUIOp::create(b, left, count);
    auto wide = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
    };
    Value y = wide(add(first, rem(inside, height))), x = wide(div(inside, height));
    for (gpu::BlockIdOp old : xs)
      old.replaceAllUsesWith(x);
    for (gpu::BlockIdOp old : ys)
      old.replaceAllUsesWith(y);
    for (gpu::BlockIdOp old : llvm::concat<gpu::BlockIdOp>(xs, ys))
      old.erase();
  }
};
} // namespace

//===- ByteStoreLayout.cpp - a column per lane for stores of bytes ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeGPU of the hardware's sizes. Out: the same, stores of 8-bit tiles of 16 columns say that
// each lane has one of them. Refused: nothing; stores that have a layout keep it.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_BYTESTORELAYOUT
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr int32_t lanes = 16;

bool isByte(Type element) { return element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 8; }

struct ByteStoreLayout : xetile::impl::ByteStoreLayoutBase<ByteStoreLayout> {
  using ByteStoreLayoutBase::ByteStoreLayoutBase;

  void runOnOperation() override {
    auto aColumnEach =
        xegpu::LayoutAttr::get(&getContext(), /*lane_layout=*/ArrayRef<int32_t>{1, lanes},
                               /*lane_data=*/ArrayRef<int32_t>{1, 1});
    getOperation().walk([&](xegpu::StoreNdOp store) {
      xegpu::TensorDescType tile = store.getTensorDescType();
      if (store.getLayoutAttr() || tile.getLayoutAttr() || tile.getRank() != 2 ||
          tile.getDimSize(1) != lanes || !isByte(tile.getElementType()))
        return;
      store.setLayoutAttr(aColumnEach);
    });
  }
};

} // namespace

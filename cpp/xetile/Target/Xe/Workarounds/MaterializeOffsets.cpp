//===- MaterializeOffsets.cpp - offsets of XeGPU accesses as values ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: load_nd, store_nd and prefetch_nd with offsets of any kind. Out: where one offset is a value,
// all are. Refused: nothing.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/Builders.h"
#include "xetile/Target/Xe/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace xetile {
#define GEN_PASS_DEF_MATERIALIZEOFFSETS
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

template <typename AccessOp> void materialize(AccessOp op) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  if (op.getOffsets().empty() || op.getOffsets().size() == offsets.size())
    return;
  OpBuilder builder(op);
  op.getOffsetsMutable().assign(getValueOrCreateConstantIndexOp(builder, op.getLoc(), offsets));
  SmallVector<int64_t> dynamic(offsets.size(), ShapedType::kDynamic);
  op.setConstOffsetsAttr(builder.getDenseI64ArrayAttr(dynamic));
}

struct MaterializeOffsets : xetile::impl::MaterializeOffsetsBase<MaterializeOffsets> {
  using MaterializeOffsetsBase::MaterializeOffsetsBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<xegpu::LoadNdOp, xegpu::StoreNdOp, xegpu::PrefetchNdOp>(
              [](auto access) { materialize(access); });
    });
  }
};

} // namespace

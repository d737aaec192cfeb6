//===- StoreSingleLanes.cpp - masked stores of one lane as plain ones --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the LLVM dialect. Out: the same; a masked store whose constant mask has one lane stores that
// element. Refused: nothing.
//
// LLVM 22 on x86 makes `masked.store(trunc x)` a truncating store, and one of a single lane a store
// of the wide element, which overwrites its neighbours.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_STORESINGLELANES
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// The one lane that a constant mask has; nothing for other masks.
std::optional<int64_t> singleLane(Value mask) {
  DenseElementsAttr lanes;
  if (!matchPattern(mask, m_Constant(&lanes)) || !lanes.getElementType().isInteger(1))
    return std::nullopt;
  std::optional<int64_t> found;
  for (auto [lane, isSet] : llvm::enumerate(lanes.getValues<bool>())) {
    if (isSet && found)
      return std::nullopt;
    if (isSet)
      found = lane;
  }
  return found;
}

struct StoreSingleLanes : xetile::impl::StoreSingleLanesBase<StoreSingleLanes> {
  void runOnOperation() override {
    SmallVector<std::pair<LLVM::MaskedStoreOp, int64_t>> stores;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
        if (std::optional<int64_t> lane = singleLane(store.getMask()))
          stores.push_back({store, *lane});
      return WalkResult::advance();
    });
    for (auto [store, lane] : stores) {
      OpBuilder b(store);
      Location loc = store.getLoc();
      Type element = cast<VectorType>(store.getValue().getType()).getElementType();
      Value index = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(lane));
      Value value = LLVM::ExtractElementOp::create(b, loc, store.getValue(), index);
      Value place = LLVM::GEPOp::create(b, loc, store.getData().getType(), element, store.getData(),
                                        ArrayRef<LLVM::GEPArg>{int32_t(lane)});
      LLVM::StoreOp::create(b, loc, value, place, store.getAlignment());
      store.erase();
    }
  }
};

} // namespace

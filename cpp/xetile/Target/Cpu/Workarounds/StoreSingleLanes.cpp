//===- StoreSingleLanes.cpp - masked stores of one lane as plain ones --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the LLVM dialect. Out: the same; a masked store whose constant mask has one lane stores that
// element, and the masks of integers that are not constant here do not become so in LLVM.
// Refused: nothing.
//
// LLVM 22 on x86 makes `masked.store(trunc x)` a truncating store, and one of a single lane a store
// of the wide element, which overwrites its neighbours. It finds single lanes in constant masks
// only, but makes masks constant that are not here: it unrolls loops, and calls are inlined.
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

/// True if LLVM may see a truncation in a stored value of this type: bf16 is i16 by now.
bool mayBeTruncated(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && !vector.isScalable() && vector.getElementType().isInteger() &&
         vector.getElementTypeBitWidth() < 64;
}

/// `mask`, and what is true without LLVM knowing.
Value hidden(OpBuilder &b, Location loc, Value mask) {
  auto type = cast<VectorType>(mask.getType());
  Value one = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
  Value unknown =
      LLVM::InlineAsmOp::create(b, loc, b.getI32Type(), ValueRange(one), /*asm_string=*/"",
                                /*constraints=*/"=r,0", /*has_side_effects=*/false,
                                /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                /*asm_dialect=*/{}, /*operand_attrs=*/{})
          .getRes();
  Value isTrue = LLVM::TruncOp::create(b, loc, b.getI1Type(), unknown);
  Value lanes = LLVM::PoisonOp::create(b, loc, type);
  Value first = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  lanes = LLVM::InsertElementOp::create(b, loc, lanes, isTrue, first);
  SmallVector<int32_t> zeros(type.getNumElements(), 0);
  lanes = LLVM::ShuffleVectorOp::create(b, loc, lanes, lanes, zeros);
  return LLVM::AndOp::create(b, loc, mask, lanes);
}

struct StoreSingleLanes : xetile::impl::StoreSingleLanesBase<StoreSingleLanes> {
  void runOnOperation() override {
    SmallVector<std::pair<LLVM::MaskedStoreOp, int64_t>> stores;
    SmallVector<LLVM::MaskedStoreOp> unknown;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      auto store = dyn_cast<LLVM::MaskedStoreOp>(op);
      if (!store)
        return WalkResult::advance();
      if (std::optional<int64_t> lane = singleLane(store.getMask()))
        stores.push_back({store, *lane});
      else if (!matchPattern(store.getMask(), m_Constant()) &&
               mayBeTruncated(store.getValue().getType()))
        unknown.push_back(store);
      return WalkResult::advance();
    });
    for (LLVM::MaskedStoreOp store : unknown) {
      OpBuilder b(store);
      store.getMaskMutable().assign(hidden(b, store.getLoc(), store.getMask()));
    }
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

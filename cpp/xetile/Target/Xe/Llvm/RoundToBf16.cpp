//===- RoundToBf16.cpp - f32 to bf16 by one instruction -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code with conversions of f32 to bf16. Out: calls of the functions of Intel's library
// that are a mov of the machine. Refused: nothing; vectors of several dimensions stay.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ROUNDTOBF16
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// Elements of the library's longest vector.
constexpr int64_t kLongest = 16;

struct RoundToBf16 : xetile::impl::RoundToBf16Base<RoundToBf16> {
  void runOnOperation() override {
    SmallVector<arith::TruncFOp> found;
    getOperation().walk([&](arith::TruncFOp op) {
      auto vector = dyn_cast<VectorType>(op.getType());
      bool isPlain = !vector || (vector.getRank() == 1 && !vector.isScalable());
      if (isPlain && getElementTypeOrSelf(op.getType()).isBF16() &&
          getElementTypeOrSelf(op.getIn().getType()).isF32())
        found.push_back(op);
    });
    for (arith::TruncFOp op : found) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.replaceAllUsesWith(
          arith::BitcastOp::create(b, op.getType(), bitsOf(b, op.getIn())).getResult());
      op.erase();
    }
  }

private:
  /// The bits of the numbers, rounded; of a long vector piece by piece.
  Value bitsOf(ImplicitLocOpBuilder &b, Value numbers) {
    auto type = dyn_cast<VectorType>(numbers.getType());
    if (!type)
      return call(b, numbers);
    int64_t size = type.getNumElements();
    if (size == 1) {
      Value bits = call(b, vector::ExtractOp::create(b, numbers, 0));
      return vector::FromElementsOp::create(b, type.clone(b.getI16Type()), bits);
    }
    if (size <= kLongest && llvm::isPowerOf2_64(size))
      return call(b, numbers);
    Value whole = arith::ConstantOp::create(b, b.getZeroAttr(type.clone(b.getI16Type())));
    for (int64_t at = 0; at < size;) {
      auto piece = std::min<int64_t>(kLongest, llvm::bit_floor(static_cast<uint64_t>(size - at)));
      Value part = vector::ExtractStridedSliceOp::create(b, numbers, at, piece, 1);
      whole = vector::InsertStridedSliceOp::create(b, bitsOf(b, part), whole, at, 1);
      at += piece;
    }
    return whole;
  }

  Value call(ImplicitLocOpBuilder &b, Value numbers) {
    LLVM::LLVMFuncOp function = declare(numbers.getType());
    auto call = LLVM::CallOp::create(b, function, numbers);
    call.setCConv(function.getCConv());
    return call.getResult();
  }

  LLVM::LLVMFuncOp declare(Type numbers) {
    gpu::GPUModuleOp module = getOperation();
    auto vector = dyn_cast<VectorType>(numbers);
    int64_t size = vector ? vector.getNumElements() : 1;
    std::string name = ("__builtin_IB_ftobf_" + Twine(size)).str();
    if (auto known = SymbolTable(module).lookup<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    Type bits = vector ? Type(vector.clone(b.getI16Type())) : b.getI16Type();
    auto function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                             LLVM::LLVMFunctionType::get(bits, numbers));
    constexpr auto none = LLVM::ModRefInfo::NoModRef;
    function.setMemoryEffectsAttr(
        LLVM::MemoryEffectsAttr::get(&getContext(), none, none, none, none, none, none));
    function.setCConv(LLVM::cconv::CConv::SPIR_FUNC);
    function.setNoUnwind(true);
    function.setWillReturn(true);
    return function;
  }
};

} // namespace

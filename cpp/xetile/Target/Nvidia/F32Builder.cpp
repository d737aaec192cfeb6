//===- F32Builder.cpp - arithmetic of f32, on numbers or vectors -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an intrinsic of numbers, its operands. Out: a call, or one for each element of vectors.
// Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/F32Builder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using xetile::hopper::F32Builder;

Value F32Builder::ofElements(StringRef intrinsic, ValueRange operands) {
  auto call = [&](ValueRange numbers) -> Value {
    return LLVM::CallIntrinsicOp::create(*this, getF32Type(), getStringAttr(intrinsic), numbers)
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return call(operands);
  Value result = ub::PoisonOp::create(*this, type);
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<int64_t> place = delinearize(i, computeStrides(vector.getShape()));
    SmallVector<Value> parts = llvm::map_to_vector(operands, [&](Value operand) {
      return Value(vector::ExtractOp::create(*this, operand, place));
    });
    result = vector::InsertOp::create(*this, call(parts), result, place);
  }
  return result;
}

//===- Elements.cpp - arithmetic on elements of one of several types ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: floats or signless integers, or vectors of them. Out: arith ops, none where there is nothing
// to do. Nothing is refused: decideConfig has checked the types.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace xetile;

Value xetile::extendElement(OpBuilder &b, Location loc, Value value, Type type, bool isUnsigned) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(getElementTypeOrSelf(type)))
    return arith::ExtFOp::create(b, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

Value xetile::narrowElement(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

Value xetile::addElements(OpBuilder &b, Location loc, Value left, Value right) {
  if (isa<FloatType>(getElementTypeOrSelf(left)))
    return arith::AddFOp::create(b, loc, left, right);
  return arith::AddIOp::create(b, loc, left, right);
}

Value xetile::addByteProducts(OpBuilder &b, Location loc, Value unsignedBytes, Value signedBytes,
                              Value sum) {
  auto type = cast<VectorType>(sum.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  // x86vector has the byte products of later instruction sets only.
  auto name = b.getStringAttr("llvm.x86.avx512.vpdpbusd." + Twine(bits));
  return LLVM::CallIntrinsicOp::create(b, loc, type, name,
                                       ValueRange{sum, unsignedBytes, signedBytes})
      .getResult(0);
}

bool xetile::isLowPrecision(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

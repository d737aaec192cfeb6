//===- LaneDpas.cpp - multiplications by the matrix unit ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: dpas of any size that its instructions divide, operands in the instruction's lanes.
// Out: a xevm.mma for each instruction; where XeVM has no word for the types, the device's builtin.
// Refused: what dpasForm names.
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

namespace {

/// How an element type is called, in XeVM and in the builtins' names.
struct ElementName {
  xevm::ElemType xevm;
  StringRef builtin;
};

ElementName nameOf(Type type, bool isUnsigned) {
  if (type.isF16())
    return {xevm::ElemType::F16, "f16"};
  if (type.isBF16())
    return {xevm::ElemType::BF16, "bf16"};
  if (type.isF32() || isa<FloatTF32Type>(type))
    return {xevm::ElemType::TF32, "tf32"};
  isUnsigned |= type.isUnsignedInteger();
  if (type.isInteger(8))
    return isUnsigned ? ElementName{xevm::ElemType::U8, "u8"}
                      : ElementName{xevm::ElemType::S8, "i8"};
  return isUnsigned ? ElementName{xevm::ElemType::U4, "u4"} : ElementName{xevm::ElemType::S4, "i4"};
}

/// A parameter in the Itanium mangling of OpenCL's functions.
std::string mangle(VectorType type, bool isUnsigned) {
  Type element = type.getElementType();
  std::string name = element.isF16()         ? "Dh"
                     : element.isF32()       ? "f"
                     : element.isInteger(16) ? (isUnsigned ? "t" : "s")
                                             : (isUnsigned ? "j" : "i");
  int64_t count = type.getNumElements();
  return count == 1 ? name : "Dv" + std::to_string(count) + "_" + name;
}

} // namespace

LogicalResult LaneLowering::lowerDpas(xegpu::DpasOp op) {
  Result<DpasForm> form = dpasForm(op, target);
  if (!form)
    return op.emitOpError() << form.error().message;
  MLIRContext *context = op.getContext();
  for (auto [value, map] : {std::pair(op.getLhs(), &form->a), std::pair(op.getRhs(), &form->b)})
    if (layoutOf(value) != map->attr(context))
      return op.emitOpError("has an operand in other lanes than the instruction's; run "
                            "xetile-assign-lane-layouts");
  int64_t rows = form->params.m(), stepsM = form->m / rows, stepsN = form->n / form->params.n(),
          stepsK = form->k / form->params.k();
  Type factor = getElementTypeOrSelf(op.getLhs());
  auto unsignedOperand = op->getAttrOfType<StringAttr>(kUnsignedOperandAttr);
  if (factor.isSignedInteger() != bool(unsignedOperand))
    return op.emitOpError("multiplies ")
           << factor << (unsignedOperand ? " with " : " without ") << kUnsignedOperandAttr
           << "; expected it on products of si8 with unsigned bytes, and i8 where both are signed";
  ElementName a = nameOf(factor, unsignedOperand && unsignedOperand == "a"),
              bName = nameOf(factor, unsignedOperand && unsignedOperand == "b");
  Type result = cast<VectorType>(op.getType()).getElementType();
  auto sumType = VectorType::get({rows}, result);
  bool isFloat = isa<FloatType>(result);
  xevm::ElemType sumName = result.isF32()    ? xevm::ElemType::F32
                           : result.isF16()  ? xevm::ElemType::F16
                           : result.isBF16() ? xevm::ElemType::BF16
                                             : xevm::ElemType::S32;
  // What upstream's lowering of mma was seen to do right.
  bool plain = a.xevm == bName.xevm &&
               (a.xevm == xevm::ElemType::F16 || a.xevm == xevm::ElemType::BF16 ||
                a.xevm == xevm::ElemType::S8) &&
               (isFloat ? result.isF32() : true) && rows > 1;
  auto shape = xevm::MMAShapeAttr::get(context, int(rows), form->params.n(), form->params.k());
  auto types = xevm::MMATypesAttr::get(context, sumName, a.xevm, bName.xevm, sumName);
  auto pack = [&](Value value, Type word) -> Value {
    auto type = cast<VectorType>(value.getType());
    unsigned bits = type.getElementTypeBitWidth() * type.getNumElements();
    auto packed = VectorType::get({int64_t(bits / word.getIntOrFloatBitWidth())}, word);
    return b.createOrFold<vector::BitCastOp>(loc, packed, value);
  };
  bool tf32 = a.xevm == xevm::ElemType::TF32;
  Type wordA = tf32 ? Type(b.getF32Type()) : Type(b.getI16Type()),
       wordB = tf32 ? Type(b.getF32Type()) : Type(b.getI32Type());
  auto unwrap = [&](Value value) { // the builtins take vectors of one as scalars
    auto type = cast<VectorType>(value.getType());
    return type.getNumElements() == 1 ? element(value, 0) : value;
  };
  auto multiply = [&](Value left, Value right, Value sum) -> Value {
    if (plain)
      return xevm::MMAOp::create(b, loc, sumType, left, right, sum, shape, types);
    left = pack(left, wordA);
    right = pack(right, wordB);
    // bf16 travels as the integers of its bits.
    if (result.isBF16())
      sum = b.createOrFold<vector::BitCastOp>(loc, VectorType::get({rows}, b.getI16Type()), sum);
    std::string name = ("intel_sub_group_" + a.builtin + "_" + bName.builtin + "_matrix_mad_k" +
                        llvm::Twine(form->params.k()))
                           .str();
    std::string parameters;
    SmallVector<std::string> seen;
    Values arguments;
    for (auto [value, isUnsigned] :
         {std::pair(left, a.builtin.starts_with("u")),
          std::pair(right, bName.builtin.starts_with("u")), std::pair(sum, false)}) {
      std::string mangled = mangle(cast<VectorType>(value.getType()), isUnsigned);
      // A vector type that came before is named by its number.
      auto found = llvm::find(seen, mangled);
      if (found != seen.end() && mangled.size() > 2)
        parameters +=
            found == seen.begin() ? "S_" : "S" + std::to_string(found - seen.begin() - 1) + "_";
      else {
        parameters += mangled;
        if (mangled.size() > 2)
          seen.push_back(mangled);
      }
      arguments.push_back(unwrap(value));
    }
    std::string mangledName = "_Z" + std::to_string(name.size()) + name + parameters;
    auto type = cast<VectorType>(sum.getType());
    Type resultType = rows == 1 ? type.getElementType() : Type(type);
    Value made = callBuiltin(mangledName, resultType, arguments);
    if (rows == 1)
      made = build(type, {made});
    if (result.isBF16())
      made = b.createOrFold<vector::BitCastOp>(loc, sumType, made);
    return made;
  };
  Values sums;
  if (op.getAcc())
    sums = piecesOf(op.getAcc());
  else
    sums.assign(stepsM * stepsN, arith::ConstantOp::create(b, loc, b.getZeroAttr(sumType)));
  const Values left = piecesOf(op.getLhs()), right = piecesOf(op.getRhs());
  for (int64_t k = 0; k < stepsK; ++k)
    for (int64_t n = 0; n < stepsN; ++n)
      for (int64_t m = 0; m < stepsM; ++m) {
        Value &sum = sums[m * stepsN + n];
        sum = multiply(left[m * stepsK + k], right[k * stepsN + n], sum);
      }
  define(op.getResult(), sums);
  return success();
}

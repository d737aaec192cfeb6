//===- LaneDpas.cpp - multiplications by the matrix unit ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: dpas of any size that its instructions divide, operands in the instruction's lanes.
// Out: a xevm.mma for each instruction; where XeVM has no word for the types, the device's builtin.
// Refused: what dpasForm names.
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"

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

/// Products of one instruction, added to sums of type `sums`.
struct Instruction {
  const DpasParams &params;
  ElementName a, b;
  VectorType sums;

  Type sumType() const { return sums.getElementType(); }
  /// True for types that upstream's lowering of mma was seen to get right.
  bool isMma() const {
    return a.xevm == b.xevm &&
           (a.xevm == xevm::ElemType::F16 || a.xevm == xevm::ElemType::BF16 ||
            a.xevm == xevm::ElemType::S8) &&
           (isa<FloatType>(sumType()) ? sumType().isF32() : true) && sums.getNumElements() > 1;
  }
  Value build(LaneContext &lanes, Value left, Value right, Value sum) const {
    return isMma() ? buildMma(lanes, left, right, sum) : buildCall(lanes, left, right, sum);
  }

private:
  Value buildMma(LaneContext &lanes, Value left, Value right, Value sum) const;
  Value buildCall(LaneContext &lanes, Value left, Value right, Value sum) const;
};

Value Instruction::buildMma(LaneContext &lanes, Value left, Value right, Value sum) const {
  MLIRContext *context = lanes.b.getContext();
  xevm::ElemType sumName = sumType().isF32()    ? xevm::ElemType::F32
                           : sumType().isF16()  ? xevm::ElemType::F16
                           : sumType().isBF16() ? xevm::ElemType::BF16
                                                : xevm::ElemType::S32;
  auto shape = xevm::MMAShapeAttr::get(context, int(params.m()), params.n(), params.k());
  auto types = xevm::MMATypesAttr::get(context, sumName, a.xevm, b.xevm, sumName);
  return xevm::MMAOp::create(lanes.b, sums, left, right, sum, shape, types);
}

/// The builtin's name for parameters of these types.
std::string mangle(StringRef name, ArrayRef<std::pair<VectorType, bool>> parameters) {
  std::string mangled = "_Z" + std::to_string(name.size()) + name.str();
  SmallVector<std::string> seen;
  for (auto [type, isUnsigned] : parameters) {
    std::string parameter = mangle(type, isUnsigned);
    bool isVector = parameter.size() > 2;
    // A vector type that came before is named by its number.
    auto found = llvm::find(seen, parameter);
    if (!isVector || found == seen.end())
      mangled += parameter;
    else
      mangled +=
          found == seen.begin() ? "S_" : "S" + std::to_string(found - seen.begin() - 1) + "_";
    if (isVector && found == seen.end())
      seen.push_back(parameter);
  }
  return mangled;
}

Value Instruction::buildCall(LaneContext &lanes, Value left, Value right, Value sum) const {
  LaneBuilder &builder = lanes.b;
  auto pack = [&](Value value, Type word) -> Value {
    auto type = cast<VectorType>(value.getType());
    unsigned bits = type.getElementTypeBitWidth() * type.getNumElements();
    auto packed = VectorType::get({int64_t(bits / word.getIntOrFloatBitWidth())}, word);
    return builder.createOrFold<vector::BitCastOp>(packed, value);
  };
  bool tf32 = a.xevm == xevm::ElemType::TF32;
  left = pack(left, tf32 ? Type(builder.getF32Type()) : Type(builder.getI16Type()));
  right = pack(right, tf32 ? Type(builder.getF32Type()) : Type(builder.getI32Type()));
  // bf16 travels as the integers of its bits.
  if (sumType().isBF16())
    sum = pack(sum, builder.getI16Type());
  auto type = cast<VectorType>(sum.getType());
  std::string name =
      ("intel_sub_group_" + a.builtin + "_" + b.builtin + "_matrix_mad_k" + llvm::Twine(params.k()))
          .str();
  std::string mangled =
      mangle(name, {{cast<VectorType>(left.getType()), a.builtin.starts_with("u")},
                    {cast<VectorType>(right.getType()), b.builtin.starts_with("u")},
                    {type, false}});
  Values arguments; // vectors of one as scalars
  for (Value value : {left, right, sum})
    arguments.push_back(cast<VectorType>(value.getType()).getNumElements() == 1
                            ? builder.element(value, 0)
                            : value);
  bool isScalar = type.getNumElements() == 1;
  Value made =
      callBuiltin(lanes, mangled, isScalar ? type.getElementType() : Type(type), arguments);
  if (isScalar)
    made = builder.build(type, {made});
  if (sumType().isBF16())
    made = builder.createOrFold<vector::BitCastOp>(sums, made);
  return made;
}

} // namespace

static LogicalResult lower(xegpu::DpasOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  Result<DpasForm> form = dpasForm(op, lanes.target);
  if (!form)
    return op.emitOpError() << form.error().message;
  for (auto [value, map] : {std::pair(op.getLhs(), &form->a), std::pair(op.getRhs(), &form->b)})
    if (lanes.held.layoutOf(value) != map->attr(op.getContext()))
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
  Instruction instruction{form->params, nameOf(factor, unsignedOperand && unsignedOperand == "a"),
                          nameOf(factor, unsignedOperand && unsignedOperand == "b"),
                          VectorType::get({rows}, getElementTypeOrSelf(op.getResult()))};
  Values sums;
  if (op.getAcc())
    sums = Values(lanes.held.piecesOf(op.getAcc()));
  else
    sums.assign(stepsM * stepsN, arith::ConstantOp::create(b, b.getZeroAttr(instruction.sums)));
  ArrayRef<Value> left = lanes.held.piecesOf(op.getLhs()), right = lanes.held.piecesOf(op.getRhs());
  for (int64_t k = 0; k < stepsK; ++k)
    for (int64_t n = 0; n < stepsN; ++n)
      for (int64_t m = 0; m < stepsM; ++m) {
        Value &sum = sums[m * stepsN + n];
        sum = instruction.build(lanes, left[m * stepsK + k], right[k * stepsN + n], sum);
      }
  lanes.held.define(op.getResult(), sums);
  return success();
}

void xetile::addDpasLowerings(LaneLowerings &table) { table.add<xegpu::DpasOp>(lower); }

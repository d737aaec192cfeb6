//===- Bf16Bits.cpp - bf16 as the integers that hold its bits ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: types and attributes. Out: the same, bf16 being i16. Refused: nothing.
#include "xetile/Target/Host/Bf16Bits.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

AttrTypeReplacer xetile::getBf16BitsReplacer(MLIRContext *context) {
  Type bits = IntegerType::get(context, 16);
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](BFloat16Type) -> std::optional<Type> { return bits; });
  replacer.addReplacement([=](FloatAttr value) -> std::optional<Attribute> {
    if (!value.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(bits, value.getValue().bitcastToAPInt());
  });
  replacer.addReplacement([=](DenseElementsAttr values) -> std::optional<Attribute> {
    if (!values.getElementType().isBF16())
      return std::nullopt;
    return values.bitcast(bits);
  });
  return replacer;
}

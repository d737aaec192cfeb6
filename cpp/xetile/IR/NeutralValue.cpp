//===- NeutralValue.cpp - what a reduction starts from -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kind of reduction and an element type that it is for. Out: its neutral element.
// Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/IR/NeutralValue.h"

using namespace mlir;

TypedAttr xetile::getNeutralValue(vector::CombiningKind kind, Type type) {
  using Kind = vector::CombiningKind;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned width = integer.getWidth();
    switch (kind) {
    case Kind::MUL:
      return IntegerAttr::get(type, 1);
    case Kind::MINSI:
      return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
    case Kind::MAXSI:
      return IntegerAttr::get(type, APInt::getSignedMinValue(width));
    case Kind::MINUI:
    case Kind::AND:
      return IntegerAttr::get(type, APInt::getAllOnes(width));
    default:
      return IntegerAttr::get(type, 0);
    }
  }
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  switch (kind) {
  case Kind::MUL:
    return FloatAttr::get(type, APFloat::getOne(semantics));
  case Kind::MINNUMF:
  case Kind::MAXNUMF:
    return FloatAttr::get(type, APFloat::getQNaN(semantics));
  case Kind::MINIMUMF:
    return FloatAttr::get(type, APFloat::getInf(semantics));
  case Kind::MAXIMUMF:
    return FloatAttr::get(type, APFloat::getInf(semantics, /*Negative=*/true));
  default:
    return FloatAttr::get(type, APFloat::getZero(semantics, /*Negative=*/true));
  }
}

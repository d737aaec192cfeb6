//===- XeTileDialect.cpp - registration of the XeTile dialect --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/XeTileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/IR/XeTileTypes.h"

using namespace mlir;
using namespace xetile;

#include "xetile/IR/XeTileDialect.cpp.inc"

template <typename... Ops> void XeTileDialect::addStrictOperations() {
  addOperations<Strict<Ops>...>();
}

void XeTileDialect::initialize() {
  registerAttrs();
  registerTypes();
  addStrictOperations<
#define GET_OP_LIST
#include "xetile/IR/XeTileOps.cpp.inc"
      >();
}

Operation *XeTileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

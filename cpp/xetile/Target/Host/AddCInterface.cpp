//===- AddCInterface.cpp - functions that C can call ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions. Out: the public ones with a body ask for a C interface beside them.
// Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ADDCINTERFACE
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct AddCInterface : xetile::impl::AddCInterfaceBase<AddCInterface> {
  void runOnOperation() override {
    for (func::FuncOp function : getEntryPoints(getOperation()))
      function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), UnitAttr::get(&getContext()));
  }
};
} // namespace

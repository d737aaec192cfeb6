//===- XeTileDialect.h - the XeTile dialect ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEDIALECT_H
#define XETILE_IR_XETILEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "xetile/IR/XeTileDialect.h.inc"

#endif // XETILE_IR_XETILEDIALECT_H

//===- XeTileDialect.h - the XeTile dialect ------------------------------===//
#ifndef XETILE_IR_XETILEDIALECT_H
#define XETILE_IR_XETILEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "xetile/IR/XeTileDialect.h.inc"

#endif // XETILE_IR_XETILEDIALECT_H

//===- XeTileTypes.h - the tile type --------------------------------------===//
#ifndef XETILE_IR_XETILETYPES_H
#define XETILE_IR_XETILETYPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xetile/IR/XeTileAttrs.h"

#define GET_TYPEDEF_CLASSES
#include "xetile/IR/XeTileTypes.h.inc"

#endif // XETILE_IR_XETILETYPES_H

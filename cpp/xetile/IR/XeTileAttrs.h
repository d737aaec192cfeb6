//===- XeTileAttrs.h - wg_map and tile_attr ------------------------------===//
#ifndef XETILE_IR_XETILEATTRS_H
#define XETILE_IR_XETILEATTRS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

#include "xetile/IR/XeTileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xetile/IR/XeTileAttrs.h.inc"

#endif // XETILE_IR_XETILEATTRS_H

//===- XeTileAttrs.h - wg_map, tile_attr and matmul_config ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEATTRS_H
#define XETILE_IR_XETILEATTRS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "xetile/IR/MatmulConfig.h"

#include "xetile/IR/XeTileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "xetile/IR/XeTileAttrs.h.inc"

#endif // XETILE_IR_XETILEATTRS_H

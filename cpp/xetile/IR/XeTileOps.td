// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEOPS_TD
#define XETILE_IR_XETILEOPS_TD

include "xetile/IR/MatmulConfigAttr.td"
include "xetile/IR/XeTileMemoryOps.td"
include "xetile/IR/XeTileVectorOps.td"

#endif // XETILE_IR_XETILEOPS_TD

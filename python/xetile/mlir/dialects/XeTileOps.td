// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What xetile.mlir.dialects.xetile is generated from.
include "xetile/IR/XeTileOps.td"

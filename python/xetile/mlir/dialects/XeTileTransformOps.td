// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What xetile.mlir.dialects.transform.xetile is generated from.
include "xetile/Schedule/TransformOps.td"

// What xetile.mlir.dialects.xetile is generated from.
include "xetile/IR/XeTileOps.td"

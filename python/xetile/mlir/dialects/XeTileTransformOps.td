// What xetile.mlir.dialects.transform.xetile is generated from.
include "xetile/Schedule/TransformOps.td"

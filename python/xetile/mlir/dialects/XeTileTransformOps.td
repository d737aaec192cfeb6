// What xetile.mlir.dialects.transform.xetile is generated from.
include "xetile/TransformOps/TransformOps.td"

//===- XeTile.h - C API of the XeTile dialect and its passes --------*- C -*-===//
#ifndef XETILE_C_XETILE_H
#define XETILE_C_XETILE_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(XeTile, xetile);

/// Adds the XeTile dialect and the transform ops that schedules call.
MLIR_CAPI_EXPORTED void mlirXeTileRegisterDialects(MlirDialectRegistry registry);

/// Registers all passes and pipelines of XeTile by name. A second call changes nothing.
MLIR_CAPI_EXPORTED void mlirXeTileRegisterPasses(void);

#ifdef __cplusplus
}
#endif

#endif // XETILE_C_XETILE_H

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

/// A chip that kernels can be compiled for, and what its threads are.
typedef struct MlirXeTileTarget {
  MlirStringRef chip;          ///< the name users write
  MlirStringRef description;   ///< marketing names
  MlirStringRef oclocDevice;   ///< `ocloc compile -device`
  unsigned subgroupSize;       ///< lanes
  unsigned maxWorkItems;       ///< per workgroup
  unsigned registerBytes;      ///< of one register
  unsigned registersPerThread; ///< in the default mode
  unsigned largeRegisters;     ///< per thread in large-register mode, at half the threads
} MlirXeTileTarget;

/// Calls `visit` with each target, in the order of their names.
MLIR_CAPI_EXPORTED void mlirXeTileForEachTarget(void (*visit)(const MlirXeTileTarget *target,
                                                              void *userData),
                                                void *userData);

/// Whether kernels can be compiled for `chip`; if not, `explain` is called with the reason.
MLIR_CAPI_EXPORTED bool mlirXeTileCheckChip(MlirStringRef chip, MlirStringCallback explain,
                                            void *userData);

#ifdef __cplusplus
}
#endif

#endif // XETILE_C_XETILE_H

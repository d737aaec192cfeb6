//===- XeTile.h - C API of the XeTile dialect and its passes --------*- C -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_C_XETILE_H
#define XETILE_C_XETILE_H

#include "mlir-c/ExecutionEngine.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(XeTile, xetile);

/// Diagnostics come without the operation they are about. To print one verifies it, which upstream
/// does not survive where it is being verified, and it may be thousands of lines.
MLIR_CAPI_EXPORTED void mlirXeTileContextPrintNoOpsInDiagnostics(MlirContext context);

/// `#xetile.wg_map`. A location stands for the context and for where errors are reported; the
/// result is then null.
MLIR_CAPI_EXPORTED bool mlirAttributeIsAXeTileWgMap(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirXeTileWgMapAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirXeTileWgMapAttrGetChecked(MlirLocation location,
                                                               intptr_t numLayout,
                                                               const int64_t *sgLayout,
                                                               intptr_t numData,
                                                               const int64_t *sgData);
MLIR_CAPI_EXPORTED int64_t mlirXeTileWgMapAttrGetSgLayout(MlirAttribute map, intptr_t dim);
MLIR_CAPI_EXPORTED int64_t mlirXeTileWgMapAttrGetSgData(MlirAttribute map, intptr_t dim);

/// Calls `visit` with each piece of a tile of `rows` x `columns`: its first row and column, and the
/// subgroups that own it. False, with an error at `location`, if the map does not distribute such a
/// tile, or into more than `maxPieces` pieces or `maxOwners` owners of all of them together.
MLIR_CAPI_EXPORTED bool
mlirXeTileWgMapAttrForEachPiece(MlirLocation location, MlirAttribute map, int64_t rows,
                                int64_t columns, int64_t maxPieces, int64_t maxOwners,
                                void (*visit)(int64_t row, int64_t column, intptr_t numOwners,
                                              const int64_t *owners, void *userData),
                                void *userData);

/// `#xetile.tile_attr`; `order` and `innerBlocks` have no or two elements, `wgMap` may be null.
MLIR_CAPI_EXPORTED bool mlirAttributeIsAXeTileTile(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirXeTileTileAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute mlirXeTileTileAttrGetChecked(
    MlirLocation location, MlirAttribute wgMap, intptr_t numOrder, const int64_t *order,
    intptr_t numInnerBlocks, const int64_t *innerBlocks, bool isShared, bool scatter);
MLIR_CAPI_EXPORTED MlirAttribute mlirXeTileTileAttrGetWgMap(MlirAttribute attribute);
/// Elements of the list: 0 or 2.
MLIR_CAPI_EXPORTED intptr_t mlirXeTileTileAttrGetNumOrder(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t mlirXeTileTileAttrGetOrder(MlirAttribute attribute, intptr_t dim);
MLIR_CAPI_EXPORTED intptr_t mlirXeTileTileAttrGetNumInnerBlocks(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t mlirXeTileTileAttrGetInnerBlocks(MlirAttribute attribute, intptr_t dim);
/// Returns true if the tile is in shared local memory, not in global memory.
MLIR_CAPI_EXPORTED bool mlirXeTileTileAttrIsShared(MlirAttribute attribute);
MLIR_CAPI_EXPORTED bool mlirXeTileTileAttrIsScattered(MlirAttribute attribute);

/// `!xetile.tile`; `encoding` may be null.
MLIR_CAPI_EXPORTED bool mlirTypeIsAXeTileTile(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirXeTileTileTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType mlirXeTileTileTypeGetChecked(MlirLocation location, intptr_t rank,
                                                         const int64_t *shape, MlirType elementType,
                                                         MlirAttribute encoding);
MLIR_CAPI_EXPORTED int64_t mlirXeTileTileTypeGetDimSize(MlirType type, intptr_t dim);
MLIR_CAPI_EXPORTED MlirType mlirXeTileTileTypeGetElementType(MlirType type);
MLIR_CAPI_EXPORTED MlirAttribute mlirXeTileTileTypeGetEncoding(MlirType type);
/// The vector that a load of the tile gives.
MLIR_CAPI_EXPORTED MlirType mlirXeTileTileTypeGetVectorType(MlirType type);

/// Calls `visit` with the name and the meaning of each field of `#xetile.matmul_config`, in the
/// order in which they are printed.
MLIR_CAPI_EXPORTED void
mlirXeTileForEachMatmulField(void (*visit)(MlirStringRef name, MlirStringRef doc, void *userData),
                             void *userData);
/// Calls `visit` with the name of each `loopOrder`, in the order of their numbers.
MLIR_CAPI_EXPORTED void mlirXeTileForEachLoopOrder(MlirStringCallback visit, void *userData);

/// Calls `visit` with LLVM's name of each feature that this CPU does not have, or that the
/// environment variable XETILE_CPU_WITHOUT takes from it. False, after a call of `explain` with
/// what is wrong, where that variable names none of LLVM's features.
MLIR_CAPI_EXPORTED bool mlirXeTileForEachAbsentCpuFeature(MlirStringCallback visit,
                                                          MlirStringCallback explain,
                                                          void *userData);

/// True if the table of rates has the CPU that this process runs on.
MLIR_CAPI_EXPORTED bool mlirXeTileKnowsHostCpu(void);

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

/// Returns true if kernels can be compiled for `chip`; else `explain` gets the reason.
MLIR_CAPI_EXPORTED bool mlirXeTileCheckChip(MlirStringRef chip, MlirStringCallback explain,
                                            void *userData);

/// Adds what a schedule declares and does not define: from `folder`, else from the package. False,
/// with a diagnostic, if a file cannot be read or merged.
MLIR_CAPI_EXPORTED bool mlirXeTileCompleteSchedule(MlirModule schedule, MlirStringRef folder);

/// Returns true if a schedule's file can be read with its parts, in a child process; false, with
/// diagnostics, if it cannot.
MLIR_CAPI_EXPORTED bool mlirXeTileProbeSchedule(MlirContext context, MlirStringRef file);

/// Returns true if a file is one of the package's schedules.
MLIR_CAPI_EXPORTED bool mlirXeTileIsPackagedSchedule(MlirStringRef file);

/// The name of the packaged schedule for a program on a GPU where none was named. `prepared` is
/// what the sequence @prepare of the schedule gpu_model made of a copy of it; null where it failed.
MLIR_CAPI_EXPORTED MlirStringRef mlirXeTileSuggestSchedule(MlirModule payload, MlirModule prepared);

/// The number of the level of an Intel GPU that a module is at, by what it holds.
MLIR_CAPI_EXPORTED unsigned mlirXeTileFindLevel(MlirModule module);

/// False only if certainly nothing writes through this memref: no op, and no kernel that is
/// launched with it.
MLIR_CAPI_EXPORTED bool mlirXeTileMayBeWritten(MlirValue address);

/// An op of a program on a GPU: the number and the schedule of the kernel that computes it, and why
/// it is in that one.
typedef struct MlirXeTileOpInKernel {
  MlirOperation op;
  int64_t kernel;
  MlirStringRef schedule, reason;
} MlirXeTileOpInKernel;

/// A kernel of such a program: bytes that it reads from memory and writes if it moves each element
/// once, -1 where sizes are those of a run.
typedef struct MlirXeTileKernelTraffic {
  int64_t kernel;
  MlirStringRef schedule;
  int64_t read, written;
} MlirXeTileKernelTraffic;

/// Calls `visitOp` with each op of the kernels that transform.xetile.assign_kernels would make of
/// `module`, in its order, and `visitKernel` with each kernel, in the order in which they run.
MLIR_CAPI_EXPORTED void mlirXeTileExplainKernels(
    MlirModule module, void (*visitOp)(const MlirXeTileOpInKernel *op, void *userData),
    void (*visitKernel)(const MlirXeTileKernelTraffic *kernel, void *userData), void *userData);

/// Applies the sequence `entry` of a schedule to a payload. False, with diagnostics, if it fails.
/// One that is not `trusted` is checked before, and runs in a child process.
MLIR_CAPI_EXPORTED bool mlirXeTileApplySchedule(MlirModule payload, MlirModule schedule,
                                                MlirStringRef entry, bool trusted);

/// Gives `take` the object file of a module in the LLVM dialect, with code for this CPU. False,
/// with a diagnostic, if there is none. `optLevel` is LLVM's, 0 to 3.
MLIR_CAPI_EXPORTED bool mlirXeTileMakeObjectFile(MlirModule module, unsigned optLevel,
                                                 MlirStringCallback take, void *userData);

/// The same with the code as assembly, whose `.loc` name the lines of functions with debug scopes.
MLIR_CAPI_EXPORTED bool mlirXeTileMakeAssembly(MlirModule module, unsigned optLevel,
                                               MlirStringCallback take, void *userData);

/// An execution engine with the code, for this CPU, of a module in the LLVM dialect; null, with a
/// diagnostic, if there is none. `libraries` are files that define what it calls. Its constructors
/// have run; it has no tables for unwinding.
MLIR_CAPI_EXPORTED MlirExecutionEngine mlirXeTileMakeHostEngine(MlirModule module,
                                                                unsigned optLevel,
                                                                intptr_t numLibraries,
                                                                const MlirStringRef *libraries);

/// Rates of a product with a chip: what rooflines are made of. `operationsCycle` of a core's matrix
/// units on 16-bit elements, a multiply-add is two; `memoryGBs` in 10^9 bytes per second.
typedef struct MlirXeTileRates {
  MlirStringRef chip, product;
  unsigned cores, operationsCycle, megahertz;
  double memoryGBs;
} MlirXeTileRates;

/// Calls `visit` with the rates of each chip of which they are known.
MLIR_CAPI_EXPORTED void
mlirXeTileForEachRates(void (*visit)(const MlirXeTileRates *rates, void *userData), void *userData);

/// A target that modules can be compiled for: what it is, the names of its levels, its options and
/// what each is for.
typedef struct MlirXeTileTargetEntry {
  MlirStringRef name, description;
  MlirStringRef binary; ///< what the last level holds
  intptr_t numLevels;
  const MlirStringRef *levels;
  intptr_t numOptions;
  const MlirStringRef *options, *optionHelps;
} MlirXeTileTargetEntry;

/// Calls `visit` with each target of `xetile-compile`, in the order of their names.
MLIR_CAPI_EXPORTED void
mlirXeTileForEachTargetEntry(void (*visit)(const MlirXeTileTargetEntry *entry, void *userData),
                             void *userData);

/// How a level of a target is reached from the level before, the first one from what users write.
typedef struct MlirXeTileLevel {
  MlirStringRef name;
  MlirStringRef action;   ///< in words, as the end of "cannot ..."
  MlirStringRef pipeline; ///< passes as text; empty where only a schedule leads there
} MlirXeTileLevel;

/// Calls `visit` with each level of the target, from the first to the last, and returns true;
/// `explain` if there is no such target or it does not have these options.
MLIR_CAPI_EXPORTED bool
mlirXeTileForEachLevel(MlirStringRef target, intptr_t numOptions, const MlirStringRef *names,
                       const MlirStringRef *values,
                       void (*visit)(const MlirXeTileLevel *level, void *userData),
                       MlirStringCallback explain, void *userData);

/// Calls `tell` with the absolute path of Intel's offline compiler and returns true; without one,
/// with what to do about that.
MLIR_CAPI_EXPORTED bool mlirXeTileFindOcloc(MlirStringCallback tell, void *userData);

/// The result of `mlirXeTileRunOcloc`: code as an ELF file, facts of it, assembly of each kernel.
typedef struct MlirXeTileNative {
  MlirStringRef bytes;
  int64_t spillBytes, registers;
  intptr_t numKernels;
  const MlirStringRef *assembly;
} MlirXeTileNative;

/// Registers of a thread: 128, 256 for half the threads, or these where they make it spill less.
typedef enum MlirXeTileRegisterFile {
  MlirXeTileRegistersSmall,
  MlirXeTileRegistersLarge,
  MlirXeTileRegistersAuto
} MlirXeTileRegisterFile;

/// Compiles SPIR-V to machine code and assembly with the ocloc that is found; with `lineTables` the
/// lines that the SPIR-V names are in both. Calls `take` with them and returns true; if it fails,
/// `explain` with the reason.
MLIR_CAPI_EXPORTED bool mlirXeTileRunOcloc(MlirStringRef spirv, MlirStringRef device,
                                           MlirXeTileRegisterFile registers, bool lineTables,
                                           void (*take)(const MlirXeTileNative *, void *userData),
                                           MlirStringCallback explain, void *userData);

#ifdef __cplusplus
}
#endif

#endif // XETILE_C_XETILE_H

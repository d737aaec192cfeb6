// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XeTileRuntime.h: what libXeTileRuntime offers beside MLIR's mgpu* functions.
// Input: plain C values; output: plain C values and text, copied into the caller's buffer.
// Refused: nothing is thrown across this boundary; a function that can fail says so through its
// result.
//
// Environment:
// - XETILE_DEVICE: the device: an index, "cpu", "gpu", or a part of a device's or platform's name
// - XETILE_OPENCL_RT: a directory that holds Intel's OpenCL CPU driver (libintelocl.so), searched
//   before all others
// - XETILE_CACHE: where linked programs are kept (default: xetile in the user's cache directory)
// - XETILE_BUILTINS: "portable" or "lockstep": which versions of Intel's builtins are linked, to
//   find a fault in them
// - XETILE_CHECK_PREFETCHES: 1 fails launches whose 2D block prefetches do not point into the
//   matrix that they name, where the runtime brings Intel's builtins. A prefetch changes no result,
//   so nothing else tells.
// - XETILE_CHECK: 1 runs each kernel twice, the second time with the subgroups of a workgroup in
// the
//   other order, on arrays between guards. A launch fails if results differ, if a kernel reads or
//   writes outside of its arrays, or if a 2D block message breaks a rule of Intel's GPUs.
#ifndef XETILE_RUNTIME_XETILERUNTIME_H
#define XETILE_RUNTIME_XETILERUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define XETILE_RUNTIME_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// The policy of errors in calls of this library.
enum XeTileRuntimeErrorMode {
  /// Print `xetile runtime: error: ...` with the build log to stderr and end the process with
  /// status 1. The default: a
  /// lowered host program (mlir-runner, a linked executable) has no other way to hear of a failure.
  XETILE_RUNTIME_EXIT_ON_ERROR = 0,
  /// Keep the first message for xetileRuntimeTakeError. Until it is taken every mgpu* function is
  /// harmless: nothing is
  /// launched or copied, and allocations are host memory, so that host code never dereferences
  /// null.
  XETILE_RUNTIME_RECORD_ERRORS = 1
};

/// Sets the error mode and returns the one before. An unknown value changes nothing.
XETILE_RUNTIME_EXPORT int xetileRuntimeSetErrorMode(int mode);

/// Copies the recorded message (cut to `size` bytes, null-terminated) and forgets it. Returns the
/// full length of the message without its null, 0 if nothing failed. With a null `out` the message
/// stays recorded.
XETILE_RUNTIME_EXPORT size_t xetileRuntimeTakeError(char *out, size_t size);

/// All text functions below copy at most `size` bytes (always null-terminated when `size` is not 0)
/// and return the full length without the null: call with `out` null to learn the length.

/// The OpenCL devices as a JSON array, in the order that XETILE_DEVICE=<index> and
/// mgpuSetDefaultDevice count:
/// [{"index", "name", "platform", "type" ("cpu"|"gpu"|"accelerator"|"other"), "driver", "version",
/// "subgroup_sizes",
///   "fp16", "fp64", "svm" ("none"|"coarse"|"fine"|"system"), "usm", "spirv", "native_block_io",
///   "native_dpas", "compute_units", "local_memory" (bytes), "selected"}]
XETILE_RUNTIME_EXPORT size_t xetileRuntimeListDevices(char *out, size_t size);

/// Where OpenCL drivers were looked for and what came of it: one line per place. For `xetile
/// doctor`.
XETILE_RUNTIME_EXPORT size_t xetileRuntimeDescribeDrivers(char *out, size_t size);

/// The name of the device that the next kernel runs on. Empty, with a recorded error, if there is
/// none.
XETILE_RUNTIME_EXPORT size_t xetileRuntimeSelectedDevice(char *out, size_t size);

/// The index of that device, -1 if there is none.
XETILE_RUNTIME_EXPORT int xetileRuntimeSelectedIndex(void);

/// The OpenCL C definitions that would be linked to this SPIR-V module on a device that has none of
/// Intel's builtins. `lockstep` chooses between the versions for a CPU (1) and for a device whose
/// lanes do not share private memory (0). Empty, with a recorded error, for a module that cannot be
/// parsed or imports something unknown.
XETILE_RUNTIME_EXPORT size_t xetileRuntimeGenerateBuiltins(const void *spirv, size_t spirvSize,
                                                           int lockstep, char *out, size_t size);

/// All that a SPIR-V module asks of a launch, as a JSON object:
/// {"kernels": [{"name", "subgroup_size" (0: the module requires none), "local_size" ([0, 0, 0]),
///   "parameters": [{"name" ("" if the module does not tell), "kind"
///     ("pointer"|"constant"|"local"|"int"|"float"|"struct"|"other"), "bits" (of a component),
///     "lanes", "bytes"}]}],
///  "notes": ["dropped ...", "rewritten ..."], "defined": [functions]}, the notes being what a
///  device other than a GPU makes of it, the functions what this runtime brings there. Empty, with
///  a recorded error, for what is no module, or holds what nobody here knows.
XETILE_RUNTIME_EXPORT size_t xetileRuntimeDescribeModule(const void *spirv, size_t spirvSize,
                                                         char *out, size_t size);

/// The module that a device other than a GPU is given, or with `reversed` that of the second run of
/// checks: at most `size` bytes are copied, and the full size is returned. 0 with a recorded error
/// as above.
XETILE_RUNTIME_EXPORT size_t xetileRuntimePortableSpirv(const void *spirv, size_t spirvSize,
                                                        int reversed, char *out, size_t size);

/// A block of host memory that arguments of a launch point into.
typedef struct XeTileHostBlock {
  void *host;
  size_t bytes;   ///< at least 1
  size_t written; ///< 1 if the host is to have what the kernel leaves there
} XeTileHostBlock;

/// Runs a kernel of mgpuModuleGetFunction and waits for it. `grid` counts groups, `block` the
/// work-items of one. `localBytes` has a size for each parameter that is local memory, `params` the
/// address of a value for each other one, in their order. `blocks`, which do not overlap, are
/// copied to the device first, and back if there was no error; pointers to them are those to the
/// copies for the kernel. A failure is recorded.
XETILE_RUNTIME_EXPORT void xetileRuntimeLaunch(void *kernel, const int64_t *grid,
                                               const int64_t *block, const size_t *localBytes,
                                               size_t localCount, void **params, size_t paramsCount,
                                               const XeTileHostBlock *blocks, size_t blockCount);

/// Counters of this process. Times are in nanoseconds.
typedef struct XeTileRuntimeStats {
  uint64_t launches;          ///< kernels launched
  uint64_t kernelNanoseconds; ///< device time of the last kernel, 0 before the first
  uint64_t
      buildNanoseconds; ///< host time to compile and link, or load from the cache, the last program
  uint64_t programsBuilt;   ///< programs compiled and linked from SPIR-V
  uint64_t diskCacheHits;   ///< programs loaded from the disk cache
  uint64_t memoryCacheHits; ///< module loads that found their program in this process
  uint64_t liveAllocations; ///< mgpuMemAlloc results that were not freed
  // With XETILE_CHECK_PREFETCHES=1, of the last kernel:
  uint64_t prefetches;      ///< 2D block prefetches
  uint64_t prefetchesAhead; ///< of them, those wholly behind the matrix, as a loop's last ones are
  uint64_t prefetchSum;     ///< equal for equal prefetches in any order
  uint64_t keptUploads;     ///< constants copied to a device, once for each device and program
  uint64_t keptBytes;       ///< their bytes
  uint64_t keptConstants;   ///< of them, those whose program is still loaded
} XeTileRuntimeStats;

/// Fills `stats`; waits for the last kernel. Returns 0, or 1 with a recorded error.
XETILE_RUNTIME_EXPORT int xetileRuntimeGetStats(XeTileRuntimeStats *stats);

/// A descriptor of memory as MLIR's C interface has it, of one dimension.
typedef struct XeTileMemory {
  void *allocated;
  void *aligned;
  int64_t offset, size, stride;
} XeTileMemory;

/// For lowered host code (the pass xetile-keep-constants): the copy of `bytes` bytes of host
/// memory, which never change, on the current device. It is made in the first call for that owner,
/// memory and device, from any thread, and stays until its owner is forgotten. Null while a
/// recorded error waits: nothing is launched then.
XETILE_RUNTIME_EXPORT void _mlir_ciface_xetileRuntimeKeep(XeTileMemory *result, intptr_t owner,
                                                          intptr_t host, intptr_t bytes);

/// Frees the copies of an owner, as code does when it is unloaded.
XETILE_RUNTIME_EXPORT void xetileRuntimeForget(const void *owner);

#ifdef __cplusplus
}
#endif
#endif

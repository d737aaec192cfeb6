//===- Hopper.h - what a Hopper GPU takes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources: PTX ISA 8.6, "wgmma" and "cp.async.bulk.tensor"; CUDA C++ Programming Guide, "Compute
// Capabilities", 9.0; CUDA Driver API, cuTensorMapEncodeTiled.
#ifndef XETILE_TARGET_NVIDIA_HOPPER_H
#define XETILE_TARGET_NVIDIA_HOPPER_H

#include "mlir/IR/Types.h"
#include "xetile/Facts/Result.h"
#include "xetile/Target/AttentionTiling.h"
#include "xetile/Target/MatmulTiling.h"

namespace xetile::hopper {

inline constexpr llvm::StringLiteral kChip = "sm_90a";
/// The first version of PTX whose forms the lowering uses; LLVM aborts on some of them below it.
inline constexpr llvm::StringLiteral kFeatures = "+ptx86";

inline constexpr int64_t kSharedBytes = int64_t(227) * 1024; // of one workgroup
inline constexpr int64_t kWarpgroup = 128;                   // threads
inline constexpr int64_t kMaxWarpgroups = 4;                 // that the registers below allow
inline constexpr int64_t kRegisters = int64_t(64) * 1024;    // of a multiprocessor
inline constexpr int64_t kThreadRegisters = 255;
inline constexpr int64_t kWgmmaM = 64, kWgmmaMaxN = 256;
inline constexpr int64_t kWgmmaKBytes = 32;   // of a row of A, by one instruction
inline constexpr int64_t kSwizzleBytes = 128; // a row of a tile in shared memory
inline constexpr int64_t kSwizzleAlign = 1024;
inline constexpr int64_t kTmaUnit = 16;   // bytes that rows in memory are multiples of
inline constexpr int64_t kMaxBox = 256;   // elements along one side of what a TMA loads
inline constexpr int64_t kMaxMapRank = 5; // of an array that a tensor map describes

/// The bytes of a stage of the ring: a tile of A and one of B, of elements of so many bytes.
int64_t stageBytes(const MatmulTiling &tiling, int64_t inputBytes);
/// Two buffers of 64 rows for each warpgroup, by which results leave.
int64_t storeBytes(const MatmulTiling &tiling);
/// All of a workgroup's shared memory: stages, buffers, two barriers for each stage.
int64_t sharedBytes(const MatmulTiling &tiling, int64_t inputBytes);

/// Registers of a thread in a workgroup of so many warpgroups that multiply, and one that loads:
/// together no more than the workgroup began with, else setmaxnreg waits for ever.
struct RegisterSplit {
  int64_t multiplying, loading; // 0 where nothing is handed over
};
RegisterSplit splitRegisters(int64_t warpgroups, bool loadsPlainly);
/// Why warpgroups that multiply by these tiles, maybe of f32 that is split into parts, leave no
/// room for one that loads.
Problem checkSpecialized(const MatmulTiling &tiling, bool loadsPlainly, bool isSplit);
/// True if results of products are stored as that type.
bool isStored(mlir::Type type);
/// True if a warpgroup that only loads gains: where workgroups walk several tiles the next one is
/// loaded while one is stored, and one that is alone on its multiprocessor waits less in many
/// `steps` along k. Both are below zero if they are not known.
bool gainsBySpecializing(int64_t tiles, int64_t steps);

/// All sizes of a matmul's tiles.
MatmulTiling chooseTiling(const MatmulProblem &problem, MatmulTiling given);
/// Into how many parts to split k, of whole steps and one size, which a second kernel adds up; 1
/// for not at all. `given` has the step along k, and the tile as far as it is not open.
int64_t chooseParts(const MatmulProblem &problem, const MatmulTiling &given);
/// The first limit that they exceed.
Problem checkTiling(const MatmulTiling &tiling, mlir::Type input, mlir::Type sum);

/// Tiles of an attention: queries of a workgroup and its warpgroups, three where a row of the
/// output is 64 elements or less, whose registers leave room for one more to compute powers while
/// others multiply. Elements of values as whole rows of shared memory, and fewer keys of a step
/// where there are many.
AttentionTiling chooseAttention(const AttentionProblem &problem);
/// The tile of a matrix that is computed element by element: some thousands of elements of long
/// rows, and at least two for each multiprocessor; fewer where each is computed of a window.
std::array<int64_t, 2> chooseElementwise(int64_t rows, int64_t columns, int64_t windows);

/// The tile that a workgroup scans at a time.
std::array<int64_t, 2> chooseScan(int64_t rows, int64_t columns);
/// The tile of a convolution that threads compute, of filters and a row of the image.
std::array<int64_t, 2> chooseConvolution(int64_t filters, int64_t columns);
/// Why kernels of such tiles do not compute it.
Problem checkAttention(const AttentionProblem &problem);

/// The same of f32 that is multiplied exactly, whose parts take registers, too.
Problem checkSplit(const MatmulTiling &tiling);
/// True if a product of f32 is faster in tiles of the matrix unit, exactly, than on vector units.
bool gainsBySplitting(const MatmulProblem &problem);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_HOPPER_H

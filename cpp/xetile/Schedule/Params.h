//===- Params.h - reading parameters and handles of transform ops -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every failure here is definite and names the parameter as the schedule's user knows it.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_SCHEDULE_PARAMS_H
#define XETILE_SCHEDULE_PARAMS_H

#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

namespace xetile {

struct Target;

/// Every step that a prefetch runs ahead is one more prefetch before the loop.
constexpr int64_t kMaxPrefetchDistance = 64;

/// Bounds products of tile sizes, so that none can overflow 64 bits.
constexpr int64_t kMaxTileSize = 1 << 20;

/// Reads the one integer of `param` into `value`; refuses values below `minimum`.
mlir::DiagnosedSilenceableFailure readInteger(mlir::transform::TransformOpInterface op,
                                              mlir::transform::TransformState &state,
                                              mlir::Value param, llvm::StringRef name,
                                              int64_t minimum, int64_t &value);

/// Reads the one string of `param` into `value`, which lives as long as the context.
mlir::DiagnosedSilenceableFailure readString(mlir::transform::TransformOpInterface op,
                                             mlir::transform::TransformState &state,
                                             mlir::Value param, llvm::StringRef name,
                                             llvm::StringRef &value);

/// Reads `param`, "exact" or "tf32": how products of f32 are computed.
mlir::DiagnosedSilenceableFailure readPrecision(mlir::transform::TransformOpInterface op,
                                                mlir::transform::TransformState &state,
                                                mlir::Value param, bool &isTf32);

/// Reads on which `units` of a `chip` products of f32 are to be, "matrix" or "vector". Sets
/// `target` to the chip's where these are matrix units that multiply f32 exactly, else to null.
mlir::DiagnosedSilenceableFailure readF32Units(mlir::transform::TransformOpInterface op,
                                               mlir::transform::TransformState &state,
                                               mlir::Value units, mlir::Value chip,
                                               const Target *&target);

/// A definite failure of `op` because its payload `target` is not an `expected`.
mlir::DiagnosedSilenceableFailure wrongTarget(mlir::transform::TransformOpInterface op,
                                              mlir::Operation *target, llvm::StringRef expected);

} // namespace xetile

#endif // XETILE_SCHEDULE_PARAMS_H

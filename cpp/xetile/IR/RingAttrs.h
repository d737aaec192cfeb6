//===- RingAttrs.h - a kernel's ring of tiles in shared memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_RINGATTRS_H
#define XETILE_IR_RINGATTRS_H

#include "llvm/ADT/StringRef.h"

namespace xetile {

/// Of a kernel for Nvidia's GPUs: `stages`, `stage_bytes`, `shared_bytes`, `threads`, `written`,
/// the arguments that it writes; maybe `pipeline`, who loads ("simple" or "specialized", or
/// "threads" that share tiles without a ring), `overlap` and `lazy` of an attention, `loads`, how
/// ("plain"), `image`, the argument that is read as `xetile.window` says, and `aligned`, arguments
/// each with bytes that they begin at a multiple of.
inline constexpr llvm::StringLiteral kRingAttr = "xetile.ring";
/// Of a global: the matrix (`argument`) and the `box` of elements that a tensor map describes, the
/// adjacent ones first; maybe `outer_dim`, along which dimension of the array its other side is, 1
/// by default, and `exact`: elements of f32 are not rounded to tf32.
inline constexpr llvm::StringLiteral kMapAttr = "xetile.tensor_map";
/// Of a kernel: those of its last parameters, in order.
inline constexpr llvm::StringLiteral kMapsAttr = "xetile.tensor_maps";
/// Of an xetile.tile_mma of f32: its operands may be rounded to tf32.
inline constexpr llvm::StringLiteral kTf32Attr = "xetile.tf32";
/// Of a global: it has the numbers of tiles along x, y and z, which a kernel walks by itself.
inline constexpr llvm::StringLiteral kGridAttr = "xetile.grid";

} // namespace xetile

#endif // XETILE_IR_RINGATTRS_H

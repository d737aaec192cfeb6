// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinName.h: what an imported function's name asks for.
// Input: an imported function of a SPIR-V module; output: block shape, matrix types, or 1D block
// kind. Refused: names of these families with a shape or types that no Intel GPU has.
#ifndef XETILE_RUNTIME_BUILTINNAME_H
#define XETILE_RUNTIME_BUILTINNAME_H

#include "SpirvModule.h"

#include <optional>
#include <string>

namespace xetile::runtime {

/// intel_sub_group_2d_block_{read,read_transform,read_transpose,write,prefetch}_<bits>b_<rows>r<columns>x<blocks>c
struct BlockIo {
  enum Kind { Read, ReadTransform, ReadTranspose, Write, Prefetch };
  Kind kind;
  unsigned bits, rows, columns, blocks;

  unsigned elementBytes() const { return bits / 8; }
};

enum class MatrixElement { F16, BF16, TF32, S8, U8, S4, U4 };

/// intel_sub_group_<a>_<b>_matrix_mad_k<depth>
struct Dpas {
  enum Accumulator { F32, F16, BF16, S32 };
  MatrixElement a, b;
  Accumulator accumulator;
  /// Repeat count: rows of A and of the accumulator.
  unsigned rows;
  unsigned depth;

  /// Consecutive k that one lane holds of a row of A.
  unsigned elementsPerLane() const;
};

/// Of __builtin_IB_subgroup_*: {create,copy}Block2DAddressPayload,
/// {add,set}Block2DAddressPayload{BlockX,BlockY},
/// setBlock2DAddressPayload{Base,Width,Heigth,Pitch},
/// block_read_ap_prefetch_u<bits>_m<rows>k<columns>v<blocks>, block_write_ap_u<..>,
/// block_read_ap_u<..>.
struct PayloadCall {
  enum Kind { Create, Copy, Update, Prefetch, Load, Store };
  Kind kind;
  /// The field of an update, and whether it adds; sizes are passed less one.
  std::string field;
  bool adds = false, lessOne = false;
  BlockIo block{};
};

/// __builtin_IB_ftobf_<lanes>: f32 to bf16, as the integers of its bits.
struct Bf16Rounding {
  unsigned lanes;
};

/// The name without its Itanium mangling.
std::string unmangledName(const std::string &name);

/// Each returns nothing if the name is of another family and throws an Error if the function does
/// not exist.
std::optional<BlockIo> asBlockIo(const SpirvImport &import);
std::optional<PayloadCall> asPayloadCall(const SpirvImport &import);
std::optional<Dpas> asDpas(const SpirvImport &import);
std::optional<Bf16Rounding> asBf16Rounding(const SpirvImport &import);

} // namespace xetile::runtime
#endif

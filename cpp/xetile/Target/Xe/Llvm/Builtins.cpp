//===- Builtins.cpp - functions that a GPU's driver brings --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a mangled name of cl_intel_subgroup_2d_block_io or cl_intel_subgroup_matrix_multiply_
// accumulate, and a chip. Out: whether the chip has it. Refused: names of these extensions with
// shapes or types that they do not have; other names are not looked at.
#include "xetile/Target/Xe/Llvm/Builtins.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace xetile;

namespace {

/// Of 2D block accesses: "read_16b_32r16x2c".
std::optional<std::string> checkBlock(const TargetInfo &target, StringRef name) {
  enum { Read, Transform, Transpose, Write, Prefetch } kind;
  if (name.consume_front("read_transform_"))
    kind = Transform;
  else if (name.consume_front("read_transpose_"))
    kind = Transpose;
  else if (name.consume_front("read_"))
    kind = Read;
  else if (name.consume_front("write_"))
    kind = Write;
  else if (name.consume_front("prefetch_"))
    kind = Prefetch;
  else
    return "a 2D block access is a read, read_transform, read_transpose, write or prefetch";
  unsigned bits, rows, columns, blocks;
  if (name.consumeInteger(10, bits) || !name.consume_front("b_") || name.consumeInteger(10, rows) ||
      !name.consume_front("r") || name.consumeInteger(10, columns) || !name.consume_front("x") ||
      name.consumeInteger(10, blocks) || name != "c")
    return "its shape is written <bits>b_<rows>r<columns>x<blocks>c";
  if (kind == Write) {
    if (blocks != 1)
      return ("number of blocks of a 2D block store is " + Twine(blocks) + ", expected 1").str();
    return target.check2DBlockStore(bits, columns, rows);
  }
  if (kind == Prefetch)
    return target.check2DBlockPrefetch(bits, columns, rows, blocks);
  return target.check2DBlockLoad(bits, columns, rows, blocks, kind == Transpose, kind == Transform);
}

unsigned bitsOf(StringRef type) {
  return StringSwitch<unsigned>(type)
      .Cases({"f16", "bf16"}, 16)
      .Case("tf32", 32)
      .Cases({"i8", "s8", "u8"}, 8)
      .Cases({"i4", "s4", "u4"}, 4)
      .Default(0);
}

/// Of matrix multiplications: "f16_f16_matrix_mad_k16". Their rows are in the mangled types.
std::optional<std::string> checkMultiply(const TargetInfo &target, StringRef name) {
  auto [operands, depth] = name.split("_matrix_mad_k");
  auto [left, right] = operands.split('_');
  unsigned k, bits = bitsOf(left);
  bool isFloat = bits >= 16;
  if (!bits || !bitsOf(right) || (isFloat ? left != right : bitsOf(right) > 8))
    return ("matrices of " + left + " and " + right +
            " are not multiplied, expected f16, bf16 or tf32 twice, or integers of 4 or 8 bits")
        .str();
  if (depth.getAsInteger(10, k))
    return "its depth is written matrix_mad_k<k>";
  return target.checkDpas(std::max(bits, bitsOf(right)), 1, target.dpas.n, k);
}

} // namespace

std::optional<std::string> xetile::whyNoBuiltin(const TargetInfo &target, StringRef mangled) {
  StringRef name = mangled;
  unsigned length;
  if (!name.consume_front("_Z") || name.consumeInteger(10, length) || length > name.size())
    return std::nullopt;
  name = name.take_front(length);
  if (!name.consume_front("intel_sub_group_"))
    return std::nullopt;
  if (name.consume_front("2d_block_"))
    return checkBlock(target, name);
  return name.contains("_matrix_mad_k") ? checkMultiply(target, name) : std::nullopt;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinName.cpp: what an imported function's name asks for.
// Input: an imported function of a SPIR-V module; output: block shape, matrix types, 1D block kind
// or conversion. Refused: names of these families with a shape or types that no Intel GPU has, and
// signatures that do not fit the name.
#include "BuiltinName.h"

#include "Errors.h"

#include <cctype>
#include <map>

namespace xetile::runtime {
namespace {

[[noreturn]] void refuse(const SpirvImport &import, const std::string &why) {
  throw Error("the kernel imports '" + import.name + "', which no Intel GPU has: " + why +
              ". Change the operation that was lowered to it");
}

bool isPowerOfTwo(unsigned value) { return value && !(value & (value - 1)); }

// Reads what a pattern of literals and numbers asks for from the front of a string.
class Cursor {
public:
  explicit Cursor(const std::string &text) : text(text) {}
  bool literal(const std::string &expected) {
    if (text.compare(at, expected.size(), expected) != 0)
      return false;
    at += expected.size();
    return true;
  }
  bool number(unsigned &value) {
    size_t begin = at;
    value = 0;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && at - begin < 4)
      value = value * 10 + static_cast<unsigned>(text[at++] - '0');
    return at > begin;
  }
  std::string word() {
    size_t begin = at;
    while (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])))
      ++at;
    return text.substr(begin, at - begin);
  }
  bool done() const { return at == text.size(); }

private:
  const std::string &text;
  size_t at = 0;
};

bool isScalar(const SpirvType &type, SpirvType::Kind kind, unsigned bits) {
  return type.kind == kind && type.bits == bits && type.lanes == 1;
}

bool isPointer(const SpirvType &type, std::initializer_list<unsigned> storages) {
  if (type.kind != SpirvType::Pointer)
    return false;
  for (unsigned storage : storages)
    if (type.storage == storage)
      return true;
  return false;
}

void checkBlockSignature(const SpirvImport &import, const BlockIo &block) {
  const std::vector<SpirvType> &p = import.parameters;
  size_t expected = block.kind == BlockIo::Prefetch ? 5 : 6;
  bool fits = import.result.kind == SpirvType::Void && p.size() == expected &&
              isPointer(p[0], {storage::crossWorkgroup, storage::generic}) &&
              isScalar(p[1], SpirvType::Int, 32) && isScalar(p[2], SpirvType::Int, 32) &&
              isScalar(p[3], SpirvType::Int, 32) && p[4].kind == SpirvType::Int &&
              p[4].bits == 32 && p[4].lanes == 2 &&
              (expected == 5 || isPointer(p[5], {storage::function, storage::generic}));
  if (!fits)
    refuse(import, "its parameters must be a global pointer, width, height and pitch as i32, a "
                   "vector<2xi32> coordinate"
                   " and, for reads and writes, a private pointer");
}

// The pointee in the mangled name, in bytes; 0 if the name does not say.
unsigned pointeeBytes(const std::string &name) {
  if (name.size() < 2 || name[name.size() - 2] != 'P')
    return 0;
  switch (name.back()) {
  case 'h':
    return 1;
  case 't':
    return 2;
  case 'j':
    return 4;
  case 'm':
    return 8;
  default:
    return 0;
  }
}

// Limits of PVC and Xe2: facts checked on Debian 12; the XeVM dialect's verifiers;
// cl_intel_subgroup_2d_block_io.
void checkBlockShape(const SpirvImport &import, const BlockIo &block) {
  unsigned bits = block.bits, rows = block.rows, columns = block.columns, blocks = block.blocks;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    refuse(import, "elements have 8, 16, 32 or 64 bits");
  // A prefetch moves nothing, so any shape that a message can have will do.
  if (block.kind == BlockIo::Prefetch) {
    if (!rows || rows > 32 || !columns || !blocks || blocks > 8)
      refuse(import, "a prefetch has 1 to 32 rows and 1 to 8 blocks");
    return;
  }
  unsigned maxRows = block.kind == BlockIo::Write ? 8 : 32;
  if (!isPowerOfTwo(rows) || rows > maxRows)
    refuse(import, "rows must be a power of two up to " + std::to_string(maxRows));
  if (block.kind == BlockIo::ReadTranspose) {
    bool fits = bits == 32
                    ? columns >= 1 && columns <= 8
                    : bits == 64 && rows == 8 && (columns == 1 || columns == 2 || columns == 4);
    if (!fits || blocks != 1)
      refuse(import, "a transposing read takes one block of 32-bit elements with 1 to 8 columns, "
                     "or of 64-bit elements "
                     "with 8 rows and 1, 2 or 4 columns");
    return;
  }
  if (block.kind == BlockIo::ReadTransform) {
    unsigned minRows = bits == 8 ? 4 : 2, maxBlocks = bits == 8 ? 4 : 2;
    if ((bits != 8 && bits != 16) || rows < minRows || columns != 16 || !isPowerOfTwo(blocks) ||
        blocks > maxBlocks)
      refuse(import, "a transforming read takes 16 columns of 8-bit elements (4 rows or more, 1, 2 "
                     "or 4 blocks) or of "
                     "16-bit elements (2 rows or more, 1 or 2 blocks)");
    return;
  }
  unsigned minColumns = bits == 8 ? 4 : bits == 16 ? 2 : 1, maxColumns = 512 / bits;
  if (!isPowerOfTwo(columns) || columns < minColumns || columns > maxColumns)
    refuse(import, "columns of " + std::to_string(bits) +
                       "-bit elements must be a power of two from " + std::to_string(minColumns) +
                       " to " + std::to_string(maxColumns));
  unsigned maxBlocks = block.kind == BlockIo::Write || bits == 64 ? 1 : bits == 32 ? 2 : 4;
  if (!isPowerOfTwo(blocks) || blocks > maxBlocks)
    refuse(import, "there may be up to " + std::to_string(maxBlocks) + " blocks (1, 2 or 4)");
  if (columns * bits * blocks > 512)
    refuse(import, "a row of all blocks may have up to 512 bits, this one has " +
                       std::to_string(columns * bits * blocks));
  // Each lane of a block smaller than 16 elements holds one whole element: an array of narrower
  // ones is too small.
  unsigned pointee = pointeeBytes(import.name);
  if (rows * columns < 16 && pointee && pointee < block.elementBytes())
    refuse(import, "its private array has elements of " + std::to_string(pointee * 8) +
                       " bits, too few for one of " + std::to_string(bits));
}

} // namespace

std::string unmangledName(const std::string &name) {
  if (name.compare(0, 2, "_Z") != 0)
    return name;
  size_t at = 2, length = 0;
  while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) && at < 8)
    length = length * 10 + static_cast<size_t>(name[at++] - '0');
  return length && at + length <= name.size() ? name.substr(at, length) : name;
}

std::optional<BlockIo> asBlockIo(const SpirvImport &import) {
  std::string name = unmangledName(import.name);
  Cursor cursor(name);
  if (!cursor.literal("intel_sub_group_2d_block_"))
    return std::nullopt;
  BlockIo block{};
  if (cursor.literal("read_transform_"))
    block.kind = BlockIo::ReadTransform;
  else if (cursor.literal("read_transpose_"))
    block.kind = BlockIo::ReadTranspose;
  else if (cursor.literal("read_"))
    block.kind = BlockIo::Read;
  else if (cursor.literal("write_"))
    block.kind = BlockIo::Write;
  else if (cursor.literal("prefetch_"))
    block.kind = BlockIo::Prefetch;
  else
    refuse(import, "2D block functions read, write or prefetch");
  if (!cursor.number(block.bits) || !cursor.literal("b_") || !cursor.number(block.rows) ||
      !cursor.literal("r") || !cursor.number(block.columns) || !cursor.literal("x") ||
      !cursor.number(block.blocks) || !cursor.literal("c") || !cursor.done())
    refuse(import, "the shape is written <bits>b_<rows>r<columns>x<blocks>c");
  checkBlockShape(import, block);
  checkBlockSignature(import, block);
  return block;
}

namespace {

void checkPayloadSignature(const SpirvImport &import, const PayloadCall &call) {
  const std::vector<SpirvType> &p = import.parameters;
  auto integers = [&](size_t first, size_t count) {
    bool fit = p.size() == first + count;
    for (size_t i = first; fit && i < p.size(); ++i)
      fit = isScalar(p[i], SpirvType::Int, 32);
    return fit;
  };
  bool makes = call.kind == PayloadCall::Create || call.kind == PayloadCall::Copy;
  bool fits = makes ? isPointer(import.result, {storage::function})
                    : (import.result.kind == SpirvType::Void) == (call.kind != PayloadCall::Load);
  auto isShare = [&](const SpirvType &type) {
    const BlockIo &block = call.block;
    return type.kind == SpirvType::Int &&
           16 * type.lanes * type.bits == block.rows * block.columns * block.blocks * block.bits;
  };
  bool takesPayload = !p.empty() && isPointer(p[0], {storage::function});
  switch (call.kind) {
  case PayloadCall::Create:
    fits = fits && !p.empty() && isScalar(p[0], SpirvType::Int, 64) && integers(1, 8);
    break;
  case PayloadCall::Copy:
    fits = fits && takesPayload && integers(1, 0);
    break;
  case PayloadCall::Update:
    fits = fits && takesPayload &&
           (call.field == "base" ? p.size() == 2 && isScalar(p[1], SpirvType::Int, 64)
                                 : integers(1, 1));
    break;
  case PayloadCall::Prefetch:
    fits = fits && takesPayload && integers(1, 3);
    break;
  case PayloadCall::Load:
    fits = fits && takesPayload && integers(1, 3) && isShare(import.result);
    break;
  case PayloadCall::Store:
    fits = fits && takesPayload && p.size() == 5 && isShare(p[3]);
    for (size_t i : {1, 2, 4})
      fits = fits && isScalar(p[i], SpirvType::Int, 32);
    break;
  }
  if (!fits)
    refuse(import,
           "its parameters do not fit the name: a payload is a private pointer, made of a "
           "base as i64 and eight i32, updated by a value, prefetched with x, y and cache "
           "control as i32, loaded with the same for a lane's share of the block, stored with that "
           "before the last");
}

std::optional<PayloadCall::Kind> messageOf(Cursor &cursor) {
  if (cursor.literal("block_write_ap_u"))
    return PayloadCall::Store;
  if (cursor.literal("block_read_ap_prefetch_u"))
    return PayloadCall::Prefetch;
  return cursor.literal("block_read_ap_u") ? std::optional(PayloadCall::Load) : std::nullopt;
}

std::optional<PayloadCall> payloadCallOf(const SpirvImport &import) {
  Cursor cursor(import.name);
  if (!cursor.literal("__builtin_IB_subgroup_"))
    return std::nullopt;
  PayloadCall call{};
  if (cursor.literal("createBlock2DAddressPayload")) {
    call.kind = PayloadCall::Create;
  } else if (cursor.literal("copyBlock2DAddressPayload")) {
    call.kind = PayloadCall::Copy;
  } else if (std::optional<PayloadCall::Kind> message = messageOf(cursor)) {
    call.kind = *message;
    call.block.kind = *message == PayloadCall::Store  ? BlockIo::Write
                      : *message == PayloadCall::Load ? BlockIo::Read
                                                      : BlockIo::Prefetch;
    if (!cursor.number(call.block.bits) || !cursor.literal("_m") ||
        !cursor.number(call.block.rows) || !cursor.literal("k") ||
        !cursor.number(call.block.columns) || !cursor.literal("v") ||
        !cursor.number(call.block.blocks))
      refuse(import, "the shape is written u<bits>_m<rows>k<columns>v<blocks>");
    checkBlockShape(import, call.block);
  } else {
    call.kind = PayloadCall::Update;
    call.adds = cursor.literal("addBlock2DAddressPayload");
    if (!call.adds && !cursor.literal("setBlock2DAddressPayload"))
      return std::nullopt;
    if (cursor.literal("BlockX"))
      call.field = "x";
    else if (cursor.literal("BlockY"))
      call.field = "y";
    else if (!call.adds && cursor.literal("Base"))
      call.field = "base";
    else if (call.lessOne = !call.adds; call.lessOne && cursor.literal("Width"))
      call.field = "width";
    else if (call.lessOne && cursor.literal("Heigth")) // as Intel's library spells it
      call.field = "height";
    else if (call.lessOne && cursor.literal("Pitch"))
      call.field = "pitch";
    else
      return std::nullopt;
  }
  if (!cursor.done())
    return std::nullopt;
  checkPayloadSignature(import, call);
  return call;
}

} // namespace

std::optional<PayloadCall> asPayloadCall(const SpirvImport &import) {
  return payloadCallOf(import);
}

std::optional<Bf16Rounding> asBf16Rounding(const SpirvImport &import) {
  Cursor cursor(import.name);
  if (!cursor.literal("__builtin_IB_ftobf_"))
    return std::nullopt;
  Bf16Rounding rounding{};
  if (!cursor.number(rounding.lanes) || !cursor.done() || !isPowerOfTwo(rounding.lanes) ||
      rounding.lanes > 16)
    refuse(import, "it rounds 1, 2, 4, 8 or 16 numbers");
  const SpirvType &result = import.result;
  const std::vector<SpirvType> &p = import.parameters;
  if (p.size() != 1 || p[0].kind != SpirvType::Float || p[0].bits != 32 ||
      p[0].lanes != rounding.lanes || result.kind != SpirvType::Int || result.bits != 16 ||
      result.lanes != rounding.lanes)
    refuse(import, "it takes as many f32 as the name says and returns i16");
  return rounding;
}

unsigned Dpas::elementsPerLane() const {
  switch (a) {
  case MatrixElement::S8:
  case MatrixElement::U8:
    return 2;
  case MatrixElement::S4:
  case MatrixElement::U4:
    return 4;
  default:
    return 1;
  }
}

/// Elements of A and B, by their names, and the depth that they ask for.
static void readElements(Dpas &dpas, const SpirvImport &import, const std::string &a,
                         const std::string &b) {
  // XeVM spells signed integers s8 and s4, the OpenCL extension i8 and i4.
  static const std::map<std::string, MatrixElement> elements = {
      {"f16", MatrixElement::F16}, {"bf16", MatrixElement::BF16}, {"tf32", MatrixElement::TF32},
      {"i8", MatrixElement::S8},   {"s8", MatrixElement::S8},     {"u8", MatrixElement::U8},
      {"i4", MatrixElement::S4},   {"s4", MatrixElement::S4},     {"u4", MatrixElement::U4}};
  auto foundA = elements.find(a), foundB = elements.find(b);
  if (foundA == elements.end() || foundB == elements.end())
    refuse(import, "matrix elements are f16, bf16, tf32, i8, u8, i4 or u4");
  dpas.a = foundA->second;
  dpas.b = foundB->second;
  unsigned width = dpas.elementsPerLane();
  bool integer = width > 1, tf32 = dpas.a == MatrixElement::TF32;
  Dpas other = dpas;
  other.a = dpas.b;
  if (integer ? other.elementsPerLane() != width : dpas.a != dpas.b)
    refuse(import, "A and B must both be f16, bf16 or tf32, or both integers of one width");
  unsigned depth = integer ? width * 16 : tf32 ? 8 : 16;
  if (dpas.depth != depth)
    refuse(import, "k must be " + std::to_string(depth) + " for these elements");
}

/// PortableSpirv.cpp passes sums of f16 as their bits, to functions of names that no compiler
/// makes.
static bool passesBits(const SpirvImport &import) {
  // SpirvEdit numbers functions of one name.
  size_t end = import.name.find_last_not_of("0123456789");
  return end != std::string::npos && end >= 2 && import.name.compare(end - 2, 3, "_xt") == 0;
}

/// Rows and type of the result, which is the accumulator.
static void readAccumulator(Dpas &dpas, const SpirvImport &import) {
  dpas.rows = import.result.lanes;
  // The extension's list. Intel's CPU runtime also miscompiles functions that take vectors of 3.
  if (dpas.rows > 8 || !isPowerOfTwo(dpas.rows))
    refuse(import, "the accumulator has 1, 2, 4 or 8 rows");
  if (import.result.kind == SpirvType::Float && import.result.bits == 32)
    dpas.accumulator = Dpas::F32;
  else if (import.result.kind == SpirvType::Float && import.result.bits == 16)
    dpas.accumulator = Dpas::F16;
  else if (import.result.kind == SpirvType::Int && import.result.bits == 16)
    dpas.accumulator = dpas.a == MatrixElement::F16 && passesBits(import) ? Dpas::F16 : Dpas::BF16;
  else if (import.result.kind == SpirvType::Int && import.result.bits == 32)
    dpas.accumulator = Dpas::S32;
  else
    refuse(import, "the accumulator is f32, f16, bf16 (as i16) or i32");
  bool integer = dpas.elementsPerLane() > 1;
  bool accumulatorFits = dpas.accumulator == Dpas::S32    ? integer
                         : dpas.accumulator == Dpas::F16  ? dpas.a == MatrixElement::F16
                         : dpas.accumulator == Dpas::BF16 ? dpas.a == MatrixElement::BF16
                                                          : !integer;
  if (!accumulatorFits)
    refuse(import,
           "integers accumulate in i32, f16 in f32 or f16, bf16 in f32 or bf16, tf32 in f32");
}

std::optional<Dpas> asDpas(const SpirvImport &import) {
  std::string name = unmangledName(import.name);
  Cursor cursor(name);
  if (!cursor.literal("intel_sub_group_"))
    return std::nullopt;
  std::string a = cursor.word();
  if (!cursor.literal("_"))
    return std::nullopt;
  std::string b = cursor.word();
  Dpas dpas{};
  if (!cursor.literal("_matrix_mad_k") || !cursor.number(dpas.depth) || !cursor.done())
    return std::nullopt;

  readElements(dpas, import, a, b);
  const std::vector<SpirvType> &p = import.parameters;
  if (p.size() != 3)
    refuse(import, "it takes A, B and the accumulator");
  readAccumulator(dpas, import);
  bool tf32 = dpas.a == MatrixElement::TF32;
  unsigned lanesOfA = tf32 ? (dpas.rows + 1) / 2 : dpas.rows;
  SpirvType::Kind kind = tf32 ? SpirvType::Float : SpirvType::Int;
  if (p[0].kind != kind || p[0].bits != (tf32 ? 32u : 16u) || p[0].lanes != lanesOfA ||
      p[1].kind != kind || p[1].bits != 32 || p[1].lanes != 8 || !(p[2] == import.result))
    refuse(
        import,
        tf32
            ? "A is a float vector of half the accumulator's rows, B is vector<8xf32>"
            : "A is an i16 vector of the accumulator's rows, B is vector<8xi32> (subgroups of 16)");
  return dpas;
}

} // namespace xetile::runtime

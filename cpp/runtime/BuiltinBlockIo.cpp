// BuiltinBlockIo.cpp: 2D block reads, writes and prefetches, lane by lane; 1D blocks and
// conversions. Input: a block's shape; output: an OpenCL C function that is right on every device.
// Refused: nothing; BuiltinName.cpp has checked shape and signature.
//
// Who holds which element (SPV_INTEL_2d_block_io, "Mapping Block Data to Invocations"; subgroups of
// 16):
// - 16 columns: lane l holds column l, its element r is row r.
// - fewer, C columns: 16/C rows share the lanes; lane l holds column l % C of the rows l / C, l / C
// + 16/C, ...
// - more, 16 G columns: lane l holds columns l G to l G + G - 1, row after row.
// - several blocks: side by side in memory, one after another in the lane's array, each with its
// own whole elements.
// - transform (VNNI): 32 / bits rows of one column make one 32-bit value, the lower row in the
// lower bits. In a lane's
//   array that is the same sequence of bytes as a plain read of 16 columns.
// - transpose: the block's columns become rows, then the rules above hold: with R rows, lane l
// holds row l % R.
// - elements out of bounds, and elements of lanes beyond a block smaller than 16 elements, read 0;
// none are written. Coordinates are signed and in elements, width and pitch in bytes, height in
// rows.
#include "BuiltinText.h"

namespace xetile::runtime {
namespace {

std::string scalarType(unsigned bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

void addPortable(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  bool write = block.kind == BlockIo::Write, transpose = block.kind == BlockIo::ReadTranspose;
  unsigned across = transpose ? block.rows : block.columns,
           down = transpose ? block.columns : block.rows;
  unsigned perRow = across >= 16 ? across / 16 : 1;
  unsigned perBlock = across >= 16 ? down * perRow : (down * across + 15) / 16;
  out.addHead(import, {"base", "width", "height", "pitch", "corner", "array"});
  out.add(expand(
      R"( {
  long right = width / @bytes@, bottom = height;
  int lane = get_sub_group_local_id();
  __private @type@ *own = (__private @type@ *)array;
  XT_LOOP for (int i = 0; i < @count@; ++i) {
    int at = i % @per_block@;
    int a = @a@, d = @d@;
    long x = (long)corner.x + i / @per_block@ * @columns@ + @x@, y = (long)corner.y + @y@;
    bool inside = d < @down@ && x >= 0 && y >= 0 && x < right && y < bottom;
    __global @type@ *place = (__global @type@ *)((__global uchar *)base + y * pitch + x * @bytes@);
    @move@
  }
}
)",
      {{"bytes", number(block.elementBytes())},
       {"type", scalarType(block.elementBytes())},
       {"count", number(perBlock * block.blocks)},
       {"per_block", number(perBlock)},
       {"columns", number(block.columns)},
       {"down", number(down)},
       {"a", across >= 16 ? "lane * " + number(perRow) + " + at % " + number(perRow)
                          : "(at * 16 + lane) % " + number(across)},
       {"d", across >= 16 ? "at / " + number(perRow) : "(at * 16 + lane) / " + number(across)},
       {"x", transpose ? "d" : "a"},
       {"y", transpose ? "a" : "d"},
       {"move", write ? "if (inside) *place = own[i];"
                      : "if (inside) own[i] = *place; else own[i] = 0;"}}));
}

} // namespace

void addBlockIo(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  if (block.kind == BlockIo::Prefetch) {
    out.addHead(import, {"base", "width", "height", "pitch", "corner"});
    out.add(" {}\n");
  } else if (out.flavour == Flavour::Lockstep) {
    addBlockIoLockstep(out, import, block);
  } else {
    addPortable(out, import, block);
  }
}

// cl_intel_subgroups, _char, _short, _long, _local_block_io: element i of lane l is at i * subgroup
// size + l.
void addLinearBlock(BuiltinText &out, const SpirvImport &import, const LinearBlock &block) {
  std::string moves;
  for (unsigned i = 0; i < block.lanes; ++i) {
    std::string component =
        block.lanes == 1 ? "value" : std::string("value.s") + "0123456789abcdef"[i];
    std::string place = "place[" + number(i) + " * get_max_sub_group_size()]";
    moves += block.write ? "  " + place + " = " + component + ";\n"
                         : "  " + component + " = " + place + ";\n";
  }
  SpirvType element;
  element.kind = SpirvType::Int;
  element.bits = block.bits;
  std::string space = import.parameters[0].storage == storage::workgroup ? "__local" : "__global";
  if (block.write)
    out.addHead(import, {"base", "value"});
  else
    out.addHead(import, {"base"});
  out.add(expand(R"( {
  @space@ @type@ *place = (@space@ @type@ *)base + get_sub_group_local_id();
@before@@moves@@after@}
)",
                 {{"space", space},
                  {"type", element.openclName()},
                  {"before", block.write ? "" : "  " + import.result.openclName() + " value;\n"},
                  {"moves", moves},
                  {"after", block.write ? "" : "  return value;\n"}}));
}

// Round to nearest even; a NaN stays one (its quiet bit is set, for the truncated payload may be
// 0).
void addConversion(BuiltinText &out, const SpirvImport &import, const Conversion &conversion) {
  unsigned lanes = import.result.lanes;
  std::string n = lanes == 1 ? "" : number(lanes);
  out.addHead(import, {"value"});
  switch (conversion.kind) {
  case Conversion::Bf16ToFloat:
    out.add(expand(" {\n  return as_float@n@(convert_uint@n@(as_ushort@n@(value)) << 16);\n}\n",
                   {{"n", n}}));
    return;
  case Conversion::FloatToBf16:
    out.add(expand(R"( {
  uint@n@ bits = as_uint@n@(value);
  uint@n@ rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, nan = (bits >> 16) | 0x40u;
  return as_short@n@(convert_ushort@n@(select(rounded, nan, @is_nan@)));
}
)",
                   {{"is_nan", lanes == 1 ? "(uint)isnan(value)" : "isnan(value)"}, {"n", n}}));
    return;
  case Conversion::FloatToTf32:
    out.add(expand(R"( {
  uint@n@ bits = as_uint@n@(value);
  uint@n@ rounded = (bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u, nan = (bits | 0x400000u) & 0xffffe000u;
  return as_float@n@(select(rounded, nan, @is_nan@));
}
)",
                   {{"is_nan", lanes == 1 ? "(uint)isnan(value)" : "isnan(value)"}, {"n", n}}));
    return;
  }
}

} // namespace xetile::runtime

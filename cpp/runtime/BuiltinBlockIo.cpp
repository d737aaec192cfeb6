// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// holds row l % R; with 32 rows of 4 bytes, two registers each, rows l and l + 16.
// - elements out of bounds, and elements of lanes beyond a block smaller than 16 elements, read 0;
// none are written. Coordinates are signed and in elements, width and pitch in bytes, height in
// rows.
#include "BuiltinText.h"
#include "PrefetchCheck.h"

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
       {"a", transpose && across > 16 ? "lane + 16 * (at % " + number(perRow) + ")"
             : across >= 16           ? "lane * " + number(perRow) + " + at % " + number(perRow)
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
    addPrefetch(out, import, block);
  } else if (out.flavour == Flavour::Lockstep) {
    addBlockIoLockstep(out, import, block);
  } else {
    addPortable(out, import, block);
  }
}

} // namespace xetile::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinBlockIoLockstep.cpp: 2D block reads and writes by the whole subgroup at once
// (Flavour::Lockstep). Input: a block's shape; output: an OpenCL C function for devices whose
// subgroups are one thread. Refused: nothing; BuiltinName.cpp has checked shape and signature. The
// mapping is in BuiltinBlockIo.cpp.
//
// In that mapping a block is a matrix of `unitRows` x 16 units: a unit is what a lane gets from a
// row (of 16 columns or more), and fewer columns let several rows make one row of 16 units. Memory
// holds it row after row, the lanes' arrays column after column, so a read is a transposition:
// log2(unitRows) perfect shuffles of 64-byte vectors. A block that hangs over an edge, or whose
// rows are narrower than 16 units, is first copied into a tile of zeros.
//
// Tall blocks are transposed 16 rows at a time in a loop: the driver takes long to compile
// shuffles.
#include "BuiltinText.h"

#include <algorithm>

namespace xetile::runtime {
namespace {

std::string unsignedType(unsigned bytes) {
  return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

struct Geometry {
  unsigned element, unit, unitRows, bytesPerLane;
  /// The staged part of a tile: `stagedBlocks` blocks of rows x `stagedColumns`
  /// elements.
  unsigned stagedColumns, stagedBlocks;
  bool wide;

  explicit Geometry(const BlockIo &block) {
    element = block.elementBytes();
    wide = block.columns >= 16;
    unit = wide ? element * (block.columns / 16) : element;
    unsigned rowsPerBlock = wide ? block.rows : std::max(1u, block.rows * block.columns / 16);
    if (block.kind == BlockIo::ReadTranspose)
      rowsPerBlock = (block.rows * block.columns + 15) / 16;
    unitRows = rowsPerBlock * block.blocks;
    bytesPerLane = unitRows * unit;
    stagedColumns = wide ? block.columns * block.blocks : block.columns;
    stagedBlocks = wide ? 1 : block.blocks;
  }
  /// 16 rows of the same columns, as a block of their own.
  Geometry slab() const {
    Geometry result = *this;
    result.unitRows = slabRows;
    result.bytesPerLane = slabRows * unit;
    return result;
  }
  static constexpr unsigned slabRows = 16;

  unsigned blockBytes() const { return bytesPerLane * 16; }
  unsigned registerBytes() const { return std::min(64u, blockBytes()); }
  unsigned registers() const { return blockBytes() / registerBytes(); }
  unsigned unitsPerRegister() const { return registerBytes() / unit; }
};

std::string list(unsigned count, unsigned begin, unsigned step) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + number(begin + i * step);
  return text;
}

std::string vectorShuffle(const std::string &a, const std::string &b, const std::string &indices) {
  return "__builtin_shufflevector(" + a + ", " + b + ", " + indices + ")";
}

std::string registerName(unsigned stage, unsigned index) {
  return "v" + number(stage) + "_" + number(index);
}

unsigned log2(unsigned value) {
  unsigned result = 0;
  while (value >>= 1)
    ++result;
  return result;
}

// One perfect shuffle of all registers: out[2 i] = in[i], out[2 i + 1] = in[i + half].
std::string shuffleStage(const Geometry &geometry, const std::string &type, unsigned stage) {
  unsigned units = geometry.unitsPerRegister(), count = geometry.registers();
  auto zip = [&](unsigned from, unsigned other) {
    std::string text;
    for (unsigned i = 0; i < units / 2; ++i)
      text += (i ? ", " : "") + number(from + i) + ", " + number(other + i);
    return text;
  };
  if (count == 1) {
    std::string in = registerName(stage, 0);
    return "  " + type + " " + registerName(stage + 1, 0) + " = " +
           vectorShuffle(in, in, zip(0, units / 2)) + ";\n";
  }
  std::string text;
  for (unsigned i = 0; i < count / 2; ++i) {
    std::string a = registerName(stage, i), b = registerName(stage, i + count / 2);
    text += "  " + type + " " + registerName(stage + 1, 2 * i) + " = " +
            vectorShuffle(a, b, zip(0, units)) + ", " + registerName(stage + 1, 2 * i + 1) + " = " +
            vectorShuffle(a, b, zip(units / 2, units + units / 2)) + ";\n";
  }
  return text;
}

// The inverse: registers of `stage` from those of `stage + 1`.
std::string unshuffleStage(const Geometry &geometry, const std::string &type, unsigned stage) {
  unsigned units = geometry.unitsPerRegister(), count = geometry.registers();
  if (count == 1) {
    std::string in = registerName(stage + 1, 0);
    return "  " + type + " " + registerName(stage, 0) + " = " +
           vectorShuffle(in, in, list(units / 2, 0, 2) + ", " + list(units / 2, 1, 2)) + ";\n";
  }
  std::string text;
  for (unsigned i = 0; i < count / 2; ++i) {
    std::string a = registerName(stage + 1, 2 * i), b = registerName(stage + 1, 2 * i + 1);
    text += "  " + type + " " + registerName(stage, i) + " = " +
            vectorShuffle(a, b, list(units, 0, 2)) + ", " + registerName(stage, i + count / 2) +
            " = " + vectorShuffle(a, b, list(units, 1, 2)) + ";\n";
  }
  return text;
}

// Copies the part of the block that lies inside the surface between memory and the tile (of zeros,
// for a read).
std::string copyInside(BuiltinText &out, const Geometry &geometry, const BlockIo &block) {
  unsigned columns = geometry.stagedColumns;
  bool wholeRows = (columns & (columns - 1)) == 0, write = block.kind == BlockIo::Write;
  std::string row = wholeRows ? out.vectorType(unsignedType(geometry.element), columns) : "";
  std::string whole = !wholeRows ? ""
                      : write ? "if (c1 - c0 == " + number(columns) +
                                    ") *(__global @row@ *)there = *(__private @row@ *)here; else "
                              : "if (c1 - c0 == " + number(columns) +
                                    ") *(__private @row@ *)here = *(__global @row@ *)there; else ";
  return expand(R"(    XT_LOOP for (int b = 0; b < @blocks@; ++b) {
      long x0 = x + b * @columns@;
      long c0 = clamp(-x0, 0L, @columns@L), c1 = clamp(right - x0, 0L, @columns@L);
      long r0 = clamp(-y, 0L, @rows@L), r1 = clamp(bottom - y, 0L, @rows@L);
      XT_LOOP for (long r = r0; r < r1; ++r) {
        __global @type@ *there = (__global @type@ *)(base + (y + r) * pitch + x0 * @bytes@);
        __private @type@ *here = (__private @type@ *)(tile + b * @block_bytes@ + r * @row_bytes@);
        @whole@XT_LOOP for (long c = c0; c < c1; ++c) @one@;
      }
    }
)",
                {{"whole", whole},
                 {"row", row},
                 {"blocks", number(geometry.stagedBlocks)},
                 {"columns", number(columns)},
                 {"rows", number(block.rows)},
                 {"type", unsignedType(geometry.element)},
                 {"bytes", number(geometry.element)},
                 {"row_bytes", number(columns * geometry.element)},
                 {"block_bytes", number(geometry.blockBytes() / block.blocks)},
                 {"one", write ? "there[c] = here[c]" : "here[c] = there[c]"}});
}

// Coordinates are uniform by the extension's rules, so lane 0's stand for all. `inside` is negative
// for a block that hangs over an edge; 64-bit arithmetic keeps extreme coordinates from wrapping
// into the surface.
std::string commonStart(const Geometry &geometry, const BlockIo &block, unsigned tileBytes) {
  return expand(R"( {
  long x = XT_FIRST(corner.x), y = XT_FIRST(corner.y), pitch = XT_FIRST(pitch_);
  long right = XT_FIRST(width) / @bytes@, bottom = XT_FIRST(height);
  ulong base = XT_FIRST((ulong)base_), first = XT_FIRST((ulong)array), last = XT_LAST((ulong)array);
  bool packed = last == first + @last@;
  __attribute__((aligned(64))) uchar tile_[@tile@];
  ulong tile = XT_FIRST((ulong)tile_);
  long inside = x | y | (right - x - @columns@) | (bottom - y - @rows@);
)",
                {{"bytes", number(geometry.element)},
                 {"last", number(15 * geometry.bytesPerLane)},
                 {"tile", number(tileBytes)},
                 {"columns", number(block.columns * block.blocks)},
                 {"rows", number(block.rows)}});
}

std::string clearTile(unsigned bytes) {
  return "    XT_LOOP for (int i = 0; i < " + number(bytes / 4) +
         "; ++i) ((__private uint *)tile)[i] = 0;\n";
}

// For lanes' arrays that are not packed one after another: through the tile, each lane its own
// part.
std::string copyToLanes(const Geometry &geometry, const std::string &from) {
  return expand(R"(  if (!packed) {
    XT_FENCE();
    XT_LOOP for (int i = 0; i < @count@; ++i)
      ((__private @type@ *)array)[i] = ((__private @type@ *)@from@)[get_sub_group_local_id() * @count@ + i];
  }
)",
                {{"from", from},
                 {"type", unsignedType(geometry.unit)},
                 {"count", number(geometry.unitRows)}});
}

// Loads rows of 16 units into the registers of stage 0. `address` gives the place of row i.
template <typename Address>
std::string loadRows(BuiltinText &out, const Geometry &geometry, const std::string &type,
                     Address address) {
  std::string row = out.vectorType(unsignedType(geometry.unit), 16), text;
  unsigned rowsPerRegister = geometry.unitsPerRegister() / 16;
  for (unsigned i = 0; i < geometry.unitRows; ++i)
    text += "  " + row + " r" + number(i) + " = *(__generic " + row + " *)(" + address(i) + ");\n";
  for (unsigned i = 0; i < geometry.registers(); ++i) {
    std::string value = "r" + number(i * rowsPerRegister);
    if (rowsPerRegister == 2)
      value = vectorShuffle(value, "r" + number(2 * i + 1), list(32, 0, 1));
    if (rowsPerRegister == 4)
      value = vectorShuffle(
          vectorShuffle("r" + number(4 * i), "r" + number(4 * i + 1), list(32, 0, 1)),
          vectorShuffle("r" + number(4 * i + 2), "r" + number(4 * i + 3), list(32, 0, 1)),
          list(64, 0, 1));
    text += "  " + type + " " + registerName(0, i) + " = " + value + ";\n";
  }
  return text;
}

std::string shuffleStages(const Geometry &geometry, const std::string &type) {
  std::string text;
  for (unsigned stage = 0; stage < log2(geometry.unitRows); ++stage)
    text += shuffleStage(geometry, type, stage);
  return text;
}

// Reads of more than 16 rows of 16 units. After its transposition a slab has 16 consecutive units
// of each lane.
std::string readBySlabs(BuiltinText &out, const Geometry &geometry, const BlockIo &block) {
  Geometry slab = geometry.slab();
  std::string unit = unsignedType(geometry.unit),
              type = out.vectorType(unit, slab.unitsPerRegister());
  unsigned stages = log2(slab.unitRows), laneBytes = slab.bytesPerLane;
  std::string text = expand(R"(  XT_LOOP for (long slab = 0; slab < @slabs@; ++slab) {
  ulong there = from + slab % @per_block@ * 16 * step + slab / @per_block@ * @row_bytes@;
  ulong here = to + slab * @lane_bytes@;
)",
                            {{"slabs", number(geometry.unitRows / Geometry::slabRows)},
                             {"per_block", number(block.rows / Geometry::slabRows)},
                             {"row_bytes", number(16 * geometry.unit)},
                             {"lane_bytes", number(laneBytes)}});
  text += loadRows(out, slab, type, [](unsigned i) { return "there + " + number(i) + " * step"; });
  text += shuffleStages(slab, type);
  // A lane has a part of a register, or several registers.
  unsigned pieceBytes = std::min(slab.registerBytes(), laneBytes);
  unsigned pieceUnits = pieceBytes / geometry.unit;
  std::string piece = out.vectorType(unit, pieceUnits);
  for (unsigned at = 0; at < slab.blockBytes(); at += pieceBytes) {
    std::string value = registerName(stages, at / slab.registerBytes());
    if (pieceBytes < slab.registerBytes())
      value = vectorShuffle(value, value,
                            list(pieceUnits, at % slab.registerBytes() / geometry.unit, 1));
    unsigned place = at / laneBytes * geometry.bytesPerLane + at % laneBytes;
    text += "  *(__private " + piece + " *)(here + " + number(place) + ") = " + value + ";\n";
  }
  return text + "  }\n";
}

// Reads of few rows, or of narrow ones, which the tile joins to rows of 16 units.
std::string readAtOnce(BuiltinText &out, const Geometry &geometry, const BlockIo &block) {
  std::string type = out.vectorType(unsignedType(geometry.unit), geometry.unitsPerRegister()), text;
  if (geometry.wide) {
    text = loadRows(out, geometry, type, [&](unsigned i) {
      return "from + " + number(i % block.rows) + " * step + " +
             number(i / block.rows * 16 * geometry.unit);
    });
  } else {
    for (unsigned i = 0; i < geometry.registers(); ++i)
      text += "  " + type + " " + registerName(0, i) + " = *(__private " + type + " *)(from + " +
              number(i * geometry.registerBytes()) + ");\n";
  }
  text += shuffleStages(geometry, type);
  for (unsigned i = 0; i < geometry.registers(); ++i)
    text += "  *(__private " + type + " *)(to + " + number(i * geometry.registerBytes()) +
            ") = " + registerName(log2(geometry.unitRows), i) + ";\n";
  return text;
}

void addRead(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  Geometry geometry(block);
  unsigned stagedPitch = geometry.stagedColumns * geometry.element;
  std::string body = commonStart(geometry, block, geometry.blockBytes());
  body += "  ulong from = base + y * pitch + x * " + number(geometry.element) +
          ";\n  long step = pitch;\n";
  body += std::string("  ") + (geometry.wide ? "if (inside < 0) " : "") + "{\n" +
          clearTile(geometry.blockBytes()) + copyInside(out, geometry, block) +
          "    from = tile;\n    step = " + number(stagedPitch) + ";\n  }\n";
  // The tile is read row by row while lanes' arrays are written: they must not share memory.
  bool slabs = geometry.wide && geometry.unitRows > Geometry::slabRows &&
               block.rows % Geometry::slabRows == 0;
  if (slabs)
    body += "  __attribute__((aligned(64))) uchar lanes_[" + number(geometry.blockBytes()) +
            "];\n  ulong lanes = XT_FIRST((ulong)lanes_), to = packed ? first : lanes;\n" +
            readBySlabs(out, geometry, block) + copyToLanes(geometry, "lanes");
  else
    body += "  ulong to = packed ? first : tile;\n" + readAtOnce(out, geometry, block) +
            copyToLanes(geometry, "tile");
  out.addHead(import, {"base_", "width", "height", "pitch_", "corner", "array"});
  out.add(body + "}\n");
}

// With 16 rows lane l's array is row l of memory, with 32 rows l and l + 16 interleaved; fewer are
// rare.
static std::string transposingMove(BuiltinText &out, const Geometry &geometry,
                                   const BlockIo &block) {
  std::string type = unsignedType(geometry.element);
  unsigned columns = block.columns, rows = block.rows;
  bool wholeRows = (columns & (columns - 1)) == 0;
  if (rows == 16 && wholeRows) {
    return expand(
        R"(  XT_LOOP for (int l = 0; l < 16; ++l)
    *(__private @row@ *)(to + l * @per_lane@) = *(__generic @row@ *)(from + l * step);
)",
        {{"row", out.vectorType(type, columns)}, {"per_lane", number(geometry.bytesPerLane)}});
  }
  if (rows == 32 && wholeRows) {
    std::string zip, joined = out.vectorType(type, 2 * columns),
                     row = out.vectorType(type, columns);
    for (unsigned i = 0; i < columns; ++i)
      zip += (i ? ", " : "") + number(i) + ", " + number(columns + i);
    std::string value = columns == 1 ? "(" + joined + ")(a, b)" : vectorShuffle("a", "b", zip);
    return expand(R"(  XT_LOOP for (int l = 0; l < 16; ++l) {
    @row@ a = *(__generic @row@ *)(from + l * step), b = *(__generic @row@ *)(from + (l + 16) * step);
    *(__private @joined@ *)(to + l * @per_lane@) = @value@;
  }
)",
                  {{"row", row},
                   {"joined", joined},
                   {"value", value},
                   {"per_lane", number(geometry.bytesPerLane)}});
  }
  // Element (r, c) of memory: row c, column r of the transposed block.
  std::string lane =
      rows >= 16 ? "r % 16" : "c % " + number(16 / rows) + " * " + number(rows) + " + r";
  std::string index =
      rows >= 16 ? "c * " + number(rows / 16) + " + r / 16" : "c / " + number(16 / rows);
  return expand(R"(  XT_LOOP for (int i = 0; i < @words@; ++i) ((__private uint *)to)[i] = 0;
  XT_LOOP for (int r = 0; r < @rows@; ++r)
  XT_LOOP for (int c = 0; c < @columns@; ++c)
    ((__private @type@ *)to)[(@lane@) * @per_lane@ + @index@] = ((__generic @type@ *)(from + r * step))[c];
)",
                {{"words", number(geometry.blockBytes() / 4)},
                 {"rows", number(rows)},
                 {"columns", number(columns)},
                 {"type", type},
                 {"lane", lane},
                 {"index", index},
                 {"per_lane", number(geometry.unitRows)}});
}

void addTransposingRead(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  Geometry geometry(block);
  unsigned tileBytes = std::max(block.rows * block.columns * geometry.element, 4u);
  std::string body = commonStart(geometry, block, tileBytes);
  body += expand(R"(  __attribute__((aligned(64))) uchar lanes_[@bytes@];
  ulong lanes = XT_FIRST((ulong)lanes_), to = packed ? first : lanes;
  ulong from = base + y * pitch + x * @element@;
  long step = pitch;
  if (inside < 0) {
@clear@@copy@    from = tile;
    step = @pitch@;
  }
)",
                 {{"bytes", number(geometry.blockBytes())},
                  {"element", number(geometry.element)},
                  {"clear", clearTile(tileBytes)},
                  {"copy", copyInside(out, geometry, block)},
                  {"pitch", number(block.columns * geometry.element)}});
  out.addHead(import, {"base_", "width", "height", "pitch_", "corner", "array"});
  out.add(body + transposingMove(out, geometry, block) + copyToLanes(geometry, "lanes") + "}\n");
}

void addWrite(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  Geometry geometry(block);
  std::string unit = unsignedType(geometry.unit),
              type = out.vectorType(unit, geometry.unitsPerRegister());
  std::string body = commonStart(geometry, block, geometry.blockBytes());
  body += expand(R"(  ulong from = first;
  if (!packed) {
    XT_LOOP for (int i = 0; i < @count@; ++i)
      ((__private @unit@ *)tile)[get_sub_group_local_id() * @count@ + i] = ((__private @unit@ *)array)[i];
    XT_FENCE();
    from = tile;
  }
)",
                 {{"unit", unit}, {"count", number(geometry.unitRows)}});
  unsigned stages = log2(geometry.unitRows);
  for (unsigned i = 0; i < geometry.registers(); ++i)
    body += "  " + type + " " + registerName(stages, i) + " = *(__private " + type + " *)(from + " +
            number(i * geometry.registerBytes()) + ");\n";
  for (unsigned stage = stages; stage-- > 0;)
    body += unshuffleStage(geometry, type, stage);

  if (geometry.wide) {
    std::string row = out.vectorType(unit, 16);
    unsigned rowsPerRegister = geometry.unitsPerRegister() / 16;
    body += expand("  ulong to = inside < 0 ? tile : base + y * pitch + x * @element@;\n"
                   "  long step = inside < 0 ? @row@ : pitch;\n",
                   {{"element", number(geometry.element)}, {"row", number(16 * geometry.unit)}});
    for (unsigned r = 0; r < block.rows; ++r) {
      std::string source = registerName(0, r / rowsPerRegister);
      std::string value =
          rowsPerRegister == 1
              ? source
              : vectorShuffle(source, source, list(16, r % rowsPerRegister * 16, 1));
      body += "  *(__generic " + row + " *)(to + " + number(r) + " * step) = " + value + ";\n";
    }
    body += "  if (inside < 0) {\n" + copyInside(out, geometry, block) + "  }\n";
  } else {
    for (unsigned i = 0; i < geometry.registers(); ++i)
      body += "  *(__private " + type + " *)(tile + " + number(i * geometry.registerBytes()) +
              ") = " + registerName(0, i) + ";\n";
    body += "  {\n" + copyInside(out, geometry, block) + "  }\n";
  }
  out.addHead(import, {"base_", "width", "height", "pitch_", "corner", "array"});
  out.add(body + "}\n");
}

} // namespace

void addBlockIoLockstep(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  if (block.kind == BlockIo::Write)
    addWrite(out, import, block);
  else if (block.kind == BlockIo::ReadTranspose)
    addTransposingRead(out, import, block);
  else
    addRead(out, import, block);
}

} // namespace xetile::runtime

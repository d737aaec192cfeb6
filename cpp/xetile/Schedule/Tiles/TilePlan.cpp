//===- TilePlan.cpp - which tiles a workgroup computes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the tensors that a kernel computes. Out: which of their dimensions are the rows and columns
// of a workgroup's tile, its sizes, its subgroups. Refused: nothing; what cannot be computed so,
// the writer refuses.
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Schedule/Tiles/Seams.h"
#include "xetile/Schedule/Tiles/TileProbe.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "xetile/Target/Target.h"
#include <numeric>

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// Ways to take dimensions as rows and columns, the usual ones first.
SmallVector<SmallVector<DimUse>> candidates(ArrayRef<int64_t> shape) {
  SmallVector<SmallVector<DimUse>> all;
  SmallVector<int64_t> live;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      live.push_back(dim);
  auto take = [&](int64_t rows, int64_t columns) {
    SmallVector<DimUse> dims(shape.size(), DimUse::Number);
    if (rows >= 0)
      dims[rows] = DimUse::Rows;
    if (columns >= 0)
      dims[columns] = DimUse::Columns;
    all.push_back(dims);
  };
  if (live.empty()) {
    take(-1, -1);
    return all;
  }
  int64_t last = live.pop_back_val();
  for (int64_t rows : llvm::reverse(live))
    take(rows, last);
  take(-1, last);
  take(last, -1);
  take(-1, -1);
  return all;
}

int64_t roundUp(int64_t value, int64_t by) { return llvm::divideCeil(value, by) * by; }

/// Rows for one workgroup where all of them read the same, as gains and biases: as many as leave
/// all hardware threads of the largest GPU a row at least, if all of it fits the registers. Of
/// three quarters of them Intel's compiler moves the loads back to each row.
int64_t countRowsInTurn(ArrayRef<Extent> extents, const TilePlan &plan, const Probe &found,
                        const Target *target) {
  constexpr int64_t kThreads = 4096, kMostBytes = 8192;
  int64_t most = target ? target->mostRowsInTurn : Target::kMostRowsInTurn;
  constexpr unsigned kMostInputs = 3; // one of rows, beside a gain and a bias
  int64_t rows = 1, last = 1, subgroups = plan.layout[kRows];
  for (auto [extent, use] : llvm::zip_equal(extents, plan.dims)) {
    if (use != DimUse::Number || extent.is(1))
      continue;
    if (!extent.isKnown())
      return 1;
    rows = saturatingProduct(rows, extent.number);
    last = extent.number;
  }
  int64_t bytes = found.shared + found.folded * 4; // rows are computed in f32
  if (found.shared == 0 || found.inputs > kMostInputs || bytes > kMostBytes * subgroups)
    return 1;
  int64_t inTurn = std::min(saturatingProduct(rows, subgroups) / kThreads, most);
  while (inTurn > 1 && last % inTurn != 0)
    --inTurn;
  return std::max<int64_t>(inTurn, 1);
}

/// Whole rows of memory folded into tiles whose rows are 64 bytes at least, which blocks of memory
/// need: a row a subgroup where it fits, else a row for several.
bool planFolded(ArrayRef<Value> results, TileSizes &sizes, const Target *target, TilePlan &plan) {
  constexpr int64_t kLeastColumns = 16, kLeastBytes = 64, kMinimum = 256, kMost = 1024,
                    kLeastInTurn = 4, kMostSubgroups = 16;
  SmallVector<Extent> extents = sizes.of(results.front());
  SmallVector<int64_t> shape = sizes.planned(results.front());
  for (bool keepsRow : {true, false}) {
    TilePlan folded;
    folded.folds = true;
    folded.tile = {1, kLeastColumns};
    folded.dims.assign(shape.size(), DimUse::Number);
    if (keepsRow && (shape.empty() || !extents.back().isKnown() || shape.back() < kMinimum))
      continue;
    if (keepsRow)
      folded.dims.back() = DimUse::Folded;
    Probe found = probeAll(results, sizes, folded);
    if (keepsRow)
      for (Value result : results)
        found.narrowest = std::min(found.narrowest, bytesOf(result));
    if (int64_t columns = kLeastBytes / found.narrowest;
        columns > kLeastColumns && found.folded % columns == 0) {
      folded.tile[kColumns] = columns;
      found = probeAll(results, sizes, folded);
    }
    if (!found.reduces || !found.foldsAll || found.folded < kMinimum || found.cost > 0 ||
        (keepsRow && shape.back() != found.folded))
      continue;
    int64_t rows = found.folded / folded.tile[kColumns],
            subgroups = llvm::divideCeil(found.folded, kMost);
    while (subgroups <= kMostSubgroups && rows % subgroups != 0)
      ++subgroups;
    if (subgroups > kMostSubgroups)
      continue;
    folded.tile[kRows] = rows;
    folded.layout = {subgroups, 1};
    folded.whole = {true, true};
    folded.rowsInTurn = countRowsInTurn(extents, folded, found, target);
    plan = folded;
    // A gain and a bias that do not fit beside a row fit those of twice as many subgroups: they
    // exchange sums, and read gains and biases once for many rows.
    folded.layout[kRows] = 2 * subgroups;
    if (plan.rowsInTurn > 1 || folded.layout[kRows] > kMostSubgroups ||
        rows % folded.layout[kRows] != 0)
      return true;
    folded.rowsInTurn = countRowsInTurn(extents, folded, found, target);
    if (folded.rowsInTurn >= kLeastInTurn)
      plan = folded;
    return true;
  }
  return false;
}

/// How many subgroups of `side` elements share `extent`, a power of two.
int64_t subgroupsAlong(int64_t extent, int64_t side, int64_t most) {
  int64_t count = 1;
  while (count < most && count * side < extent)
    count *= 2;
  return count;
}

/// Tiles of sums of products: what a subgroup of the schedule 'matmul' has.
void sizeProduct(int64_t rows, int64_t columns, bool exact, TilePlan &plan) {
  int64_t height = rows >= 32 ? 32 : roundUp(rows, 8);
  int64_t width = columns > 32 && !exact ? 64 : std::min<int64_t>(32, roundUp(columns, 16));
  // Columns and rows of exact products are taken out of what one subgroup has.
  if (exact) {
    plan.tile = {height, width};
    return;
  }
  plan.layout = {subgroupsAlong(rows, height, 4), subgroupsAlong(columns, width, 2)};
  plan.tile = {height * plan.layout[kRows], width * plan.layout[kColumns]};
}

/// Tiles for memory that blocks do not take, which lie inside of the results: elements at their
/// edges would be tested one by one.
void sizeInside(int64_t rows, int64_t columns, int64_t height, int64_t width, TilePlan &plan) {
  constexpr int64_t kMostTwice = 64; // one of as many
  plan.layout = {1, 1};
  for (auto [role, extent, side, most] :
       {std::tuple(kRows, rows, height, 8), std::tuple(kColumns, columns, width, 2)})
    // As many as compute few elements twice.
    for (int64_t count = 2; count <= most && count * side <= extent; count *= 2)
      if (roundUp(extent, count * side) * kMostTwice <= roundUp(extent, side) * (kMostTwice + 1))
        plan.layout[role] = count;
  plan.tile = {height * plan.layout[kRows], width * plan.layout[kColumns]};
  plan.movesInside = true;
}

/// True if rows of the tile are those of all memory, as far apart as block loads want them.
bool isInOrder(const Probe &found) {
  return !found.strided && !found.misaligned && !found.transposed && found.windows <= 1;
}

/// Windows of more elements have tiles of fewer.
constexpr int64_t kManyWindows = 4;

/// Tiles of a chain of elementwise ops: loads of 2048 bytes of f32, or what `target` has for that.
void sizeElementwise(int64_t rows, int64_t columns, const Probe &found, const Target *target,
                     TilePlan &plan) {
  if (target && target->chooseElementwise && (found.windows > 1 || isInOrder(found))) {
    plan.layout = {1, 1};
    plan.tile = target->chooseElementwise(rows, columns, found.windows);
    return;
  }
  // Lanes have neighbours of a row.
  if (found.strided && found.inputs == 1 && rows >= 8 && columns >= 16) {
    plan.scatters = columns >= 32;
    plan.scattersPairs = plan.scatters && !found.splitsWords;
    return sizeInside(rows, columns, 8, plan.scatters ? 32 : 16, plan);
  }
  // Masks of a window's elements take registers, too.
  if (found.misaligned && rows >= 8 && columns >= 64)
    return sizeInside(rows, columns, 8, found.windows > kManyWindows ? 32 : 64, plan);
  int64_t width = columns > 16 ? 32 : 16, height = found.inputs > 3 ? 16 : 32;
  int64_t beside = 2;
  // Several numbers of a row serve more columns; transposed blocks are as high as they are wide.
  if (rows > 1 && columns > width && found.numbersOfRows > 1 && found.inputs <= 3 &&
      found.windows == 1 && !found.transposed) {
    width *= 2;
    height /= 2;
    beside = 1;
  }
  // The windows' inputs do not fit the registers at once.
  if (found.windows > 1)
    height = 8;
  if (rows <= 1)
    width = std::clamp<int64_t>(roundUp(columns, 16), 16, 256);
  height = std::min(height, rows <= 1 ? 1 : roundUp(rows, 8));
  plan.layout = {subgroupsAlong(rows, height, 4), subgroupsAlong(columns, width, beside)};
  plan.tile = {height * plan.layout[kRows], width * plan.layout[kColumns]};
}

/// The width of the parts that columns consist of, whose elements are computed alike: between seams
/// of what is put together. All columns where there are none.
int64_t widthOfParts(ArrayRef<Value> results, const TilePlan &plan, ArrayRef<int64_t> shape) {
  auto found = llvm::find(plan.dims, DimUse::Columns);
  if (found == plan.dims.end())
    return 1;
  unsigned dim = found - plan.dims.begin();
  llvm::SmallSet<int64_t, 4> seams;
  for (Value result : results)
    findSeams(result, dim, seams);
  int64_t width = shape[dim];
  for (int64_t seam : seams)
    if (seam > 0 && seam < shape[dim])
      width = std::gcd(width, seam);
  return width;
}

/// Tiles of a part each, all parts of some rows for one workgroup: they may read the same. False
/// where parts are no tiles.
bool sizeParts(int64_t rows, int64_t columns, int64_t width, const Probe &found, TilePlan &plan) {
  constexpr int64_t kWidest = 64, kMostParts = 8, kHeight = 8;
  if (width == columns || width % 16 != 0 || width > kWidest || columns / width > kMostParts ||
      rows < kHeight || found.misaligned || found.maybeMisaligned || found.strided)
    return false;
  plan.layout = {subgroupsAlong(rows, kHeight, 8), 1};
  plan.tile = {kHeight * plan.layout[kRows], width};
  plan.columnsInTurn = columns / width;
  plan.partsDiffer = true;
  return true;
}

/// Tiles for what is reduced along rows and columns: all of it in registers where `isWhole`, by one
/// op, and it fits those of some subgroups, which share its columns; else a block of it.
void sizePlane(int64_t down, int64_t along, bool isWhole, TilePlan &plan) {
  constexpr int64_t kMost = 1024, kMostRows = 64, kMostSubgroups = 8;
  int64_t height = down < 8 ? static_cast<int64_t>(llvm::PowerOf2Ceil(down)) : roundUp(down, 8);
  int64_t subgroups = llvm::divideCeil(saturatingProduct(height, roundUp(along, 16)), kMost);
  if (isWhole && height <= kMostRows && subgroups <= kMostSubgroups) {
    plan.layout = {1, subgroups};
    plan.tile = {height, roundUp(llvm::divideCeil(along, subgroups), 16) * subgroups};
    return;
  }
  plan.layout = {1, along > 64 ? 4 : 1};
  plan.tile = {std::min<int64_t>(roundUp(down, 8), 32),
               std::min<int64_t>(roundUp(along, 16), 32) * plan.layout[1]};
}

/// Tiles that hold all that is reduced, or a block of it.
void sizeReduction(int64_t rows, int64_t columns, const Probe &found, TilePlan &plan) {
  auto [down, along] = found.reduced;
  // Elements that are read one by one are few at a time: their addresses take registers, too.
  if (found.maybeMisaligned && (down == 0 || along == 0)) {
    plan.layout = {down > 0 ? 4 : 1, along > 0 ? 4 : 1};
    plan.tile = {down > 0 ? 64 : rows <= 1 ? 1 : 8, along > 0 ? 128 : columns <= 1 ? 1 : 16};
    return;
  }
  if (down > 0 && along > 0) {
    sizePlane(down, along, found.planes, plan);
  } else if (along > 128) {
    int64_t subgroups = std::min<int64_t>(llvm::divideCeil(along, 128), 8);
    int64_t width = std::min<int64_t>(roundUp(llvm::divideCeil(along, subgroups), 16), 128);
    plan.layout = {1, subgroups};
    plan.tile = {rows <= 1 ? 1 : 8, width * subgroups};
  } else if (along > 0) {
    int64_t height = rows <= 1 ? 1 : 8;
    plan.layout = {std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(rows, height)), 1, 4),
                   1};
    plan.tile = {height * plan.layout[0], roundUp(along, 16)};
  } else {
    int64_t subgroups = std::min<int64_t>(llvm::divideCeil(down, 32), 8);
    int64_t height = std::min<int64_t>(roundUp(llvm::divideCeil(down, subgroups), 8), 32);
    plan.layout = {subgroups, 1};
    plan.tile = {height * subgroups, columns <= 1 ? 1 : 16};
  }
}

} // namespace

/// The way to take dimensions that costs least, and what it comes to.
static Probe choosePlan(ArrayRef<Value> results, TileSizes &sizes, bool multiplies,
                        TilePlan &best) {
  SmallVector<int64_t> shape = sizes.planned(results.front());
  Probe chosen;
  double least = -1;
  for (const SmallVector<DimUse> &dims : candidates(shape)) {
    TilePlan plan;
    plan.dims = dims;
    plan.multiplies = multiplies;
    Probe found = probeAll(results, sizes, plan);
    // Results that are stored column by column, elements that are computed one by one.
    double cost = found.cost;
    if (!llvm::is_contained(dims, DimUse::Columns) &&
        !llvm::all_of(shape, [](int64_t extent) { return extent == 1; }))
      cost += 0.25;
    if (least >= 0 && cost >= least)
      continue;
    least = cost;
    best = plan;
    chosen = std::move(found);
  }
  return chosen;
}

TilePlan planTiles(ArrayRef<Value> results, TileSizes &sizes, std::array<int64_t, 2> tile,
                   std::array<int64_t, 2> layout, const Target *target) {
  SmallVector<int64_t> shape = sizes.planned(results.front());
  bool given = llvm::any_of(tile, [](int64_t side) { return side != 0; }) ||
               llvm::any_of(layout, [](int64_t side) { return side != 0; });
  TilePlan best;
  if (!given && planFolded(results, sizes, target, best))
    return best;
  if (std::optional<TilePlan> plan = given ? std::nullopt : planConvolution(results, sizes, target))
    return *plan;
  Probe chosen = choosePlan(results, sizes, /*multiplies=*/true, best);
  // Other reductions have tiles of their own.
  if (chosen.multiplies && (chosen.reduced[kRows] > 0 || chosen.reduced[kColumns] > 0))
    chosen = choosePlan(results, sizes, /*multiplies=*/false, best);
  std::array<int64_t, 2> extents = {1, 1};
  for (auto [use, extent] : llvm::zip_equal(best.dims, shape)) {
    if (use == DimUse::Rows)
      extents[kRows] = extent;
    if (use == DimUse::Columns)
      extents[kColumns] = extent;
  }
  bool reduces = chosen.reduced[kRows] > 0 || chosen.reduced[kColumns] > 0;
  if (chosen.multiplies && !reduces)
    sizeProduct(extents[kRows], extents[kColumns], chosen.exact, best);
  else if (reduces)
    sizeReduction(extents[kRows], extents[kColumns], chosen, best);
  else if (given || !sizeParts(extents[kRows], extents[kColumns],
                               widthOfParts(results, best, shape), chosen, best))
    sizeElementwise(extents[kRows], extents[kColumns], chosen, given ? nullptr : target, best);
  for (unsigned role : {kRows, kColumns}) {
    best.whole[role] = chosen.reduced[role] > 0;
    if (layout[role] != 0)
      best.layout[role] = layout[role];
    if (tile[role] != 0)
      best.tile[role] = tile[role];
  }
  // Last tiles of a size that a run knows may be the first ones.
  bool areKnown = llvm::all_of(sizes.of(results.front()),
                               [](const Extent &extent) { return extent.isKnown(); });
  if (given || !areKnown)
    best.movesInside = false;
  return best;
}

} // namespace xetile::transform_ops

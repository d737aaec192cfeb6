//===- PlanScan.cpp - tiles for scans -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sizes of results, the dimension that is scanned. Out: the tile of a workgroup, which walks
// over that dimension. Refused: nothing.
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Target/Target.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Tiles along the last dimension, which all of a workgroup scan together.
static TilePlan planTiles(ArrayRef<int64_t> shape, const Target &target) {
  // Each lane has some of a tile, whatever the type, if only beyond the results.
  constexpr int64_t kFewest = 512;
  TilePlan plan;
  plan.scansTiles = true;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims.back() = DimUse::Columns;
  plan.whole[kColumns] = true;
  int64_t rows = 1, last = -1;
  for (auto [dim, extent] : llvm::enumerate(shape.drop_back())) {
    rows = saturatingProduct(rows, extent);
    if (extent > 1)
      last = static_cast<int64_t>(dim);
  }
  plan.tile = target.chooseScan(rows, shape.back());
  int64_t elements = plan.tile[kRows] * plan.tile[kColumns];
  if (last < 0) {
    plan.tile = {1, std::min(elements, std::max(kFewest, plan.tile[kColumns]))};
    return plan;
  }
  // Rows of a tile are those of one dimension.
  plan.dims[last] = DimUse::Rows;
  while (plan.tile[kRows] / 2 >= shape[last] && elements > kFewest) {
    plan.tile[kRows] /= 2;
    elements /= 2;
  }
  return plan;
}

/// Sizes that are given, in place of those that were chosen.
static void takeGiven(TilePlan &plan, std::array<int64_t, 2> tile, std::array<int64_t, 2> layout) {
  for (unsigned role : {kRows, kColumns}) {
    if (layout[role] != 0)
      plan.layout[role] = layout[role];
    if (tile[role] != 0)
      plan.tile[role] = tile[role];
  }
}

TilePlan planScan(ArrayRef<int64_t> shape, unsigned scanned, std::array<int64_t, 2> tile,
                  std::array<int64_t, 2> layout, const Target *target) {
  TilePlan plan;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[scanned] = DimUse::Scanned;
  if (target && target->chooseScan && scanned + 1 == shape.size()) {
    plan = planTiles(shape, *target);
    takeGiven(plan, tile, layout);
    return plan;
  }
  // Lanes are neighbours in memory, or as many as there are.
  int64_t columns = static_cast<int64_t>(shape.size()) - 1;
  if (columns == scanned || shape[columns] == 1) {
    columns = -1;
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (dim != scanned && extent > 1 && (columns < 0 || extent >= shape[columns]))
        columns = static_cast<int64_t>(dim);
  }
  if (columns >= 0) {
    plan.dims[columns] = DimUse::Columns;
    int64_t width =
        shape[columns] > 16 && columns + 1 == static_cast<int64_t>(shape.size()) ? 32 : 16;
    while (plan.layout[kColumns] < 4 && plan.layout[kColumns] * width < shape[columns])
      plan.layout[kColumns] *= 2;
    plan.tile[kColumns] = width * plan.layout[kColumns];
  }
  takeGiven(plan, tile, layout);
  return plan;
}

} // namespace xetile::transform_ops

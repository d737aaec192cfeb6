//===- PlanScan.cpp - tiles for scans -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sizes of results, the dimension that is scanned. Out: the tile of a workgroup, which walks
// over that dimension. Refused: nothing.
#include "xetile/Schedule/Tiles/TilePlan.h"

using namespace mlir;

namespace xetile::transform_ops {

TilePlan planScan(ArrayRef<int64_t> shape, unsigned scanned, std::array<int64_t, 2> tile,
                  std::array<int64_t, 2> layout) {
  TilePlan plan;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[scanned] = DimUse::Scanned;
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
  for (unsigned role : {kRows, kColumns}) {
    if (layout[role] != 0)
      plan.layout[role] = layout[role];
    if (tile[role] != 0)
      plan.tile[role] = tile[role];
  }
  return plan;
}

} // namespace xetile::transform_ops

//===- Place.h - where the elements of a tile lie along one dimension --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_PLACE_H
#define XETILE_SCHEDULE_TILES_PLACE_H

#include "mlir/IR/Value.h"
#include <array>

namespace xetile::transform_ops {

/// The dimension of a tile of rows x columns that an index runs along.
enum Role : unsigned { kRows = 0, kColumns = 1 };

/// An index of each element of a tile: `base + shift + steps[rows] * row + steps[columns] *
/// column`. A dimension with steps in both roles is folded: its elements fill the tile row by row.
struct Place {
  mlir::Value base; // null for 0
  int64_t shift = 0;
  std::array<int64_t, 2> steps = {0, 0};

  static Place along(Role role, mlir::Value base = {}) {
    Place place;
    place.base = base;
    place.steps[role] = 1;
    return place;
  }
  static Place at(int64_t number) {
    Place place;
    place.shift = number;
    return place;
  }
  bool isNumber() const { return steps[kRows] == 0 && steps[kColumns] == 0; }
  bool isFolded() const { return steps[kRows] != 0 && steps[kColumns] != 0; }
  bool isZero() const { return isNumber() && !base && shift == 0; }
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_PLACE_H

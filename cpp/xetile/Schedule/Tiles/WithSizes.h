//===- WithSizes.h - tiles of other sizes for a while --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_WITHSIZES_H
#define XETILE_SCHEDULE_TILES_WITHSIZES_H

#include "xetile/Schedule/Tiles/TileWriter.h"

namespace xetile::transform_ops {

class TileWriter::WithSizes {
public:
  explicit WithSizes(TileWriter &writer)
      : writer(writer), sizes(writer.sizes), shares(writer.shares) {}
  ~WithSizes() {
    writer.sizes = sizes;
    writer.shares = shares;
  }
  WithSizes(const WithSizes &) = delete;
  WithSizes &operator=(const WithSizes &) = delete;

  void set(Role role, int64_t size) { writer.sizes[role] = size; }
  /// The sizes of a vector of `shape` at `places`.
  void setFor(llvm::ArrayRef<Place> places, llvm::ArrayRef<int64_t> shape) {
    for (const Place &place : places)
      for (unsigned role : {kRows, kColumns})
        if (place.steps[role] != 0)
          writer.sizes[role] = shape[role];
  }
  /// Each subgroup has all of the tiles.
  void shareNothing() { writer.shares = false; }

private:
  TileWriter &writer;
  std::array<int64_t, 2> sizes;
  bool shares;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_WITHSIZES_H

//===- AtDepth.h - writing before the loops that a value does not depend on --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_ATDEPTH_H
#define XETILE_SCHEDULE_TILES_ATDEPTH_H

#include "xetile/Schedule/Tiles/TileWriter.h"

namespace xetile::transform_ops {

class TileWriter::AtDepth {
public:
  AtDepth(TileWriter &writer, size_t depth) : writer(writer), guard(writer.b) {
    if (depth + 1 >= writer.scopes.size())
      return;
    writer.b.setInsertionPoint(writer.scopes[depth + 1]->loop);
    inner.assign(std::make_move_iterator(writer.scopes.begin() + depth + 1),
                 std::make_move_iterator(writer.scopes.end()));
    writer.scopes.truncate(depth + 1);
  }
  ~AtDepth() {
    for (auto &scope : inner)
      writer.scopes.push_back(std::move(scope));
  }
  AtDepth(const AtDepth &) = delete;
  AtDepth &operator=(const AtDepth &) = delete;

private:
  TileWriter &writer;
  mlir::OpBuilder::InsertionGuard guard;
  std::vector<std::unique_ptr<Scope>> inner;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_ATDEPTH_H

//===- LaneDescriptors.h - descriptors of blocks, and accesses to them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEDESCRIPTORS_H
#define XETILE_TARGET_XE_LANES_LANEDESCRIPTORS_H

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

/// The memory of a descriptor; offsets are those that it was made with.
struct Surface {
  mlir::Value address; // i64, of element 0
  llvm::ArrayRef<mlir::Value> sizes, strides, offsets;
};
Surface surfaceOf(const LaneFragments &held, mlir::Value descriptor);

std::optional<int64_t> constantOf(mlir::Value value);

/// Where an access to a tile starts.
struct TilePlace {
  Surface surface;
  Values place; // a coordinate for each dimension of memory
  mlir::xegpu::TensorDescType tile;

  unsigned rank() const { return place.size(); }
};
/// Offsets of the descriptor and of the operation.
template <typename Op> llvm::FailureOr<TilePlace> placeOf(LaneContext &lanes, Op op) {
  Surface surface = surfaceOf(lanes.held, op.getTensorDesc());
  TilePlace at{surface, Values(surface.offsets), op.getTensorDescType()};
  llvm::SmallVector<mlir::OpFoldResult> offsets = op.getMixedOffsets();
  if (offsets.size() > at.rank())
    return op.emitOpError("has ") << offsets.size() << " offsets, expected at most one for each of "
                                  << at.rank() << " dimensions of memory";
  for (auto [place, offset] :
       llvm::zip_equal(llvm::MutableArrayRef(at.place).take_back(offsets.size()), offsets))
    place = lanes.b.add(place, getValueOrCreateConstantIndexOp(lanes.b, lanes.b.getLoc(), offset));
  return at;
}

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEDESCRIPTORS_H

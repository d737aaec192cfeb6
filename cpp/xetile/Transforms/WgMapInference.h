//===- WgMapInference.h - the workgroup map of each value ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WGMAPINFERENCE_H
#define XETILE_TRANSFORMS_WGMAPINFERENCE_H

#include "mlir/IR/Value.h"
#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/MapVector.h"

namespace xetile {

/// True for tiles and for vectors that can have a workgroup map.
bool canHaveWgMap(mlir::Type type);

/// True for operations that compute a vector from nothing that is distributed: constants, scalars
/// that are repeated, masks, counters. Each use may have such a vector under a map of its own.
bool isFreelyDistributed(mlir::Operation *op);

/// Finds the map of each tile and vector below an operation from the maps that the IR states. The
/// rules of the operations are those of WgMap.h.
///
/// Values that must be owned alike, whatever happens, are one group: a tile, those moved from it,
/// what is loaded from it, and what a region's values are bound to. Maps that are stated in one
/// group must give the same pieces. Between groups stand uses: an operation wants its operand
/// under a map that follows from its own, and where the operand's group has another one, a
/// tile_conv_layout is inserted behind the operand's definition. Reductions, transposes and
/// conversions take operands under any map: to them and from them a map is only handed on where
/// nothing else decides.
///
/// Changes no types; besides conversions it gives vectors of isFreelyDistributed operations one
/// copy per use.
class WgMapInference {
public:
  /// Emits an error where one value needs two maps or a map that does not fit it.
  llvm::LogicalResult run(mlir::Operation *root);

  /// The map of `value`, null if none was found.
  WgMapAttr lookup(mlir::Value value) const { return maps.lookup(value); }
  bool empty() const { return maps.empty(); }
  const llvm::MapVector<mlir::Value, WgMapAttr> &getMaps() const { return maps; }

private:
  llvm::MapVector<mlir::Value, WgMapAttr> maps;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_WGMAPINFERENCE_H

//===- WgMapInference.h - the workgroup map of each value ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WGMAPINFERENCE_H
#define XETILE_TRANSFORMS_WGMAPINFERENCE_H

#include "mlir/IR/Value.h"
#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/MapVector.h"

namespace xetile {

/// Finds the map of each tile and vector below an operation from the maps that the IR states. The
/// rules of the operations are those of WgMap.h. Changes no types; it gives constants with several
/// uses one copy per use.
class WgMapInference {
public:
  /// Emits an error where one value needs two maps or a map that does not fit it.
  llvm::LogicalResult run(mlir::Operation *root);

  /// The map of `value`, null if none was found.
  WgMapAttr lookup(mlir::Value value) const { return maps.lookup(value); }
  bool empty() const { return maps.empty(); }
  const llvm::MapVector<mlir::Value, WgMapAttr> &getMaps() const { return maps; }

private:
  llvm::LogicalResult assign(mlir::Value value, WgMapAttr map);
  llvm::LogicalResult propagate(mlir::Value value, WgMapAttr map);

  llvm::MapVector<mlir::Value, WgMapAttr> maps;
  llvm::SmallVector<mlir::Value> worklist;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_WGMAPINFERENCE_H

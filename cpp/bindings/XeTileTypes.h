//===- XeTileTypes.h - Python classes of XeTile's types and attributes -------===//
#ifndef XETILE_BINDINGS_XETILETYPES_H
#define XETILE_BINDINGS_XETILETYPES_H

#include "mlir/Bindings/Python/Nanobind.h"

/// Adds WgMapAttr, TileAttr and TileType to the module.
void populateXeTileTypes(nanobind::module_ &module);

#endif // XETILE_BINDINGS_XETILETYPES_H

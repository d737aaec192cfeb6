//===- XeTileTypes.cpp - C API of XeTile's types and attributes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/XeTileTypes.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "xetile-c/XeTile.h"
#include "xetile/IR/WgMap.h"

using namespace mlir;
using namespace xetile;

/// For attributes that may be absent: the cast of null is null.
static TileAttr toTileAttr(MlirAttribute attribute) {
  return cast_or_null<TileAttr>(unwrap(attribute));
}

static auto emitAt(MlirLocation location) {
  return [location] { return emitError(unwrap(location)); };
}

//===----------------------------------------------------------------------===//
// WgMapAttr
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAXeTileWgMap(MlirAttribute attribute) {
  return isa<WgMapAttr>(unwrap(attribute));
}

MlirTypeID mlirXeTileWgMapAttrGetTypeID() { return wrap(WgMapAttr::getTypeID()); }

MlirAttribute mlirXeTileWgMapAttrGetChecked(MlirLocation location, intptr_t numLayout,
                                            const int64_t *sgLayout, intptr_t numData,
                                            const int64_t *sgData) {
  return wrap(WgMapAttr::getChecked(emitAt(location), unwrap(location)->getContext(),
                                    ArrayRef<int64_t>(sgLayout, numLayout),
                                    ArrayRef<int64_t>(sgData, numData)));
}

int64_t mlirXeTileWgMapAttrGetSgLayout(MlirAttribute map, intptr_t dim) {
  return cast<WgMapAttr>(unwrap(map)).getSgLayout()[dim];
}

int64_t mlirXeTileWgMapAttrGetSgData(MlirAttribute map, intptr_t dim) {
  return cast<WgMapAttr>(unwrap(map)).getSgData()[dim];
}

bool mlirXeTileWgMapAttrForEachPiece(MlirLocation location, MlirAttribute attribute, int64_t rows,
                                     int64_t columns, int64_t maxPieces, int64_t maxOwners,
                                     void (*visit)(int64_t, int64_t, intptr_t, const int64_t *,
                                                   void *),
                                     void *userData) {
  auto map = cast<WgMapAttr>(unwrap(attribute));
  auto emitAtLocation = emitAt(location);
  int64_t shape[] = {rows, columns};
  for (unsigned dim = 0; dim < 2; ++dim)
    if (shape[dim] < 1) {
      emitAtLocation() << "shape[" << dim << "] is " << shape[dim] << ", expected at least 1";
      return false;
    }
  if (failed(verifyWgMap(map, shape, emitAtLocation)))
    return false;
  auto [pieces, owners] = countPieces(map, shape);
  if (maxPieces < 0 || pieces > uint64_t(maxPieces)) {
    emitAtLocation() << "sg_data cuts the shape into " << pieces << " pieces, expected at most "
                     << maxPieces << "; use larger sg_data";
    return false;
  }
  if (maxOwners < 0 || owners > uint64_t(maxOwners)) {
    emitAtLocation() << "the pieces have " << owners << " owners together, expected at most "
                     << maxOwners << "; use fewer subgroups";
    return false;
  }
  forEachPiece(map, shape, [&](int64_t row, int64_t column, ArrayRef<int64_t> owners) {
    visit(row, column, owners.size(), owners.data(), userData);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// TileAttr
//===----------------------------------------------------------------------===//

bool mlirAttributeIsAXeTileTile(MlirAttribute attribute) {
  return isa<TileAttr>(unwrap(attribute));
}

MlirTypeID mlirXeTileTileAttrGetTypeID() { return wrap(TileAttr::getTypeID()); }

MlirAttribute mlirXeTileTileAttrGetChecked(MlirLocation location, MlirAttribute wgMap,
                                           intptr_t numOrder, const int64_t *order,
                                           intptr_t numInnerBlocks, const int64_t *innerBlocks,
                                           bool isShared, bool scatter) {
  return wrap(TileAttr::getChecked(
      emitAt(location), unwrap(location)->getContext(), cast_or_null<WgMapAttr>(unwrap(wgMap)),
      ArrayRef<int64_t>(order, numOrder), ArrayRef<int64_t>(innerBlocks, numInnerBlocks),
      isShared ? MemorySpace::SLM : MemorySpace::Global, scatter));
}

MlirAttribute mlirXeTileTileAttrGetWgMap(MlirAttribute attribute) {
  return wrap(Attribute(toTileAttr(attribute).getWgMap()));
}

intptr_t mlirXeTileTileAttrGetNumOrder(MlirAttribute attribute) {
  return toTileAttr(attribute).getOrder().size();
}

int64_t mlirXeTileTileAttrGetOrder(MlirAttribute attribute, intptr_t dim) {
  return toTileAttr(attribute).getOrder()[dim];
}

intptr_t mlirXeTileTileAttrGetNumInnerBlocks(MlirAttribute attribute) {
  return toTileAttr(attribute).getInnerBlocks().size();
}

int64_t mlirXeTileTileAttrGetInnerBlocks(MlirAttribute attribute, intptr_t dim) {
  return toTileAttr(attribute).getInnerBlocks()[dim];
}

bool mlirXeTileTileAttrIsShared(MlirAttribute attribute) {
  return toTileAttr(attribute).getMemorySpace() == MemorySpace::SLM;
}

bool mlirXeTileTileAttrIsScattered(MlirAttribute attribute) {
  return toTileAttr(attribute).getScatter();
}

//===----------------------------------------------------------------------===//
// TileType
//===----------------------------------------------------------------------===//

bool mlirTypeIsAXeTileTile(MlirType type) { return isa<TileType>(unwrap(type)); }

MlirTypeID mlirXeTileTileTypeGetTypeID() { return wrap(TileType::getTypeID()); }

MlirType mlirXeTileTileTypeGetChecked(MlirLocation location, intptr_t rank, const int64_t *shape,
                                      MlirType elementType, MlirAttribute encoding) {
  return wrap(TileType::getChecked(emitAt(location), unwrap(location)->getContext(),
                                   ArrayRef<int64_t>(shape, rank), unwrap(elementType),
                                   toTileAttr(encoding)));
}

int64_t mlirXeTileTileTypeGetDimSize(MlirType type, intptr_t dim) {
  return cast<TileType>(unwrap(type)).getDimSize(dim);
}

MlirType mlirXeTileTileTypeGetElementType(MlirType type) {
  return wrap(cast<TileType>(unwrap(type)).getElementType());
}

MlirAttribute mlirXeTileTileTypeGetEncoding(MlirType type) {
  return wrap(Attribute(cast<TileType>(unwrap(type)).getEncoding()));
}

MlirType mlirXeTileTileTypeGetVectorType(MlirType type) {
  return wrap(Type(cast<TileType>(unwrap(type)).getVectorType()));
}

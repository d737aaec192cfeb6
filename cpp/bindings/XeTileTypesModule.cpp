//===- XeTileTypesModule.cpp - the Python extension module _xetileTypes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Bindings/Python/Diagnostics.h"
#include "mlir/Bindings/Python/Nanobind.h"
#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "xetile-c/XeTile.h"
#include <nanobind/stl/tuple.h>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace mlir::python::nanobind_adaptors;

namespace {

using Sizes = std::vector<int64_t>;

/// Returns the result of `get`, or raises ValueError with the verifier's diagnostic.
template <typename Get> auto checked(MlirContext context, Get get) {
  mlir::python::CollectDiagnosticsToStringScope said(context);
  auto made = get(mlirLocationUnknownGet(context));
  if (!made.ptr)
    throw nb::value_error(said.takeMessage().c_str());
  return made;
}

template <typename GetElement> Sizes list(intptr_t size, GetElement get) {
  Sizes values;
  for (intptr_t dim = 0; dim < size; ++dim)
    values.push_back(get(dim));
  return values;
}

/// None for a null attribute.
std::optional<MlirAttribute> optional(MlirAttribute attribute) {
  return attribute.ptr ? std::optional(attribute) : std::nullopt;
}

using Piece = std::tuple<int64_t, int64_t, Sizes>;

std::vector<Piece> owners(MlirAttribute map, int64_t rows, int64_t columns, int64_t maxPieces,
                          int64_t maxOwners) {
  MlirContext context = mlirAttributeGetContext(map);
  mlir::python::CollectDiagnosticsToStringScope said(context);
  std::vector<Piece> pieces;
  auto visit = [](int64_t row, int64_t column, intptr_t count, const int64_t *ids, void *list) {
    static_cast<std::vector<Piece> *>(list)->emplace_back(row, column, Sizes(ids, ids + count));
  };
  if (!mlirXeTileWgMapAttrForEachPiece(mlirLocationUnknownGet(context), map, rows, columns,
                                       maxPieces, maxOwners, visit, &pieces))
    throw nb::value_error(said.takeMessage().c_str());
  return pieces;
}

void populateWgMap(nb::module_ &module) {
  auto get = [](const nb::object &cls, const Sizes &sgLayout, const Sizes &sgData,
                MlirContext context) {
    return cls(checked(context, [&](MlirLocation location) {
      return mlirXeTileWgMapAttrGetChecked(location, sgLayout.size(), sgLayout.data(),
                                           sgData.size(), sgData.data());
    }));
  };
  mlir_attribute_subclass(module, "WgMapAttr", mlirAttributeIsAXeTileWgMap,
                          mlirXeTileWgMapAttrGetTypeID)
      .def_classmethod(
          "get", get, nb::arg("cls"), nb::arg("sg_layout"), nb::arg("sg_data"),
          nb::arg("context").none() = nb::none(),
          nb::sig("def get(cls, sg_layout: collections.abc.Sequence[int], "
                  "sg_data: collections.abc.Sequence[int], "
                  "context: " MAKE_MLIR_PYTHON_QUALNAME("ir.Context") " | None = None) "
                                                                      "-> WgMapAttr"),
          "How the subgroups of a workgroup own a tile: `sg_layout` subgroups in rows "
          "and columns, each `sg_data` elements at a time. ValueError if the "
          "attribute's verifier refuses it.")
      .def_property_readonly(
          "sg_layout",
          [](MlirAttribute self) {
            return list(2, [&](intptr_t dim) { return mlirXeTileWgMapAttrGetSgLayout(self, dim); });
          })
      .def_property_readonly(
          "sg_data",
          [](MlirAttribute self) {
            return list(2, [&](intptr_t dim) { return mlirXeTileWgMapAttrGetSgData(self, dim); });
          })
      .def("owners", owners, nb::arg("rows"), nb::arg("columns"), nb::arg("max_pieces") = 1 << 16,
           nb::arg("max_owners") = 1 << 20,
           "The pieces of a tile of that shape, row by row: of each the first row and column, and "
           "the linear ids of the subgroups that own it. ValueError if the map does not distribute "
           "such a tile, or not into so few pieces with so few owners together.");
}

void populateTileAttr(nb::module_ &module) {
  auto get = [](const nb::object &cls, std::optional<MlirAttribute> wgMap, const Sizes &order,
                const Sizes &innerBlocks, const std::string &memorySpace, bool scatter,
                MlirContext context) {
    if (memorySpace != "global" && memorySpace != "slm")
      throw nb::value_error(
          ("expected memory_space to be 'global' or 'slm', got '" + memorySpace + "'").c_str());
    if (wgMap && !mlirAttributeIsAXeTileWgMap(*wgMap))
      throw nb::type_error("expected wg_map to be a WgMapAttr");
    return cls(checked(context, [&](MlirLocation location) {
      return mlirXeTileTileAttrGetChecked(location, wgMap.value_or(MlirAttribute{nullptr}),
                                          order.size(), order.data(), innerBlocks.size(),
                                          innerBlocks.data(), memorySpace == "slm", scatter);
    }));
  };
  mlir_attribute_subclass(module, "TileAttr", mlirAttributeIsAXeTileTile,
                          mlirXeTileTileAttrGetTypeID)
      .def_classmethod(
          "get", get, nb::arg("cls"), nb::arg("wg_map").none() = nb::none(),
          nb::arg("order") = Sizes(), nb::arg("inner_blocks") = Sizes(),
          nb::arg("memory_space") = "global", nb::arg("scatter") = false,
          nb::arg("context").none() = nb::none(),
          nb::sig(
              "def get(cls, wg_map: WgMapAttr | None = None, "
              "order: collections.abc.Sequence[int] = (), "
              "inner_blocks: collections.abc.Sequence[int] = (), memory_space: str = 'global', "
              "scatter: bool = False, "
              "context: " MAKE_MLIR_PYTHON_QUALNAME("ir.Context") " | None = None) -> TileAttr"),
          "Properties of a tile besides shape and element type. Empty lists are absent properties. "
          "ValueError if the attribute's verifier refuses it.")
      .def_property_readonly(
          "wg_map", [](MlirAttribute self) { return optional(mlirXeTileTileAttrGetWgMap(self)); },
          nb::sig("def wg_map(self) -> WgMapAttr | None"))
      .def_property_readonly("order",
                             [](MlirAttribute self) {
                               return list(mlirXeTileTileAttrGetNumOrder(self), [&](intptr_t dim) {
                                 return mlirXeTileTileAttrGetOrder(self, dim);
                               });
                             })
      .def_property_readonly(
          "inner_blocks",
          [](MlirAttribute self) {
            return list(mlirXeTileTileAttrGetNumInnerBlocks(self),
                        [&](intptr_t dim) { return mlirXeTileTileAttrGetInnerBlocks(self, dim); });
          })
      .def_property_readonly(
          "memory_space",
          [](MlirAttribute self) { return mlirXeTileTileAttrIsShared(self) ? "slm" : "global"; })
      .def_property_readonly("scatter", mlirXeTileTileAttrIsScattered);
}

void populateTileType(nb::module_ &module) {
  auto get = [](const nb::object &cls, const Sizes &shape, MlirType elementType,
                std::optional<MlirAttribute> encoding) {
    if (encoding && !mlirAttributeIsAXeTileTile(*encoding))
      throw nb::type_error("expected encoding to be a TileAttr");
    return cls(checked(mlirTypeGetContext(elementType), [&](MlirLocation location) {
      return mlirXeTileTileTypeGetChecked(location, shape.size(), shape.data(), elementType,
                                          encoding.value_or(MlirAttribute{nullptr}));
    }));
  };
  mlir_type_subclass(module, "TileType", mlirTypeIsAXeTileTile, mlirXeTileTileTypeGetTypeID)
      .def_classmethod("get", get, nb::arg("cls"), nb::arg("shape"), nb::arg("element_type"),
                       nb::arg("encoding").none() = nb::none(),
                       nb::sig("def get(cls, shape: collections.abc.Sequence[int], "
                               "element_type: " MAKE_MLIR_PYTHON_QUALNAME(
                                   "ir.Type") ", "
                                              "encoding: TileAttr | None = None) -> TileType"),
                       "A tile of `shape` (rows, columns). ValueError if the type's verifier "
                       "refuses it.")
      .def_property_readonly(
          "shape",
          [](MlirType self) {
            return list(2, [&](intptr_t dim) { return mlirXeTileTileTypeGetDimSize(self, dim); });
          })
      .def_property_readonly("element_type", mlirXeTileTileTypeGetElementType)
      .def_property_readonly(
          "encoding", [](MlirType self) { return optional(mlirXeTileTileTypeGetEncoding(self)); },
          nb::sig("def encoding(self) -> TileAttr | None"))
      .def_property_readonly("vector_type", mlirXeTileTileTypeGetVectorType);
}
} // namespace

// Not part of _xetile, which is imported before the classes that these derive from are there.
NB_MODULE(_xetileTypes, m) {
  m.doc() = "The types and attributes of the XeTile dialect.";
  populateWgMap(m);
  populateTileAttr(m);
  populateTileType(m);
}

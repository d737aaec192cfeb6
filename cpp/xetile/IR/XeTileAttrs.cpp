//===- XeTileAttrs.cpp - syntax and constraints of wg_map and tile_attr ----===//
#include "xetile/IR/XeTileAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "xetile/IR/XeTileDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

#define GET_ATTRDEF_CLASSES
#include "xetile/IR/XeTileAttrs.cpp.inc"

void XeTileDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "xetile/IR/XeTileAttrs.cpp.inc"
      >();
}

LogicalResult WgMapAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> sgLayout, ArrayRef<int64_t> sgData) {
  for (auto [name, values] : {std::pair("sg_layout", sgLayout), std::pair("sg_data", sgData)}) {
    if (values.size() != 2) // wg_map_c1
      return emitError() << "expected " << name << " to have two elements, rows and columns, got "
                         << values.size();
    for (int64_t value : values)
      if (value < 1) // wg_map_c2
        return emitError() << "expected the elements of " << name << " to be positive, got "
                           << value;
  }
  return success();
}

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError, WgMapAttr wgMap,
                               ArrayRef<int64_t> order) {
  bool rowMajor = order == ArrayRef<int64_t>{1, 0}, columnMajor = order == ArrayRef<int64_t>{0, 1};
  if (!order.empty() && !rowMajor && !columnMajor) // tile_attr_c1
    return emitError() << "expected order to be [1, 0] (row-major) or [0, 1] (column-major), got ["
                       << order << "]";
  return success();
}

void TileAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getWgMap()) {
    printer << "wg_map = ";
    printer.printStrippedAttrOrType(getWgMap());
  }
  if (!getOrder().empty()) {
    printer << (getWgMap() ? ", order = [" : "order = [");
    llvm::interleaveComma(getOrder(), printer);
    printer << "]";
  }
  printer << ">";
}

/// Parses `[` integer-list `]`.
static ParseResult parseIntegers(AsmParser &parser, SmallVector<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

Attribute TileAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  WgMapAttr wgMap;
  SmallVector<int64_t> order;
  auto parseProperty = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "wg_map" && !wgMap)
      return parser.parseCustomAttributeWithFallback(wgMap);
    if (name == "order" && order.empty())
      return parseIntegers(parser, order);
    return parser.emitError(location)
           << "expected wg_map or order, once each, got '" << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseProperty))
    return {};
  return parser.getChecked<TileAttr>(start, parser.getContext(), wgMap, ArrayRef<int64_t>(order));
}

//===- XeTileAttrs.cpp - syntax and constraints of wg_map and tile_attr ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/XeTileAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "xetile/IR/XeTileDialect.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

#include "xetile/IR/XeTileEnums.cpp.inc"

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
  if (sgLayout[0] > std::numeric_limits<int32_t>::max() / sgLayout[1]) // wg_map_c3
    return emitError() << "expected fewer than 2^31 subgroups, got sg_layout = [" << sgLayout
                       << "]";
  return success();
}

LogicalResult TileAttr::verify(function_ref<InFlightDiagnostic()> emitError, WgMapAttr wgMap,
                               ArrayRef<int64_t> order, ArrayRef<int64_t> innerBlocks,
                               MemorySpace memorySpace, bool scatter) {
  bool rowMajor = order == ArrayRef<int64_t>{1, 0}, columnMajor = order == ArrayRef<int64_t>{0, 1};
  if (!order.empty() && !rowMajor && !columnMajor) // tile_attr_c1
    return emitError() << "expected order to be [1, 0] (row-major) or [0, 1] (column-major), got ["
                       << order << "]";
  bool positive = llvm::all_of(innerBlocks, [](int64_t size) { return size > 0; });
  if (!innerBlocks.empty() && (innerBlocks.size() != 2 || !positive)) // tile_attr_c2
    return emitError()
           << "expected inner_blocks to be two positive numbers, rows and columns, got ["
           << innerBlocks << "]";
  if (scatter && (!order.empty() || !innerBlocks.empty() ||
                  memorySpace != MemorySpace::Global)) // tile_attr_c3
    return emitError() << "expected neither order, inner_blocks nor memory_space = slm with "
                          "scatter, whose elements have global addresses of their own";
  return success();
}

TileAttr TileAttr::withWgMap(WgMapAttr map) const {
  if (!map && getOrder().empty() && getInnerBlocks().empty() &&
      getMemorySpace() == MemorySpace::Global && !getScatter())
    return {};
  return get(getContext(), map, getOrder(), getInnerBlocks(), getMemorySpace(), getScatter());
}

void TileAttr::print(AsmPrinter &printer) const {
  llvm::ListSeparator separator;
  auto printIntegers = [&](StringRef name, ArrayRef<int64_t> values) {
    if (values.empty())
      return;
    printer << StringRef(separator) << name << " = [";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  printer << "<";
  if (getWgMap()) {
    printer << StringRef(separator) << "wg_map = ";
    printer.printStrippedAttrOrType(getWgMap());
  }
  printIntegers("order", getOrder());
  printIntegers("inner_blocks", getInnerBlocks());
  if (getMemorySpace() != MemorySpace::Global)
    printer << StringRef(separator) << "memory_space = " << stringifyMemorySpace(getMemorySpace());
  if (getScatter())
    printer << StringRef(separator) << "scatter = true";
  printer << ">";
}

/// Parses `[` integer-list `]`.
static ParseResult parseIntegers(AsmParser &parser, SmallVector<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

static ParseResult parseMemorySpace(AsmParser &parser, MemorySpace &space) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<MemorySpace> parsed = symbolizeMemorySpace(name);
  if (!parsed)
    return parser.emitError(location)
           << "expected memory_space to be global or slm, got '" << name << "'";
  space = *parsed;
  return success();
}

static ParseResult parseBool(AsmParser &parser, bool &value) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  if (name != "true" && name != "false")
    return parser.emitError(location)
           << "expected scatter to be true or false, got '" << name << "'";
  value = name == "true";
  return success();
}

Attribute TileAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  WgMapAttr wgMap;
  SmallVector<int64_t> order, innerBlocks;
  MemorySpace memorySpace = MemorySpace::Global;
  bool scatter = false;
  llvm::SmallSet<StringRef, 5> seen;
  auto parseProperty = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (seen.insert(name).second) {
      if (name == "wg_map")
        return parser.parseCustomAttributeWithFallback(wgMap);
      if (name == "order")
        return parseIntegers(parser, order);
      if (name == "inner_blocks")
        return parseIntegers(parser, innerBlocks);
      if (name == "memory_space")
        return parseMemorySpace(parser, memorySpace);
      if (name == "scatter")
        return parseBool(parser, scatter);
    }
    return parser.emitError(location)
           << "expected wg_map, order, inner_blocks, memory_space or scatter, once each, got '"
           << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseProperty))
    return {};
  return parser.getChecked<TileAttr>(start, parser.getContext(), wgMap, ArrayRef<int64_t>(order),
                                     ArrayRef<int64_t>(innerBlocks), memorySpace, scatter);
}

LogicalResult LaneLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                     ArrayRef<int64_t> block, ArrayRef<int64_t> registers,
                                     ArrayRef<int64_t> lanes) {
  for (int64_t side : block)
    if (side < 1 || !llvm::isPowerOf2_64(side)) // lane_layout_c1
      return emitError() << "expected the sides of block to be powers of two, got " << side;
  for (auto [name, steps] : {std::pair("register", registers), std::pair("lane", lanes)}) {
    if (block.empty() ? !steps.empty() : steps.size() % block.size() != 0) // lane_layout_c2
      return emitError() << "expected the steps of " << name << " to have " << block.size()
                         << " elements each, like block";
    for (auto [i, step] : llvm::enumerate(steps))
      if (step < 0 || step >= block[i % block.size()]) // lane_layout_c2
        return emitError() << "expected the steps of " << name << " to lie within the block, got "
                           << step << " along a side of " << block[i % block.size()];
  }
  return success();
}

void LaneLayoutAttr::print(AsmPrinter &printer) const {
  size_t rank = getBlock().size();
  auto printList = [&](ArrayRef<int64_t> values) {
    printer << "[";
    llvm::interleaveComma(values, printer);
    printer << "]";
  };
  printer << "<block = ";
  printList(getBlock());
  for (auto [name, steps] :
       {std::pair("register", getRegisters()), std::pair("lane", getLanes())}) {
    printer << ", " << name << " = [";
    for (size_t at = 0; at < steps.size(); at += rank) {
      printer << (at ? ", " : "");
      printList(steps.slice(at, rank));
    }
    printer << "]";
  }
  printer << ">";
}

Attribute LaneLayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<int64_t> block, registers, lanes;
  auto parseSteps = [&](StringRef name, SmallVector<int64_t> &steps) -> ParseResult {
    if (parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual())
      return failure();
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
      SMLoc location = parser.getCurrentLocation();
      SmallVector<int64_t> step;
      if (parseIntegers(parser, step))
        return failure();
      if (step.size() != block.size())
        return parser.emitError(location) << "expected a step of " << block.size()
                                          << " elements, like block, got " << step.size();
      llvm::append_range(steps, step);
      return success();
    });
  };
  if (parser.parseLess() || parser.parseKeyword("block") || parser.parseEqual() ||
      parseIntegers(parser, block) || parseSteps("register", registers) ||
      parseSteps("lane", lanes) || parser.parseGreater())
    return {};
  return parser.getChecked<LaneLayoutAttr>(start, parser.getContext(), ArrayRef<int64_t>(block),
                                           ArrayRef<int64_t>(registers), ArrayRef<int64_t>(lanes));
}

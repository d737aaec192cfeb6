//===- MatmulConfigAttr.cpp - syntax and constraints of matmul_config --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: text. Out: the attribute. Refused: unknown and repeated fields, values out of range, blocks
// that are no multiples of innermost blocks.
//===----------------------------------------------------------------------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "xetile/IR/XeTileAttrs.h"

using namespace mlir;
using namespace xetile;

LogicalResult MatmulConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       PartialConfig fields) {
  LogicalResult legal = success();
  visitFields(fields, [&](StringRef name, const std::optional<int64_t> &value, auto...) {
    if (failed(legal) || !value)
      return;
    if (&value == &fields.loopOrder) {
      if (!isLoopOrder(*value)) // matmul_config_c1
        legal = emitError() << name << " = " << *value << ": expected " << describeLoopOrders();
    } else if (*value < 1) { // matmul_config_c1
      legal = emitError() << name << " = " << *value << ": expected a positive integer";
    }
  });
  for (MatmulDim dim : {kM, kN, kK}) {
    const std::optional<int64_t> &block = fields.block[dim], &innermost = fields.innermost[dim];
    if (succeeded(legal) && block && innermost && *block % *innermost != 0) // matmul_config_c2
      legal = emitError() << fieldName(fields, block) << " = " << *block
                          << ": expected a multiple of " << fieldName(fields, innermost) << " = "
                          << *innermost;
  }
  return legal;
}

void MatmulConfigAttr::print(AsmPrinter &printer) const {
  printer << "<";
  bool first = true;
  visitFields(getFields(), [&](StringRef name, const std::optional<int64_t> &value, auto...) {
    if (!value)
      return;
    printer << (first ? "" : ", ") << name << " = " << *value;
    first = false;
  });
  printer << ">";
}

/// A number, or the name of a loop order.
static ParseResult parseValue(AsmParser &parser, StringRef name, bool isOrder,
                              std::optional<int64_t> &value) {
  SMLoc location = parser.getCurrentLocation();
  std::string text;
  if (isOrder && succeeded(parser.parseOptionalString(&text))) {
    value = findLoopOrder(text);
    if (value)
      return success();
    return parser.emitError(location)
           << name << " = \"" << text << "\": expected " << describeLoopOrders();
  }
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  value = number;
  return success();
}

Attribute MatmulConfigAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  PartialConfig fields;
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    std::optional<int64_t> *field = findField(fields, name);
    if (!field || *field)
      return parser.emitError(location)
             << "expected one of " << joinFieldNames() << ", once each, got '" << name << "'";
    return parseValue(parser, name, field == &fields.loopOrder, *field);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return parser.getChecked<MatmulConfigAttr>(start, parser.getContext(), fields);
}

//===- MatmulConfigAttr.cpp - syntax and constraints of matmul_config --------===//
// In: text. Out: the attribute. Refused: unknown and repeated fields, values out of range, blocks
// that are no multiples of innermost blocks.
//===----------------------------------------------------------------------===//
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "xetile/IR/MatmulConfig.h"
#include "xetile/IR/XeTileAttrs.h"

using namespace mlir;
using namespace xetile;

LogicalResult MatmulConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                       ArrayRef<int64_t> values) {
  if (values.size() != MatmulConfig::kNumFields)
    return emitError() << "expected " << MatmulConfig::kNumFields << " values, got "
                       << values.size();
  auto names = MatmulConfig::fieldNames();
  for (auto [name, value] : llvm::zip_equal(names.drop_back(), values.drop_back()))
    if (value != kUnset && value < 1) // matmul_config_c1
      return emitError() << name << " = " << value << ": expected a positive integer";
  int64_t order = values.back();
  if (order != kUnset && (order < 0 || order >= MatmulConfig::kNumLoopOrders)) // matmul_config_c1
    return emitError() << "loopOrder = " << order << ": expected 0 to "
                       << MatmulConfig::kNumLoopOrders - 1;
  for (unsigned dim : {kM, kN, kK}) {
    int64_t block = values[3 + dim], innermost = values[6 + dim];
    if (block != kUnset && innermost != kUnset && block % innermost != 0) // matmul_config_c2
      return emitError() << names[3 + dim] << " = " << block << ": expected a multiple of "
                         << names[6 + dim] << " = " << innermost;
  }
  return success();
}

void MatmulConfigAttr::print(AsmPrinter &printer) const {
  printer << "<";
  bool first = true;
  for (auto [name, value] : llvm::zip_equal(MatmulConfig::fieldNames(), getValues())) {
    if (value == kUnset)
      continue;
    printer << (first ? "" : ", ") << name << " = " << value;
    first = false;
  }
  printer << ">";
}

Attribute MatmulConfigAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<int64_t> values(MatmulConfig::kNumFields, kUnset);
  auto names = MatmulConfig::fieldNames();
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    auto found = llvm::find(names, name);
    if (found == names.end() || values[found - names.begin()] != kUnset) {
      InFlightDiagnostic error = parser.emitError(location) << "expected one of ";
      llvm::interleaveComma(names, error);
      return error << ", once each, got '" << name << "'";
    }
    int64_t &value = values[found - names.begin()];
    if (parser.parseInteger(value))
      return failure();
    if (value == kUnset) // the one integer that stands for no value
      return parser.emitError(location)
             << name << " = " << value << ": expected a positive integer";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return parser.getChecked<MatmulConfigAttr>(start, parser.getContext(), ArrayRef<int64_t>(values));
}

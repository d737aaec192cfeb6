//===- XeTileOps.cpp - syntax of the XeTile operations -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/XeTileOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace xetile;

using Operands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;
using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

//===----------------------------------------------------------------------===//
// Where a tile is: `[offsets]`, `[offsets], [rows, columns], [strides]` or `, %indices`
//===----------------------------------------------------------------------===//

static ParseResult parseTilePlace(OpAsmParser &parser, Operands &offsets,
                                  DenseI64ArrayAttr &staticOffsets, Operands &shape,
                                  DenseI64ArrayAttr &staticShape, Operands &strides,
                                  DenseI64ArrayAttr &staticStrides, OptionalOperand &indices) {
  staticOffsets = staticShape = staticStrides = parser.getBuilder().getDenseI64ArrayAttr({});
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseOperand(indices.emplace());
  if (parseDynamicIndexList(parser, offsets, staticOffsets))
    return failure();
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parseDynamicIndexList(parser, shape, staticShape) || parser.parseComma() ||
                 parseDynamicIndexList(parser, strides, staticStrides));
}

static void printTilePlace(OpAsmPrinter &printer, Operation *op, OperandRange offsets,
                           DenseI64ArrayAttr staticOffsets, OperandRange shape,
                           DenseI64ArrayAttr staticShape, OperandRange strides,
                           DenseI64ArrayAttr staticStrides, Value indices) {
  if (indices) {
    printer << ", " << indices;
    return;
  }
  printDynamicIndexList(printer, op, offsets, staticOffsets);
  if (!staticShape || staticShape.empty())
    return;
  printer << ", ";
  printDynamicIndexList(printer, op, shape, staticShape);
  printer << ", ";
  printDynamicIndexList(printer, op, strides, staticStrides);
}

//===----------------------------------------------------------------------===//
// How far a tile moves: `[deltas]` or `%index_deltas`
//===----------------------------------------------------------------------===//

static ParseResult parseTileDelta(OpAsmParser &parser, Operands &deltas,
                                  DenseI64ArrayAttr &staticDeltas, OptionalOperand &indexDeltas) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed = parser.parseOptionalOperand(operand);
  if (!parsed.has_value())
    return parseDynamicIndexList(parser, deltas, staticDeltas);
  indexDeltas = operand;
  staticDeltas = parser.getBuilder().getDenseI64ArrayAttr({});
  return *parsed;
}

static void printTileDelta(OpAsmPrinter &printer, Operation *op, OperandRange deltas,
                           DenseI64ArrayAttr staticDeltas, Value indexDeltas) {
  if (indexDeltas)
    printer << indexDeltas;
  else
    printDynamicIndexList(printer, op, deltas, staticDeltas);
}

#define GET_OP_CLASSES
#include "xetile/IR/XeTileOps.cpp.inc"

//===- DialectAttrs.cpp - the verifier of the dialect's attributes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an attribute with the dialect's prefix on any operation or argument. Refused: names that
// nobody reads, values of other types, and what belongs to an argument on an operation.
//===----------------------------------------------------------------------===//
#include "xetile/IR/DialectAttrs.h"
#include "mlir/IR/Operation.h"
#include "xetile/IR/AnchorAttr.h"
#include "xetile/IR/LazyAttr.h"
#include "xetile/IR/ReachAttrs.h"
#include "xetile/IR/RingAttrs.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/IR/XeTileDialect.h"

using namespace mlir;
using namespace xetile;

namespace {

enum class Place { Operation, Argument };

struct Row {
  StringLiteral name;
  Place place;
  StringLiteral expected;
  bool (*holds)(Attribute);
};

template <typename... Attrs> bool is(Attribute value) { return isa<Attrs...>(value); }

template <typename... Attrs> bool isArrayOf(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, is<Attrs...>);
}

template <StringLiteral const &...texts> bool isOneOf(Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && ((text.getValue() == texts) || ...);
}

bool isRing(Attribute value) {
  auto fields = dyn_cast<DictionaryAttr>(value);
  auto pipeline = fields ? fields.getAs<StringAttr>("pipeline") : StringAttr();
  // Threads that share tiles have no stages, and maybe nothing to exchange.
  bool isShared = pipeline && pipeline == "threads";
  auto has = [&](StringRef name, bool mayBeZero = false) {
    auto number = fields.getAs<IntegerAttr>(name);
    return number && number.getType().isInteger(64) && number.getInt() >= (mayBeZero ? 0 : 1);
  };
  bool isPipeline = !fields || !fields.get("pipeline") ||
                    (pipeline && (pipeline == "simple" || pipeline == "specialized" || isShared));
  return fields && has("stages", isShared) && has("stage_bytes", isShared) &&
         has("shared_bytes", isShared) && has("threads") &&
         fields.getAs<DenseI64ArrayAttr>("written") && isPipeline;
}

bool isMap(Attribute value) {
  auto fields = dyn_cast<DictionaryAttr>(value);
  auto argument = fields ? fields.getAs<IntegerAttr>("argument") : IntegerAttr();
  auto box = fields ? fields.getAs<DenseI64ArrayAttr>("box") : DenseI64ArrayAttr();
  return argument && argument.getType().isInteger(64) && box && box.size() == 2;
}

bool areMaps(Attribute value) {
  auto maps = dyn_cast<ArrayAttr>(value);
  return maps && llvm::all_of(maps, isMap);
}

/// Where and what is said, or two sides, their relation and a reason.
bool isCondition(Attribute value) {
  auto texts = dyn_cast<ArrayAttr>(value);
  return texts && (texts.size() == 2 || texts.size() == 4) &&
         llvm::all_of(texts, llvm::IsaPred<StringAttr>);
}

bool areConditions(Attribute value) {
  auto conditions = dyn_cast<ArrayAttr>(value);
  return conditions && llvm::all_of(conditions, isCondition);
}

bool isFloat32(Attribute value) {
  auto number = dyn_cast<FloatAttr>(value);
  return number && number.getType().isF32();
}

constexpr StringLiteral kAuto = "auto", kAlways = "always", kNever = "never", kA = "a", kB = "b";

const Row rows[] = {
    {kFrozenAttr, Place::Argument, "a unit", is<UnitAttr>},
    {kArgumentAttr, Place::Argument, "an integer", is<IntegerAttr>},
    {kPackedAttr, Place::Argument, "an integer", is<IntegerAttr>},
    {kOnDeviceAttr, Place::Argument, "a unit", is<UnitAttr>},
    {kResultAttr, Place::Argument, "a unit", is<UnitAttr>},
    {kWrittenAttr, Place::Argument, "a unit", is<UnitAttr>},
    {kScheduleAttr, Place::Operation, "the name of a schedule", is<StringAttr>},
    {kAnchorAttr, Place::Operation, "the name of a schedule", is<StringAttr>},
    {kKernelAttr, Place::Operation, "an integer", is<IntegerAttr>},
    {kIsolatedAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kConfigAttr, Place::Operation, "a #xetile.matmul_config", is<MatmulConfigAttr>},
    {kPackAttr, Place::Operation, "\"auto\", \"always\" or \"never\"",
     isOneOf<kAuto, kAlways, kNever>},
    {kPackBeforeLoopAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kMatmulKeyAttr, Place::Operation, "a string", is<StringAttr>},
    {kMatmulCandidatesAttr, Place::Operation, "an array of dictionaries",
     isArrayOf<DictionaryAttr>},
    {kMicrokernelAttr, Place::Operation, "array<i64: m, n>", is<DenseI64ArrayAttr>},
    {kFetchedAttr, Place::Operation, "array<i64: columns, steps, lines>", is<DenseI64ArrayAttr>},
    {kRowsAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kStreamedAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kReachAttr, Place::Operation, "array<i64: result, dimension, first, last>",
     is<DenseI64ArrayAttr>},
    {kLazyAttr, Place::Operation, "a float of 32 bits", isFloat32},
    {kSeenAttr, Place::Operation, "a boolean", is<BoolAttr>},
    {kConditionsAttr, Place::Operation, "an array of arrays of two or four strings", areConditions},
    {kExpectationsAttr, Place::Operation, "an array of arrays of two or four strings",
     areConditions},
    {kTilingAttr, Place::Operation, "a dictionary", is<DictionaryAttr>},
    {kSubgroupsAttr, Place::Operation, "an integer", is<IntegerAttr>},
    {kSlmBytesAttr, Place::Operation, "an integer", is<IntegerAttr>},
    {kInsertedAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kUnsignedOperandAttr, Place::Operation, "\"a\" or \"b\"", isOneOf<kA, kB>},
    {lanesAttr, Place::Operation, "an array of #xetile.lane_layout and unit",
     isArrayOf<LaneLayoutAttr, UnitAttr>},
    {laneArgsAttr, Place::Operation, "an array of #xetile.lane_layout and unit",
     isArrayOf<LaneLayoutAttr, UnitAttr>},
    {registerEstimateAttr, Place::Operation, "a dictionary", is<DictionaryAttr>},
    {kRingAttr, Place::Operation,
     "a dictionary of stages, stage_bytes, shared_bytes, threads, written, maybe pipeline", isRing},
    {kGridAttr, Place::Operation, "a unit", is<UnitAttr>},
    {kTf32Attr, Place::Operation, "a unit", is<UnitAttr>},
    {kWindowAttr, Place::Operation, "a dictionary of axes, batches, k, operand and pixels",
     [](Attribute value) { return WindowedMatrix::from(value).has_value(); }},
    {kMapAttr, Place::Operation, "a dictionary of argument and box", isMap},
    {kMapsAttr, Place::Operation, "an array of dictionaries of argument and box", areMaps},
};

LogicalResult verifyAttr(Operation *op, NamedAttribute attr, Place place) {
  StringRef name = attr.getName();
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return each.name == name; });
  if (row == std::end(rows)) {
    InFlightDiagnostic error = op->emitOpError("has an attribute that nobody reads, '")
                               << name << "'; expected ";
    if (name == "xetile.unsigned_a" || name == "xetile.unsigned_b")
      return error << "unsigned_a and unsigned_b on xetile.tile_mma, on others operands that are "
                      "zero-extended or, of xegpu.dpas, of ui8";
    llvm::interleave(rows, error, [&](const Row &each) { error << each.name; }, ", ");
    return error << ", or another prefix than xetile";
  }
  if (row->place != place)
    return op->emitOpError("has ")
           << name << ", which belongs to "
           << (place == Place::Argument ? "operations" : "arguments of functions");
  if (!row->holds(attr.getValue()))
    return op->emitOpError("expected ")
           << name << " to be " << row->expected << ", got " << attr.getValue();
  return success();
}

} // namespace

LogicalResult XeTileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  return verifyAttr(op, attr, Place::Operation);
}

LogicalResult XeTileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                      NamedAttribute attr) {
  return verifyAttr(op, attr, Place::Argument);
}

//===- Params.cpp - reading parameters and handles of transform ops ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transform parameters. Out: integers and strings.
// Refused: lists, other kinds of attributes, integers below the minimum or beyond 64 bits.
#include "xetile/Schedule/Params.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile {

/// The one attribute that `param` holds.
static DiagnosedSilenceableFailure readOne(TransformOpInterface op, TransformState &state,
                                           Value param, StringRef name, Attribute &value) {
  ArrayRef<Attribute> values = state.getParams(param);
  if (values.size() != 1)
    return op.emitDefiniteFailure()
           << "expected one value for '" << name << "', got " << values.size();
  value = values.front();
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure readInteger(TransformOpInterface op, TransformState &state, Value param,
                                        StringRef name, int64_t minimum, int64_t &value) {
  Attribute attr;
  DiagnosedSilenceableFailure diag = readOne(op, state, param, name, attr);
  if (!diag.succeeded())
    return diag;
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (!integer || integer.getValue().getSignificantBits() > 64)
    return op.emitDefiniteFailure()
           << "expected a 64-bit integer for '" << name << "', got " << attr;
  value = integer.getValue().getSExtValue();
  if (value < minimum)
    return op.emitDefiniteFailure() << name << " = " << value << ": expected at least " << minimum;
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure readString(TransformOpInterface op, TransformState &state, Value param,
                                       StringRef name, StringRef &value) {
  Attribute attr;
  DiagnosedSilenceableFailure diag = readOne(op, state, param, name, attr);
  if (!diag.succeeded())
    return diag;
  auto string = dyn_cast<StringAttr>(attr);
  if (!string)
    return op.emitDefiniteFailure() << "expected a string for '" << name << "', got " << attr;
  value = string.getValue();
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure readPrecision(TransformOpInterface op, TransformState &state,
                                          Value param, bool &isTf32) {
  StringRef precision;
  if (auto diag = readString(op, state, param, "precision", precision); !diag.succeeded())
    return diag;
  if (precision != "exact" && precision != "tf32")
    return op.emitDefiniteFailure() << "precision = " << precision << ": expected exact or tf32";
  isTf32 = precision == "tf32";
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure readF32Units(TransformOpInterface op, TransformState &state,
                                         Value units, Value chip, const Target *&target) {
  StringRef which, name;
  if (auto diag = readString(op, state, units, "units", which); !diag.succeeded())
    return diag;
  if (auto diag = readString(op, state, chip, "chip", name); !diag.succeeded())
    return diag;
  if (which != "matrix" && which != "vector")
    return op.emitDefiniteFailure() << "units = " << which << ": expected matrix or vector";
  target = which == "matrix" ? findTilingTarget(name) : nullptr;
  if (target && !target->multipliesF32)
    target = nullptr;
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure wrongTarget(TransformOpInterface op, Operation *target,
                                        StringRef expected) {
  DiagnosedDefiniteFailure diag = op.emitDefiniteFailure()
                                  << "expected " << expected << ", got " << target->getName();
  diag.attachNote(target->getLoc()) << "target op";
  return diag;
}

} // namespace xetile

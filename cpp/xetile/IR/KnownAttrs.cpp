//===- KnownAttrs.cpp - operations without attributes that nobody reads ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/KnownAttrs.h"

using namespace mlir;

namespace xetile {

/// The replacement for an attribute that earlier versions of the dialect had, or that belongs
/// elsewhere.
static StringRef getReplacement(StringRef op, StringRef name) {
  if (op == "xetile.load_tile" && name == "transpose")
    return "give the tile order = [0, 1] to view a matrix transposed in memory, or transpose the "
           "vector with xetile.tile_transpose";
  if (op == "xetile.store_tile" && name == "padding")
    return "a store drops what is out of bounds; load_tile takes the padding";
  bool takesTile = llvm::is_contained<StringRef>(
      {"xetile.init_tile", "xetile.update_tile_offset", "xetile.load_tile", "xetile.store_tile",
       "xetile.prefetch_tile", "xetile.atomic_rmw_tile", "xetile.load_gather",
       "xetile.store_scatter", "xetile.atomic_rmw_scatter"},
      op);
  if (!takesTile)
    return {};
  if (name == "wg_map" || name == "order" || name == "inner_blocks" || name == "memory_space" ||
      name == "scatter")
    return "it belongs to the type of the tile, as in !xetile.tile<64x32xf16, #xetile.tile_attr<"
           "order = [0, 1]>>";
  return {};
}

LogicalResult refuseAttr(StringRef op, ArrayRef<StringRef> known, StringRef name,
                         function_ref<InFlightDiagnostic()> emitError) {
  InFlightDiagnostic error = emitError();
  error << "has no attribute '" << name << "'; expected ";
  SmallVector<StringRef> written;
  for (StringRef attr : known)
    if (attr != "operandSegmentSizes")
      written.push_back(attr);
  if (!written.empty()) {
    llvm::interleaveComma(written, error);
    error << ", or ";
  }
  error << "a name with a dialect's prefix, as in 'my.note'";
  if (StringRef replacement = getReplacement(op, name); !replacement.empty())
    error << ": " << replacement;
  return error;
}

LogicalResult verifyKnownAttrs(Operation *op) {
  SmallVector<StringRef> known;
  for (StringAttr attr : op->getName().getAttributeNames())
    known.push_back(attr);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!attr.getName().getValue().contains('.'))
      return refuseAttr(op->getName().getStringRef(), known, attr.getName(),
                        [&] { return op->emitOpError(); });
  return success();
}

} // namespace xetile

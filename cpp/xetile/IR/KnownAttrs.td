// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_KNOWNATTRS_TD
#define XETILE_IR_KNOWNATTRS_TD

include "mlir/IR/OpBase.td"

/// Refuses attributes that the operation does not define and that have no dialect's prefix. KnownAttrs.h says why.
def XeTile_KnownAttrs : NativeOpTrait<"KnownAttrs"> {
  let cppNamespace = "::xetile";
}

#endif // XETILE_IR_KNOWNATTRS_TD

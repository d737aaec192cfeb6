// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TRANSFORMOPBASE_TD
#define XETILE_SCHEDULE_TRANSFORMOPBASE_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "xetile/IR/KnownAttrs.td"

/// A step of a schedule. Steps here do what no upstream transform op does; each one is documented as a rewrite.
class XeTile_TransformOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "xetile." # mnemonic,
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, XeTile_KnownAttrs] # traits> {
  let cppNamespace = "::xetile::transform_ops";
}

#endif // XETILE_SCHEDULE_TRANSFORMOPBASE_TD

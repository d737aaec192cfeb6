// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD
#define XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "xetile/IR/KnownAttrs.td"
include "xetile/IR/MatmulFields.td"

def DeepTileMatmulOp : Op<Transform_Dialect, "xetile.deep_tile_matmul",
    [DeclareOpInterfaceMethods<TransformOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     AttrSizedOperandSegments, XeTile_KnownAttrs]> {
  let summary = "Cuts matmuls on tensors in nine loops around batch-reduce matmuls";
  let description = !strconcat([{
    What the pass `deep-tile-matmul` does, for the targets alone. `config` is a parameter with a
    `#xetile.matmul_config` or a string of JSON; its fields win over those of the target's own attribute. `threads` is
    the number of threads to use (by default the machine's cores). Elementwise ops before and after a target become
    part of its loops unless `fuse` is false; their handles are of no use any more.

    `set` gives values that a schedule has as parameters: fields of the configuration and `threads`, integers of which 0
    (for `loopOrder`, which may be a name like "nkm", too, -1) leaves the choice open, and `pack`, a string. They win
    over all others. The fields:

}], matmulFieldRows, [{

    ```mlir
    %config = transform.param.constant #xetile.matmul_config<MThreads = 2, loopOrder = 3> -> !transform.any_param
    transform.xetile.deep_tile_matmul %matmul config = %config {pack = "always"}
        : !transform.any_op, !transform.any_param
    transform.xetile.deep_tile_matmul %other set ["MBlock", "NBlock"] = (%m, %n : !transform.param<i64>, !transform.param<i64>)
        : !transform.any_op
    ```

    Definite failures:
    - deep_tile_c1: a target is no contraction on tensors.
    - deep_tile_c2: the configuration is not legal for it.
    - deep_tile_c3: `set` has an unknown name, or a value of another kind.
  }]);
  let arguments = (ins TransformHandleTypeInterface:$target,
      Optional<TransformParamTypeInterface>:$config,
      DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$fields,
      Variadic<TransformParamTypeInterface>:$values,
      DefaultValuedAttr<I64Attr, "0">:$threads,
      DefaultValuedStrAttr<StrAttr, "auto">:$pack,
      DefaultValuedAttr<BoolAttr, "true">:$fuse);
  let assemblyFormat =
    "$target (`config` `=` $config^)? (`set` $fields^ `=` `(` $values `:` type($values) `)`)? attr-dict `:` type($target) (`,` type($config)^)?";
  let hasVerifier = 1;
  let cppNamespace = "::xetile::transform_ops";
}

#endif // XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD

#ifndef XETILE_DEEPTILE_DEEPTILETRANSFORMOPS_TD
#define XETILE_DEEPTILE_DEEPTILETRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def DeepTileMatmulOp : Op<Transform_Dialect, "xetile.deep_tile_matmul",
    [DeclareOpInterfaceMethods<TransformOpInterface>, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Cuts matmuls on tensors in nine loops around batch-reduce matmuls";
  let description = [{
    What the pass `deep-tile-matmul` does, for the targets alone. `config` is a parameter with a
    `#xetile.matmul_config` or a string of JSON; its fields win over those of the target's own attribute. `threads` is
    the number of threads to use (by default the machine's cores).

    ```mlir
    %config = transform.param.constant #xetile.matmul_config<MThreads = 2, loopOrder = 3> -> !transform.any_param
    transform.xetile.deep_tile_matmul %matmul config = %config {pack = "always"}
        : !transform.any_op, !transform.any_param
    ```

    Definite failures:
    - deep_tile_c1: a target is no contraction on tensors.
    - deep_tile_c2: the configuration is not legal for it.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
      Optional<TransformParamTypeInterface>:$config,
      DefaultValuedAttr<I64Attr, "0">:$threads,
      DefaultValuedStrAttr<StrAttr, "auto">:$pack,
      DefaultValuedAttr<BoolAttr, "true">:$fuse);
  let assemblyFormat =
    "$target (`config` `=` $config^)? attr-dict `:` type($target) (`,` type($config)^)?";
  let cppNamespace = "::xetile::transform_ops";
}

#endif // XETILE_DEEPTILE_DEEPTILETRANSFORMOPS_TD

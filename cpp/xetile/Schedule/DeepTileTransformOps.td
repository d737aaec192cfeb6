// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD
#define XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
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

/// Whether a step takes an op, for sequences that transform.foreach_match asks.
class XeTile_MatchOp<string mnemonic> : Op<Transform_Dialect, "xetile." # mnemonic,
    [SingleOpMatcher, MatchOpInterface, MemoryEffectsOpInterface, XeTile_KnownAttrs]> {
  let arguments = (ins TransformHandleTypeInterface:$operand_handle);
  let assemblyFormat = "$operand_handle attr-dict `:` type($operand_handle)";
  let extraClassDeclaration = SingleOpMatcher.extraDeclaration;
  let cppNamespace = "::xetile::transform_ops";
}

def MatchMatmulOp : XeTile_MatchOp<"match_matmul"> {
  let summary = "Succeeds for what deep_tile_matmul takes";
  let description = [{
    Contractions on tensors: matmuls of any form, `linalg.contract`, and `linalg.generic` that computes the same. A
    silenceable failure says what was expected.

    ```mlir
    transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.xetile.match_matmul %op : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    ```
  }];
}

def MatchConvolutionOp : XeTile_MatchOp<"match_convolution"> {
  let summary = "Succeeds for what xetile-convolutions-to-matmuls takes";
  let description = [{
    Convolutions on tensors that add up over channels, of any dimensions, strides, dilations and groups. Depthwise ones and
    poolings are none: a silenceable failure.

    ```mlir
    transform.xetile.match_convolution %op : !transform.any_op
    ```
  }];
}

#endif // XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_TD

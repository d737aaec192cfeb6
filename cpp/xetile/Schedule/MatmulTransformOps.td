// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that find a matmul, or what becomes one, and choose its tiles.
#ifndef XETILE_SCHEDULE_MATMULTRANSFORMOPS_TD
#define XETILE_SCHEDULE_MATMULTRANSFORMOPS_TD

include "xetile/Schedule/TransformOpBase.td"

def GetMatmulOp : XeTile_TransformOp<"get_matmul"> {
  let summary = "Finds the one matmul that a schedule works on";
  let description = [{
    Returns the only matmul nested in `target`, and in `init` the `linalg.fill` that gives its accumulator
    (no operation at all if the accumulator comes from elsewhere, as from a function's argument). The payload does not
    change; what the schedule cannot handle is refused here, where the user's own operation can still be pointed at.

    A matmul is a `linalg.matmul`, `linalg.batch_matmul` or `linalg.contract`, or a `linalg.generic` that computes the
    same: `C[.., m, n] += A[.., m, k] * B[.., k, n]`, each with its dimensions in any order (transposed operands), with
    any number of batches, which an operand may lack. Sizes may be known at run time only.

    ```mlir
    %matmul, %init = transform.xetile.get_matmul in %module
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```

    in

    ```mlir
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>            // %init
    %D = linalg.matmul ins(%A, %B : tensor<64x32xf16>, tensor<32x64xf16>)
                       outs(%zeros : tensor<64x64xf32>) -> tensor<64x64xf32>                               // %matmul
    ```

    Definite failures:
    - get_matmul_c1: `target` holds no matmul, or several; notes list these, and other ops that are no part of its kernel.
    - get_matmul_c2: its operands are tensors, not memrefs.
    - get_matmul_c3: none of their sizes is known to be zero.
    - get_matmul_c4: its element types are those of `xetile.tile_mma`: f16 into f32 or f16, bf16 into f32 or bf16, f32
      into f32 (multiplied as tf32), i8 into i32, of which each input is signed or unsigned by its cast.
    - get_matmul_c5: one dimension each of m, n and k; other dimensions are batches, and not the last of an operand.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$matmul, TransformHandleTypeInterface:$init);
  let assemblyFormat = "`in` $target attr-dict `:` functional-type(operands, results)";
}

def NormalizeMatmulOp : XeTile_TransformOp<"normalize_matmul"> {
  let summary = "Brings the loops of a matmul into the order m, n, k, batches";
  let description = [{
    So that a schedule can name loops by their numbers, whichever form the matmul was written in. Operands stay as they
    are: transposed ones are read so. A matmul whose loops are in that order is not changed.

    ```mlir
    %normal = transform.xetile.normalize_matmul %matmul : (!transform.any_op) -> !transform.any_op
    ```

    makes of `linalg.batch_matmul ins(%A, %B) outs(%C)`, whose loops are b, m, n, k,

    ```mlir
    linalg.generic {indexing_maps = [affine_map<(m, n, k, b) -> (b, m, k)>, affine_map<(m, n, k, b) -> (b, k, n)>,
                                     affine_map<(m, n, k, b) -> (b, m, n)>],
                    iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%A, %B) outs(%C)
    ```

    Definite failures:
    - normalize_matmul_c1: the target is a matmul that `get_matmul` takes.
  }];
  let arguments = (ins TransformHandleTypeInterface:$matmul);
  let results = (outs TransformHandleTypeInterface:$normal);
  let assemblyFormat = "$matmul attr-dict `:` functional-type(operands, results)";
}

def ChooseMatmulTilingOp : XeTile_TransformOp<"choose_matmul_tiling",
    [AllTypesMatch<["workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n", "k_step", "prefetch", "chosen_m",
                    "chosen_n", "chosen_subgroups_m", "chosen_subgroups_n", "chosen_k_step", "chosen_prefetch",
                    "tile_sizes"]>,
     AllTypesMatch<["precision", "target"]>]> {
  let summary = "Chooses the tile sizes that a schedule leaves open";
  let description = [{
    A size of 0 (a prefetch distance of -1) is chosen from the sizes and types of the matmul and from the device, by the
    function `chooseMatmulTiling` (`cpp/xetile/Target/MatmulTiling.h`); others stay as they are. What then applies is the
    result, and is written down at the function around the matmul:

    ```mlir
    func.func @matmul(...) attributes {xetile.tiling = {k_step = 32 : i64, prefetch = 3 : i64,
        subgroups = array<i64: 8, 4>, workgroup = array<i64: 256, 256>}}
    ```

    ```mlir
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    ```

    `%tile` has one size for each loop of the matmul, as `tile_using_forall` takes them: the workgroup's tile, 0 for k,
    1 for each batch.

    `precision` says how f32 is multiplied: "tf32" allows the matrix unit's 10 bits of mantissa, "exact" does not: only
    targets take that whose matrix unit multiplies parts of f32 (sm_90a).

    Definite failures:
    - choose_tiling_c1: sizes are not negative (`prefetch`: -1 or more).
    - choose_tiling_c2: the target is a chip of the device tables.
    - choose_tiling_c3: the matmul is one that `normalize_matmul` gives.
    - choose_tiling_c4: `precision` is "exact" or "tf32", and "tf32" for f32 on chips that do not multiply it exactly.
  }];
  let arguments = (ins TransformHandleTypeInterface:$matmul,
      TransformParamTypeInterface:$workgroup_m, TransformParamTypeInterface:$workgroup_n,
      TransformParamTypeInterface:$subgroups_m, TransformParamTypeInterface:$subgroups_n,
      TransformParamTypeInterface:$k_step, TransformParamTypeInterface:$prefetch,
      TransformParamTypeInterface:$precision, TransformParamTypeInterface:$target);
  let results = (outs TransformParamTypeInterface:$chosen_m, TransformParamTypeInterface:$chosen_n,
      TransformParamTypeInterface:$chosen_subgroups_m, TransformParamTypeInterface:$chosen_subgroups_n,
      TransformParamTypeInterface:$chosen_k_step, TransformParamTypeInterface:$chosen_prefetch,
      TransformParamTypeInterface:$tile_sizes);
  let assemblyFormat = [{
    $matmul `workgroup_tile` `=` `[` $workgroup_m `,` $workgroup_n `]`
    `subgroup_layout` `=` `[` $subgroups_m `,` $subgroups_n `]`
    `k_step` `=` $k_step `prefetch` `=` $prefetch `precision` `=` $precision `target` `=` $target
    attr-dict `:` type($matmul) `,` type($workgroup_m) `,` type($target)
  }];
}

def SetPrecisionOp : XeTile_TransformOp<"set_precision"> {
  let summary = "Allows products of f32 to be rounded to tf32, or not";
  let description = [{
    With "tf32" each `xetile.tile_mma` of f32 in `target` gets `xetile.tf32`: its operands may be rounded to 10 bits of
    mantissa. With "exact" nothing changes, and f32 is multiplied as it is. Other types are left alone.

    ```mlir
    transform.xetile.set_precision %mma precision = %precision : !transform.any_op, !transform.any_param
    ```

    makes of

    ```mlir
    %d = xetile.tile_mma %a, %b, %c : vector<128x32xf32>, vector<32x128xf32>, vector<128x128xf32> -> vector<128x128xf32>
    ```

    with `precision = "tf32"`

    ```mlir
    %d = xetile.tile_mma %a, %b, %c {xetile.tf32} : vector<128x32xf32>, ...
    ```

    Definite failures:
    - set_precision_c1: `precision` is "exact" or "tf32".
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$precision);
  let assemblyFormat = "$target `precision` `=` $precision attr-dict `:` type($target) `,` type($precision)";
}

def CheckMatmulTilingOp : XeTile_TransformOp<"check_matmul_tiling",
    [AllTypesMatch<["workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n", "k_step", "prefetch"]>]> {
  let summary = "Refuses tile sizes that the device does not take";
  let description = [{
    Changes nothing. Run it before tiling: every later step may then rely on what it checks. Tiles need not divide the
    problem: they may hang over its edges.

    ```mlir
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    ```

    Definite failures, which name the parameter, its value and the legal ones:
    - check_tiling_c1: every parameter is positive (`prefetch`: 0 to 64).
    - check_tiling_c2: the target is a chip of the device tables.
    - check_tiling_c3: `subgroups_m` and `subgroups_n` divide `workgroup_m` and `workgroup_n`.
    - check_tiling_c4: a subgroup's tile and `k_step` are multiples of the device's DPAS shape (8 x 16 x 16 for f16).
    - check_tiling_c5: the device runs that many subgroups in one workgroup (half as many in large-register mode).
    - check_tiling_c6: a subgroup's accumulators and operands for one DPAS along k fit its registers, in large-register mode
      if need be (the lowering loads larger steps of k in slices).
    - check_tiling_c7: the matmul is one that `get_matmul` takes.
    - check_tiling_c8: `slm_buffers`, where it is given, is 0 or 2 to 8, subgroups share the blocks of a step's tiles evenly,
      and `slm_buffers * k_step * (workgroup_m * bytes of A + workgroup_n * bytes of B)` bytes fit shared local memory.
  }];
  let arguments = (ins TransformHandleTypeInterface:$matmul,
      TransformParamTypeInterface:$workgroup_m, TransformParamTypeInterface:$workgroup_n,
      TransformParamTypeInterface:$subgroups_m, TransformParamTypeInterface:$subgroups_n,
      TransformParamTypeInterface:$k_step, TransformParamTypeInterface:$prefetch,
      TransformParamTypeInterface:$target, Optional<TransformParamTypeInterface>:$slm_buffers);
  let assemblyFormat = [{
    $matmul `workgroup_tile` `=` `[` $workgroup_m `,` $workgroup_n `]`
    `subgroup_layout` `=` `[` $subgroups_m `,` $subgroups_n `]`
    `k_step` `=` $k_step `prefetch` `=` $prefetch `target` `=` $target (`slm_buffers` `=` $slm_buffers^)?
    attr-dict `:` type($matmul) `,` type($workgroup_m) `,` type($target) (`,` type($slm_buffers)^)?
  }];
}

def SplitKOp : XeTile_TransformOp<"split_k",
    [AllTypesMatch<["parts", "workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n", "k_step"]>]> {
  let summary = "Splits long sums of matmuls with few tiles among workgroups";
  let description = [{
    Each matmul in `module` becomes `parts` products of parts of k, which workgroups of their own compute, and their sum:

    ```mlir
    %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>)
    ```

    becomes, with 4 parts,

    ```mlir
    %As = tensor.expand_shape %A [[0], [1, 2]] : tensor<64x8192xf16> into tensor<64x4x2048xf16>
    %Bs = tensor.expand_shape %B [[0, 1], [2]] : tensor<8192x96xf16> into tensor<4x2048x96xf16>
    %P = linalg.generic {xetile.kernel = 0, xetile.schedule = "matmul"} ins(%As, %Bs) outs(%zeros)
                                               // P[s, m, n] = sum_k As[m, s, k] Bs[s, k, n]
    %D = linalg.generic ins(%P) outs(%C)       // D[m, n] = C[m, n] + sum_s P[s, m, n], in this order
    ```

    The products are a kernel with a number, so that nothing joins it; what followed on the matmul follows on the sum.
    Results are the same in every run. Where parts do not divide k, operands are filled up with zeros (`tensor.pad`): tiles
    of `hang_over_edges` read these from the operand itself, beyond its end.

    A part is ceil(k / parts) elements, as a multiple of `k_step` and of a cache line. With 0 parts a matmul is split where
    its tiles, of the sizes that are given or of those that `choose_matmul_tiling` chooses, leave half of the device's
    workgroups idle or more, into as many parts as there are places (`chooseParts` in `cpp/xetile/Target/MatmulTiling.h`
    tells the rule); 1 splits nothing. The `precision` of products of f32, exact or tf32, counts where the target multiplies
    both on its matrix unit: what takes longer is split sooner. Matmuls that have a kernel's number, and such that `get_matmul` refuses stay.

    ```mlir
    transform.xetile.split_k %module parts = %parts
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    ```

    Definite failures, of 2 parts or more at the matmul:
    - split_k_c1: parameters are 0 to 1048576, the target is a chip of the device tables, `precision` is exact or tf32. Other targets that matmuls are
      tiled for have 0 or 1 parts, and stay.
    - split_k_c2: sizes are known when compiled.
    - split_k_c3: sums are of f32 or i32.
    - split_k_c4: operands are in memory, not computed element by element on the way.
    - split_k_c5: k is that many parts: ceil(k / (ceil(k / parts) as a multiple of k_step and a cache line)) is `parts`.
  }];
  let arguments = (ins TransformHandleTypeInterface:$module, TransformParamTypeInterface:$parts,
      TransformParamTypeInterface:$workgroup_m, TransformParamTypeInterface:$workgroup_n,
      TransformParamTypeInterface:$subgroups_m, TransformParamTypeInterface:$subgroups_n,
      TransformParamTypeInterface:$k_step, TransformParamTypeInterface:$target,
      Optional<TransformParamTypeInterface>:$precision);
  let assemblyFormat = [{
    $module `parts` `=` $parts `workgroup_tile` `=` `[` $workgroup_m `,` $workgroup_n `]`
    `subgroup_layout` `=` `[` $subgroups_m `,` $subgroups_n `]` `k_step` `=` $k_step `target` `=` $target
    (`precision` `=` $precision^)? attr-dict `:` type($module) `,` type($parts) `,` type($target)
    (`,` type($precision)^)?
  }];
}

/// True if a step takes an op, for sequences that transform.foreach_match asks.
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

def MatchProductOp : XeTile_MatchOp<"match_product"> {
  let summary = "Succeeds for what a matrix unit multiplies exactly";
  let description = [{
    Contractions on tensors whose factors are of f16, bf16 or bytes, or were extended from f16 or bf16, in tiles that block
    loads take. Products of f32 and of wider types are sums on vector units, those with a number no products of matrices,
    and factors with steps between the elements of a row no tiles: silenceable failures.

    ```mlir
    transform.xetile.match_product %op : !transform.any_op
    ```
  }];
}

def MatchScanOp : XeTile_MatchOp<"match_scan"> {
  let summary = "Succeeds for ops that combine each element with those before";
  let description = [{
    A `linalg.generic` with one loop that is no parallel one, over which its first result runs, too, and whose second result
    nobody uses, as `xetile-block-scans` leaves them. Others are a silenceable failure.

    ```mlir
    transform.xetile.match_scan %op : !transform.any_op
    ```
  }];
}

def MatchScatterOp : XeTile_MatchOp<"match_scatter"> {
  let summary = "Succeeds for ops that update rows by their numbers";
  let description = [{
    A `linalg.generic` on tensors with one result, `all[d, w] = combine(all[d, w], select(row(n) == d, update(n, w), neutral))` or
    `select(row(n) == d, update(n, w), all[d, w])`: sums of rows by their numbers, gradients of embeddings. Others are a
    silenceable failure.

    ```mlir
    transform.xetile.match_scatter %op : !transform.any_op
    ```
  }];
}

def MatchGatherOp : XeTile_MatchOp<"match_gather"> {
  let summary = "Succeeds for ops that read elements at indices that they compute";
  let description = [{
    Linalg ops on tensors all of whose loops are parallel ones and whose bodies have a `tensor.extract`: embeddings,
    selections along a dimension. Others are a silenceable failure.

    ```mlir
    transform.xetile.match_gather %op : !transform.any_op
    ```
  }];
}

#endif // XETILE_SCHEDULE_MATMULTRANSFORMOPS_TD

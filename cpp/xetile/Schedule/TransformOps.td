// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TRANSFORMOPS_TD
#define XETILE_SCHEDULE_TRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
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

def GetMatmulOp : XeTile_TransformOp<"get_matmul"> {
  let summary = "Finds the one linalg.matmul that a schedule works on";
  let description = [{
    Returns the only `linalg.matmul` nested in `target`, and in `init` the `linalg.fill` that gives its accumulator
    (no operation at all if the accumulator comes from elsewhere, as from a function's argument). The payload does not
    change; what the schedule cannot handle is refused here, where the user's own operation can still be pointed at.

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
    - get_matmul_c1: `target` holds no `linalg.matmul`, or several.
    - get_matmul_c2: its operands are tensors, not memrefs.
    - get_matmul_c3: all of their sizes are static and not zero.
    - get_matmul_c4: A and B are both f16 or both bf16, and the result is f32.
    - get_matmul_c5: A is m x k, B is k x n: neither transposed nor broadcast by `indexing_maps`.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$matmul, TransformHandleTypeInterface:$init);
  let assemblyFormat = "`in` $target attr-dict `:` functional-type(operands, results)";
}

def CheckMatmulTilingOp : XeTile_TransformOp<"check_matmul_tiling",
    [AllTypesMatch<["workgroup_m", "workgroup_n", "subgroups_m", "subgroups_n", "k_step", "prefetch"]>]> {
  let summary = "Refuses tile sizes that do not divide the problem or that the device does not take";
  let description = [{
    Changes nothing. Run it before tiling: every later step may then rely on whole tiles.

    ```mlir
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    ```

    Definite failures, which name the parameter, its value and the legal ones:
    - check_tiling_c1: every parameter is positive (`prefetch`: 0 to 64).
    - check_tiling_c2: the target is a chip of the device tables.
    - check_tiling_c3: `workgroup_m`, `workgroup_n` and `k_step` divide m, n and k of the matmul.
    - check_tiling_c4: `subgroups_m` and `subgroups_n` divide `workgroup_m` and `workgroup_n`.
    - check_tiling_c5: a subgroup's tile and `k_step` are multiples of the device's DPAS shape (8 x 16 x 16 for f16).
    - check_tiling_c6: the device runs that many subgroups in one workgroup (half as many in large-register mode).
    - check_tiling_c7: a subgroup's accumulators and operands for one DPAS along k fit its registers, in large-register mode
      if need be (the lowering loads larger steps of k in slices).
    - check_tiling_c8: rows of A, B and C are surfaces that 2D block messages take (64 bytes or more, ...).
    - check_tiling_c9: the matmul is one that `get_matmul` takes.
  }];
  let arguments = (ins TransformHandleTypeInterface:$matmul,
      TransformParamTypeInterface:$workgroup_m, TransformParamTypeInterface:$workgroup_n,
      TransformParamTypeInterface:$subgroups_m, TransformParamTypeInterface:$subgroups_n,
      TransformParamTypeInterface:$k_step, TransformParamTypeInterface:$prefetch,
      TransformParamTypeInterface:$target);
  let assemblyFormat = [{
    $matmul `workgroup_tile` `=` `[` $workgroup_m `,` $workgroup_n `]`
    `subgroup_layout` `=` `[` $subgroups_m `,` $subgroups_n `]`
    `k_step` `=` $k_step `prefetch` `=` $prefetch `target` `=` $target
    attr-dict `:` type($matmul) `,` type($workgroup_m) `,` type($target)
  }];
}

def PreserveArgumentsOp : XeTile_TransformOp<"preserve_arguments"> {
  let summary = "Keeps functions from writing to their arguments once tensors become buffers";
  let description = [{
    Marks the tensor arguments of all functions in `target` as not writable, unless they already say whether they are.
    Bufferisation then allocates a result where it would have overwritten an argument. An argument that slices are
    inserted into is copied here, as a whole: bufferization would copy the slice, too. The pass
    `xetile-preserve-arguments` does the same.

    ```mlir
    func.func @f(%A: tensor<4x4xf16>, %C: tensor<4x4xf32> {bufferization.writable = true}) -> tensor<4x4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%A: tensor<4x4xf16> {bufferization.writable = false},
                 %C: tensor<4x4xf32> {bufferization.writable = true}) -> tensor<4x4xf32>
    ```

    Function declarations stay as they are.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "`in` $target attr-dict `:` type($target)";
}

def SetLaunchSubgroupsOp : XeTile_TransformOp<"set_launch_subgroups",
    [AllTypesMatch<["subgroups_m", "subgroups_n"]>]> {
  let summary = "Gives every workgroup of a gpu.launch its subgroups";
  let description = [{
    Sets the block size to `subgroups_m * subgroups_n * subgroup_size` work items along x: lanes of a subgroup are
    adjacent there, as are the subgroups of a row of the layout.

    ```mlir
    transform.xetile.set_launch_subgroups %launch sg_layout = [%subgroups_m, %subgroups_n]
        : !transform.any_op, !transform.param<i64>
    ```

    With a layout of 8 x 4

    ```mlir
    gpu.launch blocks(...) in (...) threads(%x, %y, %z) in (%sx = %c1, %sy = %c1, %sz = %c1) { ... }
    ```

    becomes

    ```mlir
    gpu.launch blocks(...) in (...) threads(%x, %y, %z) in (%sx = %c512, %sy = %c1, %sz = %c1) { ... }
    ```

    Definite failures:
    - set_launch_subgroups_c1: the target is a `gpu.launch`.
    - set_launch_subgroups_c2: the layout is positive.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$subgroups_m,
      TransformParamTypeInterface:$subgroups_n,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "16">:$subgroup_size);
  let assemblyFormat = [{
    $target `sg_layout` `=` `[` $subgroups_m `,` $subgroups_n `]` attr-dict `:` type($target) `,` type($subgroups_m)
  }];
}

def SetWgMapOp : XeTile_TransformOp<"set_wg_map", [AllTypesMatch<["subgroups_m", "subgroups_n"]>]> {
  let summary = "Divides the result of a tile_mma evenly over the subgroups";
  let description = [{
    Sets `wg_map`: the subgroups form a grid of `sg_layout`, and each owns one part of the result. The maps of the
    operands, of their tiles and of the stored tile follow from it (`xetile-infer-wg-map`).

    ```mlir
    transform.xetile.set_wg_map %mma sg_layout = [%subgroups_m, %subgroups_n]
        : !transform.any_op, !transform.param<i64>
    ```

    With a layout of 8 x 4

    ```mlir
    %d = xetile.tile_mma %a, %b, %c : ... -> vector<256x256xf32>
    ```

    becomes

    ```mlir
    %d = xetile.tile_mma %a, %b, %c {wg_map = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>}
        : ... -> vector<256x256xf32>
    ```

    Definite failures:
    - set_wg_map_c1: the target is an `xetile.tile_mma`.
    - set_wg_map_c2: the layout is positive and divides the result's shape.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$subgroups_m,
      TransformParamTypeInterface:$subgroups_n);
  let assemblyFormat = [{
    $target `sg_layout` `=` `[` $subgroups_m `,` $subgroups_n `]` attr-dict `:` type($target) `,` type($subgroups_m)
  }];
}

def InsertPrefetchOp : XeTile_TransformOp<"insert_prefetch"> {
  let summary = "Makes all subgroups of a workgroup prefetch a tile some loop steps ahead of its load";
  let description = [{
    For a workgroup's load in an `scf.for`, inserts a prefetch of what the load will read `distance` steps later, and
    before the loop prefetches for the first `distance` steps (fewer if the loop is known to be shorter). The last
    steps prefetch past the edge of the loop; prefetches never fault and never change a value. Without an enclosing
    `scf.for`, or with a distance of 0, nothing happens.

    The work is shared: every element is prefetched by one subgroup, in blocks of whole rows of at most 64 bytes (a
    cache line), whatever the load's own map is. Should there be more subgroups than rows, they wrap around.

    ```mlir
    %prefetches = transform.xetile.insert_prefetch %load distance = %prefetch
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    ```

    With a distance of 3 and `#a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>`

    ```mlir
    scf.for %k = %c0 to %c1024 step %c32 {
      %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = #a>>
      %a = xetile.load_tile %t : ...
    }
    ```

    becomes, with `#p = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 32]>`

    ```mlir
    %p0 = xetile.init_tile %A[%m, %c0] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = #p>>
    xetile.prefetch_tile %p0 locality<3> : ...
    ...                                                                    // %c32 and %c64 likewise
    scf.for %k = %c0 to %c1024 step %c32 {
      %ahead = arith.addi %k, %c96 : index
      %p = xetile.init_tile %A[%m, %ahead] : ...
      xetile.prefetch_tile %p locality<3> : ...
      %t = xetile.init_tile %A[%m, %k] : ...
      %a = xetile.load_tile %t : ...
    }
    ```

    `prefetches` are the prefetch_tile ops inside of the loops.

    Definite failures:
    - insert_prefetch_c1: the target is an `xetile.load_tile`.
    - insert_prefetch_c2: the distance is 0 to 64.
    - insert_prefetch_c3: the tile comes from an `xetile.init_tile` whose offsets are pure functions of the loop's
      induction variable and of values from outside of the loop.
    - insert_prefetch_c4: the tile has a wg_map (run `xetile-infer-wg-map` first).
    - insert_prefetch_c5: its blocks can be shared evenly by the subgroups.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$distance);
  let results = (outs TransformHandleTypeInterface:$prefetches);
  let assemblyFormat = "$target `distance` `=` $distance attr-dict `:` functional-type(operands, results)";
}

#endif // XETILE_SCHEDULE_TRANSFORMOPS_TD

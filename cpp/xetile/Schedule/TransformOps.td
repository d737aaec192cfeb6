// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TRANSFORMOPS_TD
#define XETILE_SCHEDULE_TRANSFORMOPS_TD

include "xetile/Schedule/LoopTransformOps.td"
include "xetile/Schedule/MatmulTransformOps.td"
include "xetile/Schedule/OnlineTransformOps.td"
include "xetile/Schedule/ProgramTransformOps.td"

def FuseConsumersOp : XeTile_TransformOp<"fuse_consumers"> {
  let summary = "Computes what follows on a tiled loop's results in the loop";
  let description = [{
    Elementwise linalg ops on the results of an `scf.forall`, and those on theirs, are computed tile by tile in the
    loop, which then has their results, too. An op is left where it is if one of its loops does not go over the result
    (the result is repeated, or summed up), if it uses `linalg.index`, or if an operand of it comes later than the loop's
    results are wanted.

    ```mlir
    %fused = transform.xetile.fuse_consumers %workgroups : (!transform.any_op) -> !transform.any_op
    ```

    With `@relu` for an elementwise op

    ```mlir
    %D = scf.forall (%m, %n) ... shared_outs(%d = %C) { ...; in_parallel { parallel_insert_slice %t into %d[%m, %n] } }
    %E = relu(%D)
    ```

    becomes

    ```mlir
    %D, %E = scf.forall (%m, %n) ... shared_outs(%d = %C, %e = %empty) {
      ...
      %r = relu(%t)
      in_parallel { parallel_insert_slice %t into %d[%m, %n]; parallel_insert_slice %r into %e[%m, %n] }
    }
    ```

    Definite failures:
    - fuse_consumers_c1: the target is an `scf.forall`.
  }];
  let arguments = (ins TransformHandleTypeInterface:$workgroups);
  let results = (outs TransformHandleTypeInterface:$fused);
  let assemblyFormat = "$workgroups attr-dict `:` functional-type(operands, results)";
}

def HangOverEdgesOp : XeTile_TransformOp<"hang_over_edges",
    [AllTypesMatch<["tile_m", "tile_n", "tile_k"]>]> {
  let summary = "Vectorizes a workgroup's share on whole tiles, which hang over the edges of the matrices";
  let description = [{
    The body of an `scf.forall` over tiles of a matmul becomes code on vectors of `tile = [m, n, k]`, at the edges of the
    matrices, too: what is read there out of bounds is zero, what is written there is dropped. Nothing is padded or
    copied, and no loop is peeled. The accumulator is carried by the loop along k as a vector.

    What an operand is computed from becomes part of it: fills and elementwise ops before the matmul are computed where
    their elements are read. Those that do not make zeros of zeros are masked in the last step of k. Operands that are
    transposed, repeated or slices of batches are transfers with a permutation map.

    ```mlir
    transform.xetile.hang_over_edges %workgroups tile = [%workgroup_m, %workgroup_n, %k_step]
        : !transform.any_op, !transform.param<i64>
    ```

    With tiles of 32 x 64 and steps of 16 on 100 x 100 matrices

    ```mlir
    scf.forall (%m, %n) = (0, 0) to (100, 100) step (32, 64) shared_outs(%d = %C) -> (tensor<100x100xf32>) {
      %sm = affine.min affine_map<(m) -> (32, -m + 100)>(%m) ...
      %c = tensor.extract_slice %d[%m, %n] [%sm, %sn] [1, 1]
      %sum = scf.for %k = 0 to 100 step 16 iter_args(%acc = %c) -> (tensor<?x?xf32>) {
        linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%acc : tensor<?x?xf32>) ...
    ```

    becomes

    ```mlir
      %c = vector.transfer_read %d[%m, %n], %zero : tensor<100x100xf32>, vector<32x64xf32>
      %sum = scf.for %k = 0 to 100 step 16 iter_args(%acc = %c) -> (vector<32x64xf32>) {
        %a = vector.transfer_read %A[%m, %k], %z : tensor<100x100xf16>, vector<32x16xf16>
        %b = vector.transfer_read %B[%k, %n], %z : tensor<100x100xf16>, vector<16x64xf16>
        %s = vector.contract ... %a, %b, %acc
        scf.yield %s
      }
      %w = vector.transfer_write %sum, %d[%m, %n] : vector<32x64xf32>, tensor<100x100xf32>
    ```

    Definite failures:
    - hang_over_edges_c1: the target is an `scf.forall` with one matmul that `normalize_matmul` gave, tiled by
      upstream's steps to `tile` along m and n and to 1 along batches.
    - hang_over_edges_c2: the tile's sizes are positive.
    - hang_over_edges_c3: everything around the matmul in the loop is elementwise.
  }];
  let arguments = (ins TransformHandleTypeInterface:$workgroups, TransformParamTypeInterface:$tile_m,
      TransformParamTypeInterface:$tile_n, TransformParamTypeInterface:$tile_k);
  let assemblyFormat = [{
    $workgroups `tile` `=` `[` $tile_m `,` $tile_n `,` $tile_k `]` attr-dict `:` type($workgroups) `,` type($tile_m)
  }];
}

def ToTilesOp : XeTile_TransformOp<"to_tiles",
    [AllTypesMatch<["given_m", "given_n", "given_rows", "given_columns", "subgroups_m", "subgroups_n"]>]> {
  let summary = "Writes a function on tensors as tiles of workgroups";
  let description = [{
    All that a function computes becomes one loop over workgroups, in XeTile: each workgroup computes a tile of the
    results, from memory, with whatever the tile needs on the way. Results are asked for, not ops: the elements of a
    tensor at some places are those of its op's operands at the places that indexing maps say; slices, pads,
    concatenations and reshapes only change places. Nothing is computed twice in a workgroup, and no tensor in between is
    in memory.

    Every vector is R x C, with 1 where it runs along neither rows nor columns. Places that step by one in at most two
    dimensions are tiles, all others gathers and scatters. Tiles hang over the edges: what is read there is padding, what
    is written there is dropped. What is reduced runs along a side of the tile that is free, in blocks where it is longer,
    and elements that do not exist are neutral: the padding of a load where memory is reduced, selected where that was
    computed. Sums of f16 and bf16 are f32.

    `tile` and `sg_layout` are rows and columns of a workgroup's tile and of its grid of subgroups; 0 leaves them to the
    op, which gives back the grid. Dimensions of size 1 aside, columns are the last dimension of the results and rows
    another one, whichever lets reductions run along memory; rows of a multiple of 16 elements that are reduced whole are
    folded into 16 columns, one row a workgroup. A workgroup walks over all of a dimension that is scanned, with the combined
    elements of other dimensions in its columns. What is left open of an attention, or of ops that compute element by
    element, is the `target`'s choice where it has tiles of its own for that, as "sm_90a" has.

    ```mlir
    %workgroups, %rows, %columns = transform.xetile.to_tiles %func tile = [%m, %n] sg_layout = [%sm, %sn]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    ```

    With tiles of 32 x 64 on 2 x 2 subgroups

    ```mlir
    func.func @f(%A: tensor<100x100xf32>, %b: tensor<100xf32>) -> tensor<100x100xf32> {
      %D = linalg.generic {indexing_maps = [(i, j) -> (j, i), (i, j) -> (j), (i, j) -> (i, j)], ...}
          ins(%A, %b) outs(%empty) { arith.addf }
      return %D
    ```

    becomes

    ```mlir
    func.func @f(%A: tensor<100x100xf32>, %b: tensor<100xf32>) -> tensor<100x100xf32> {
      %ma = bufferization.to_buffer %A read_only
      %mb = bufferization.to_buffer %b read_only
      %md = memref.alloc()
      scf.forall (%m, %n) = (0, 0) to (100, 100) step (32, 64) {
        %at = memref.transpose %ma (i, j) -> (j, i)
        %a = xetile.load_tile (xetile.init_tile %at[%m, %n] -> !xetile.tile<32x64xf32, ... order = [0, 1]>)
        %row = memref.expand_shape %mb [[0, 1]] output_shape [1, 100]
        %v = xetile.load_tile (xetile.init_tile %row[0, %n] -> !xetile.tile<1x64xf32>)
        %r = xetile.tile_broadcast %v, [0]
        %d = arith.addf %a, %r : vector<32x64xf32>
        xetile.store_tile %d, (xetile.init_tile %md[%m, %n])
      }
      %D = bufferization.to_tensor %md restrict writable
      return %D
    ```

    Definite failures:
    - to_tiles_c1: the target is a `func.func` with a body of one block.
    - to_tiles_c2: it returns tensors that it computes, all of one shape, without sizes of zero. A size that only a run knows
      is an argument's, or computed of such; of dimensions that a reshape joins or splits, the first one alone may be such.
    - to_tiles_c3: they are computed by linalg ops (also on what `linalg.index` gives), slices, pads, concatenations and
      reshapes, of tensors in memory; with `elementwise`, by none that reduces.
    - to_tiles_c4: linalg ops compute by elementwise ops (what reduces by other than one sum, product, minimum, maximum,
      and, or, xor does so one element after the other); what is read by other indices (extracted in a body, inserted
      with steps) is in memory, or computed of what is element by element, or what is padded.
    - to_tiles_c5: `sg_layout` divides `tile`.
    - to_tiles_c6: no reduction is computed anew in each step of another one.
    - to_tiles_c7: there is one scan at most, and what follows it is elementwise: it reads each value where it is written.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
      TransformParamTypeInterface:$given_m, TransformParamTypeInterface:$given_n,
      TransformParamTypeInterface:$given_rows, TransformParamTypeInterface:$given_columns,
      Optional<TransformParamTypeInterface>:$chip, UnitAttr:$elementwise);
  let results = (outs TransformHandleTypeInterface:$workgroups, TransformParamTypeInterface:$subgroups_m,
      TransformParamTypeInterface:$subgroups_n);
  let assemblyFormat = [{
    $target `tile` `=` `[` $given_m `,` $given_n `]` `sg_layout` `=` `[` $given_rows `,` $given_columns `]`
    (`target` `=` $chip^)? (`elementwise` $elementwise^)?
    attr-dict `:` `(` type($target) `,` type($given_m) (`,` type($chip)^)? `)` `->` type($workgroups)
  }];
}

def LaunchWorkgroupsOp : XeTile_TransformOp<"launch_workgroups"> {
  let summary = "Makes a gpu.launch of a loop over workgroups";
  let description = [{
    Each step of an `scf.forall` on buffers becomes a workgroup. The first loop, over m, runs along y of the grid, the
    second, over n, along x; all others, over batches, together along z. A single loop runs along x. Bounds and steps may be known at run time only; a
    grid without workgroups is not launched.

    ```mlir
    %launch = transform.xetile.launch_workgroups %workgroups : (!transform.any_op) -> !transform.any_op
    ```

    ```mlir
    scf.forall (%m, %n) = (0, 0) to (%M, 1000) step (256, 256) { ... }
    ```

    becomes

    ```mlir
    %rows = ceildiv(%M, 256)
    gpu.launch blocks(%x, %y, %z) in (%gx = %c4, %gy = %rows, %gz = %c1) threads(...) in (1, 1, 1) {
      %m = affine.apply affine_map<(y) -> (y * 256)>(%y)
      %n = affine.apply affine_map<(x) -> (x * 256)>(%x)
      ...
      gpu.terminator
    }
    ```

    Definite failures:
    - launch_workgroups_c1: the target is an `scf.forall` without results.
  }];
  let arguments = (ins TransformHandleTypeInterface:$workgroups);
  let results = (outs TransformHandleTypeInterface:$launch);
  let assemblyFormat = "$workgroups attr-dict `:` functional-type(operands, results)";
}

def RefuseRestOp : XeTile_TransformOp<"refuse_rest"> {
  let summary = "Refuses what is not part of a matmul's kernel";
  let description = [{
    Changes nothing. Run it when the loop over workgroups has all that it takes: linalg ops (and `tensor.pad` and its like)
    that stand outside of an `scf.forall` would be computed by nobody. The error lists all of them with their places, and
    why a kernel cannot have them. Where there is no such loop yet, those are refused that can never be part of it:
    convolutions, reductions.

    ```mlir
    transform.xetile.refuse_rest in %module : !transform.any_op
    ```

    Definite failures:
    - refuse_rest_c1: an op that computes tensors is left outside of the loops over workgroups.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "`in` $target attr-dict `:` type($target)";
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
    adjacent there, as are the subgroups of a row of the layout. A launch whose body has XeTile ops without any `wg_map`,
    as where all that subgroups could share folded to constants, gets one subgroup, unless the body asks
    `gpu.subgroup_id`: each of several would do all of it.

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
  let summary = "Divides a tile or a vector evenly over the subgroups";
  let description = [{
    Sets `wg_map`: the subgroups form a grid of `sg_layout`, and each owns one part, of the result of an operation on
    vectors (`tile_mma`, `tile_reduce`, `tile_broadcast`, `tile_transpose`, `tile_conv_layout`), or of the tile that the
    target makes or accesses: an `init_tile`, a load, store, prefetch or atomic update. A single row or column is that of
    all subgroups along it. The maps of other values follow (`xetile-infer-wg-map`); `xetile-wg-to-sg` refuses those that
    none follows for.

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

    and a store, by its tile,

    ```mlir
    %t = xetile.init_tile %C[%m, %n] : memref<1024x1024xf32> -> !xetile.tile<256x256xf32>
    xetile.store_tile %d, %t : vector<256x256xf32>, !xetile.tile<256x256xf32>
    ```

    becomes, with `#c = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>`

    ```mlir
    %t = xetile.init_tile %C[%m, %n] : memref<1024x1024xf32> -> !xetile.tile<256x256xf32, #c>
    xetile.store_tile %d, %t : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
    ```

    Definite failures:
    - set_wg_map_c1: the target has a tile, or a result that is a vector.
    - set_wg_map_c2: the layout is positive and divides the shape.
    - set_wg_map_c3: an operation on vectors has a map of its own. Elementwise ones and constants have that of their
      operands or users.
    - set_wg_map_c4: a tile comes from an `xetile.init_tile`, and only accesses use it.
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

    `locality` is that of the prefetches: 3 fills all caches, 2 the second-level cache alone, where what is far ahead waits
    without a place in the first-level one. Two steps of one kind make two levels, `distance` of the first one larger:

    ```mlir
    %far = transform.xetile.insert_prefetch %load distance = %twelve locality = 2 : ...
    %near = transform.xetile.insert_prefetch %load distance = %three : ...
    ```

    `prefetches` are the prefetch_tile ops inside of the loops. With `where_possible` loads that do not fulfil what c3 to c5 say
    are passed over: a prefetch is a hint.

    Definite failures:
    - insert_prefetch_c1: the target is an `xetile.load_tile`.
    - insert_prefetch_c2: the distance is 0 to 64.
    - insert_prefetch_c3: the tile comes from an `xetile.init_tile` whose offsets are pure functions of the loop's
      induction variable and of values from outside of the loop.
    - insert_prefetch_c4: the tile has a wg_map (run `xetile-infer-wg-map` first).
    - insert_prefetch_c5: its blocks can be shared evenly by the subgroups.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$distance,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<3>]>, "3">:$locality,
      UnitAttr:$where_possible);
  let results = (outs TransformHandleTypeInterface:$prefetches);
  let assemblyFormat = [{
    $target `distance` `=` $distance (`locality` `=` $locality^)? (`where_possible` $where_possible^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // XETILE_SCHEDULE_TRANSFORMOPS_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on vectors alone.
#ifndef XETILE_IR_XETILEVECTOROPS_TD
#define XETILE_IR_XETILEVECTOROPS_TD

include "mlir/Dialect/Vector/IR/VectorAttributes.td"
include "xetile/IR/XeTileOpBase.td"

def XeTile_TileMmaOp : XeTile_Op<"tile_mma", [Pure]> {
  let summary = "Multiplies two vectors as matrices and adds a third";
  let description = [{
    `d[m, n] = c[m, n] + sum over k of a[m, k] * b[k, n]`; without `c` the sum alone. Products and sums are computed
    in the result's element type. `wg_map` describes the result of a workgroup-level multiplication; those of the
    operands follow from it: the same `sg_layout`, the sizes of m and n as in the result, k whole.

    Blocked matrices are 4D; the sum is over both dimensions of k. Bytes are signed, those of an operand with
    `unsigned_a` or `unsigned_b` are not.

    ```mlir
    %d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
    %e = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xf16> -> vector<64x128xf32>
    %f = xetile.tile_mma %p, %q, %r : vector<8x4x8x8xbf16>, vector<4x8x8x16xbf16>, vector<8x8x8x16xf32>
        -> vector<8x8x8x16xf32>
    %g = xetile.tile_mma %u, %s {unsigned_a} : vector<64x32xi8>, vector<32x128xi8> -> vector<64x128xi32>
    ```

    Constraints:
    - tile_mma_c1: the columns of `a` are the rows of `b`.
    - tile_mma_c2: the result has the rows of `a` and the columns of `b`.
    - tile_mma_c3: `c` has the result's type.
    - tile_mma_c4: element types of a, b and the result: f16, f16 to f32 or f16; bf16, bf16 to f32 or bf16; f32 or
      tf32 to f32; i8, i8 (any signs) to i32.
    - tile_mma_c5: `wg_map` fits the result as it would fit a tile (tile_c3, tile_c4), which is 2D.
    - tile_mma_c6: all operands and the result are 2D, or all are 4D; `a`'s and `b`'s blocks have the same k.
    - tile_mma_c7: `unsigned_a` and `unsigned_b` are for operands of bytes.
  }];
  let arguments = (ins XeTile_Vector:$a, XeTile_Vector:$b, Optional<XeTile_Vector>:$c,
      OptionalAttr<XeTile_WgMapAttr>:$wg_map, UnitAttr:$unsigned_a, UnitAttr:$unsigned_b);
  let results = (outs XeTile_Vector:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $c^)? attr-dict `:` type($a) `,` type($b) (`,` type($c)^)? `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The same product, signs included, of other operands and without a wg_map: a piece of this one.
    TileMmaOp createPiece(::mlir::OpBuilder &builder, ::mlir::Type type, ::mlir::Value a, ::mlir::Value b,
        ::mlir::Value c) {
      return create(builder, getLoc(), type, a, b, c, WgMapAttr(), getUnsignedA(), getUnsignedB());
    }
  }];
  let hasVerifier = 1;
}

def XeTile_TileTransposeOp : XeTile_InferredOp<"tile_transpose", [Pure]> {
  let summary = "Transposes a vector";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the operand, as in `vector.transpose`. The operand's
    wg_map has both dimensions of `sg_layout` and `sg_data` permuted back.

    ```mlir
    %t = xetile.tile_transpose %v, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
    ```

    Constraints:
    - tile_transpose_c1: `permutation` is `[1, 0]` or `[0, 1]`.
    - tile_transpose_c2: the result has the permuted shape and the element type.
    - tile_transpose_c3: `wg_map` fits the result.
  }];
  let arguments = (ins XeTile_Vector2D:$vector, DenseI64ArrayAttr:$permutation,
      OptionalAttr<XeTile_WgMapAttr>:$wg_map);
  let results = (outs XeTile_Vector2D:$result);
  let assemblyFormat = "$vector `,` $permutation attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def XeTile_TileReduceOp : XeTile_InferredOp<"tile_reduce", [Pure]> {
  let summary = "Reduces a vector along some of its dimensions";
  let description = [{
    As `vector.multi_reduction` with the same kinds, but the reduced dimensions stay, with size 1, and nothing is
    accumulated. The order of sums and products is not defined, and those of f16 and bf16 may be computed in f32. The
    operand's wg_map has the whole of the reduced dimensions in `sg_data`, else it is that of the result.

    ```mlir
    %r = xetile.tile_reduce <add> %v, [1] : vector<64x32xf32> -> vector<64x1xf32>
    %s = xetile.tile_reduce <add> %b, [1, 3] : vector<8x4x8x16xf32> -> vector<8x1x8x1xf32>
    ```

    Constraints:
    - tile_reduce_c1: `reduction_dims` are dimensions of the vector, at least one, in increasing order.
    - tile_reduce_c2: the result has size 1 in the reduced dimensions, the operand's size in others, and its element
      type.
    - tile_reduce_c3: `kind` is one for the element type: add and mul for all; minnumf, maxnumf, minimumf and maximumf
      for floats; minsi, minui, maxsi, maxui, and, or, xor for integers.
    - tile_reduce_c4: `wg_map` fits the result, which is 2D.
  }];
  let arguments = (ins Vector_CombiningKindAttr:$kind, XeTile_Vector:$vector, DenseI64ArrayAttr:$reduction_dims,
      OptionalAttr<XeTile_WgMapAttr>:$wg_map);
  let results = (outs XeTile_Vector:$result);
  let assemblyFormat = "$kind $vector `,` $reduction_dims attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
}

def XeTile_TileBroadcastOp : XeTile_Op<"tile_broadcast", [Pure]> {
  let summary = "Repeats a vector along dimensions of size 1";
  let description = [{
    The operand's wg_map has `sg_data` 1 in the broadcast dimensions, else it is that of the result.

    ```mlir
    %m = xetile.tile_broadcast %v, [0] : vector<1x32xf32> -> vector<64x32xf32>
    %b = xetile.tile_broadcast %w, [1, 3] : vector<8x1x8x1xf32> -> vector<8x4x8x16xf32>
    ```

    Constraints:
    - tile_broadcast_c1: `broadcast_dims` are dimensions of the vector, at least one, in increasing order.
    - tile_broadcast_c2: the operand has size 1 in those dimensions.
    - tile_broadcast_c3: the result has the operand's rank and element type, and its size in all other dimensions.
    - tile_broadcast_c4: `wg_map` fits the result, which is 2D.
  }];
  let arguments = (ins XeTile_Vector:$vector, DenseI64ArrayAttr:$broadcast_dims,
      OptionalAttr<XeTile_WgMapAttr>:$wg_map);
  let results = (outs XeTile_Vector:$result);
  let assemblyFormat = "$vector `,` $broadcast_dims attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def XeTile_TileConvLayoutOp : XeTile_Op<"tile_conv_layout", [Pure, SameOperandsAndResultType]> {
  let summary = "Gives a vector to other subgroups";
  let description = [{
    The same vector, owned by the subgroups as `wg_map` says. `source_wg_map` may say how the operand is owned; without
    it the operand's producer does.

    ```mlir
    %b = xetile.tile_conv_layout %a {wg_map = #to, source_wg_map = #from} : vector<256x256xf32>
    ```

    Constraints:
    - tile_conv_layout_c1: `wg_map` and `source_wg_map` fit the vector.
    - tile_conv_layout_c2: `wg_map` and `source_wg_map` are for the same number of subgroups.
  }];
  let arguments = (ins XeTile_Vector2D:$vector, XeTile_WgMapAttr:$wg_map,
      OptionalAttr<XeTile_WgMapAttr>:$source_wg_map);
  let results = (outs XeTile_Vector2D:$result);
  let assemblyFormat = "$vector attr-dict `:` type($vector)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def XeTile_TilePackOp : XeTile_InferredOp<"tile_pack", [Pure]> {
  let summary = "Cuts a vector in blocks";
  let description = [{
    Element `[i, j]` goes to `[i / rows, j / columns, i mod rows, j mod columns]` for `inner_blocks = rows, columns`.

    ```mlir
    %b = xetile.tile_pack %v {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
    ```

    Constraints:
    - tile_pack_c1: `inner_blocks` are two positive numbers that divide the vector.
    - tile_pack_c2: the result has the shape of the blocks and the element type.
  }];
  let arguments = (ins XeTile_Vector2D:$vector, DenseI64ArrayAttr:$inner_blocks);
  let results = (outs XeTile_Vector4D:$result);
  let assemblyFormat = "$vector attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def XeTile_TileUnpackOp : XeTile_InferredOp<"tile_unpack", [Pure]> {
  let summary = "Puts a vector together from blocks";
  let description = [{
    The inverse of `tile_pack`.

    ```mlir
    %v = xetile.tile_unpack %b {inner_blocks = array<i64: 64, 16>} : vector<1x2x64x16xf32> -> vector<64x32xf32>
    ```

    Constraints:
    - tile_unpack_c1: `inner_blocks` are the last two dimensions of the operand.
    - tile_unpack_c2: the result has the shape of the matrix and the element type.
  }];
  let arguments = (ins XeTile_Vector4D:$vector, DenseI64ArrayAttr:$inner_blocks);
  let results = (outs XeTile_Vector2D:$result);
  let assemblyFormat = "$vector attr-dict `:` type($vector) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def XeTile_ConvertLanesOp : XeTile_Op<"convert_lanes", [Pure, SameOperandsAndResultType]> {
  let summary = "The same vector, held by other lanes";
  let description = [{
    Internal to the lowering of XeGPU: `xetile-assign-lane-layouts` puts one where an operation wants a value in another
    `#xetile.lane_layout` than the one that its producer leaves it in. The layout of the result is in `xetile.lanes`.

    ```mlir
    %w = xetile.convert_lanes %v {xetile.lanes = [#xetile.lane_layout<...>]} : vector<8x16xf16>
    ```
  }];
  let arguments = (ins AnyVectorOfAnyRank:$source);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
  let hasFolder = 1;
}

#endif // XETILE_IR_XETILEVECTOROPS_TD

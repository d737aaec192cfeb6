// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on tiles in memory.
#ifndef XETILE_IR_XETILEMEMORYOPS_TD
#define XETILE_IR_XETILEMEMORYOPS_TD

include "mlir/Dialect/Arith/IR/ArithBase.td"
include "xetile/IR/XeTileOpBase.td"

def XeTile_InitTileOp : XeTile_Op<"init_tile", [Pure, AttrSizedOperandSegments]> {
  let summary = "Describes a tile of a matrix in memory";
  let description = [{
    The tile starts at `offsets` (row, column; in elements) of the base matrix and may hang over its edges. The base
    is one of
    - a memref of static shape, whose shape and strides are used;
    - a memref of dynamic shape, with `base_shape` and `base_strides` (in elements);
    - an address as `i64`, with `base_shape` and `base_strides`;
    - an address as `i64`, with a vector that gives the place of each element, in elements from the address: a tile with
      `scatter`, for `load_gather` and `store_scatter`.

    ```mlir
    %t0 = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
    %t1 = xetile.init_tile %B[%m, 0], [%M, %K], [%K, 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
    %t2 = xetile.init_tile %address[0, 0], [%M, %K], [%pitch, 1] : i64 -> !xetile.tile<64x32xf16>
    %t3 = xetile.init_tile %C[%k, %n] : memref<1024x1024xf16, strided<[1, 1024]>>
        -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
    %t4 = xetile.init_tile %address, %indices : i64, vector<1x256xindex>
        -> !xetile.tile<1x256xf16, #xetile.tile_attr<scatter = true>>
    ```

    Constraints:
    - init_tile_c1: two offsets.
    - init_tile_c2: the memref has the tile's element type.
    - init_tile_c3: a memref of dynamic shape or an address needs `base_shape` and `base_strides`, two of each.
    - init_tile_c4: a memref of static shape takes neither.
    - init_tile_c5: the stride of the fastest-changing dimension is 1 (columns; rows for `order = [0, 1]`).
    - init_tile_c6: sizes and strides that are known are positive.
    - init_tile_c7: the memref is in the tile's memory space: 3, `#gpu.address_space<workgroup>` and
      `#xegpu<memory_space slm>` are `slm`; none, 0, 1 and the others' `global` are `global`, as are addresses.
    - init_tile_c8: a tile with `scatter` takes an address and indices of the tile's shape, and nothing else; other
      tiles take no indices.
  }];
  let arguments = (ins XeTile_BaseLike:$source, Variadic<Index>:$offsets, Variadic<Index>:$base_shape,
      Variadic<Index>:$base_strides, Optional<XeTile_IndexVector>:$indices, DenseI64ArrayAttr:$static_offsets,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$static_base_shape,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$static_base_strides);
  let results = (outs XeTile_TileType:$tile);
  let assemblyFormat = [{
    $source `` custom<TilePlace>($offsets, $static_offsets, $base_shape, $static_base_shape, $base_strides,
        $static_base_strides, $indices)
    attr-dict `:` type($source) (`,` type($indices)^)? `->` qualified(type($tile))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
        "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets,
        CArg<"::llvm::ArrayRef<::mlir::OpFoldResult>", "{}">:$baseShape,
        CArg<"::llvm::ArrayRef<::mlir::OpFoldResult>", "{}">:$baseStrides)>,
    OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$address, "::mlir::Value":$indices)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
    /// Rows and columns of the base matrix, whichever form describes it.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedBaseShape();
    /// Strides in elements; a strided memref's dynamic strides are not available here and come back empty.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedBaseStrides();
  }];
}

def XeTile_UpdateTileOffsetOp : XeTile_Op<"update_tile_offset",
    [Pure, AttrSizedOperandSegments, AllTypesMatch<["tile", "result"]>]> {
  let summary = "Moves a tile";
  let description = [{
    Adds `deltas` (rows, columns; in elements) to the tile's offsets. Usually only one of them is not zero. Each element
    of a tile with `scatter` moves by its own number of elements.

    ```mlir
    %next = xetile.update_tile_offset %tile, [0, %k_step] : !xetile.tile<64x32xf16>
    %moved = xetile.update_tile_offset %scattered, %steps
        : !xetile.tile<1x256xf16, #xetile.tile_attr<scatter = true>>, vector<1x256xindex>
    ```

    Constraints:
    - update_tile_offset_c1: two deltas.
    - update_tile_offset_c2: a tile with `scatter` takes one vector of the tile's shape instead, other tiles none.
  }];
  let arguments = (ins XeTile_TileType:$tile, Variadic<Index>:$deltas, Optional<XeTile_IndexVector>:$index_deltas,
      DenseI64ArrayAttr:$static_deltas);
  let results = (outs XeTile_TileType:$result);
  let assemblyFormat = [{
    $tile `,` custom<TileDelta>($deltas, $static_deltas, $index_deltas) attr-dict
    `:` qualified(type($tile)) (`,` type($index_deltas)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$tile, "::llvm::ArrayRef<::mlir::OpFoldResult>":$deltas)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedDeltas();
  }];
}

def XeTile_LoadTileOp : XeTile_InferredOp<"load_tile", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads a tile to a vector";
  let description = [{
    Elements outside of the base matrix read as `padding`, zero if it is absent. The vector's dimensions are the tile's,
    whichever `order` the matrix has in memory; a tile with `inner_blocks` gives a 4D vector of blocks.

    ```mlir
    %v = xetile.load_tile %tile {padding = 1.0 : f16} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
    %w = xetile.load_tile %blocked : !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 16]>>
        -> vector<4x2x16x16xf16>
    ```

    Constraints:
    - load_tile_c1: the vector has the tile's shape and element type.
    - load_tile_c2: `padding` is a number of the element type.
    - load_tile_c3: the tile has no `scatter`.
  }];
  let arguments = (ins XeTile_TileType:$tile, OptionalAttr<TypedAttrInterface>:$padding);
  let results = (outs XeTile_Vector:$value);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile)) `->` type($value)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True if out-of-bounds elements read as zero, as the 2D block messages give them.
    bool hasZeroPadding();
  }];
}

def XeTile_StoreTileOp : XeTile_Op<"store_tile", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stores a vector to a tile";
  let description = [{
    Elements outside of the base matrix are not written.

    ```mlir
    xetile.store_tile %v, %tile : vector<64x32xf32>, !xetile.tile<64x32xf32>
    ```

    Constraints:
    - store_tile_c1: the vector has the tile's shape and element type, 4D for a tile with `inner_blocks`.
    - store_tile_c2: the tile has no `scatter`.
  }];
  let arguments = (ins XeTile_Vector:$value, XeTile_TileType:$tile);
  let assemblyFormat = "$value `,` $tile attr-dict `:` type($value) `,` qualified(type($tile))";
  let hasVerifier = 1;
}

def XeTile_PrefetchTileOp : XeTile_Op<"prefetch_tile",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Prefetches a tile to the caches";
  let description = [{
    `locality` follows `memref.prefetch`: from 0, no temporal locality, to 3, keep in all caches. It never changes
    a value; elements outside of the base matrix are ignored.

    ```mlir
    xetile.prefetch_tile %tile locality<3> : !xetile.tile<8x32xf16>
    ```

    Constraints:
    - prefetch_tile_c1: `locality` is 0 to 3.
    - prefetch_tile_c2: the tile has no `scatter`.
  }];
  let arguments = (ins XeTile_TileType:$tile,
      ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<3>]>:$locality);
  let assemblyFormat = "$tile `locality` `` `<` $locality `>` attr-dict `:` qualified(type($tile))";
  let hasVerifier = 1;
}

def XeTile_AtomicRMWTileOp : XeTile_Op<"atomic_rmw_tile",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["value", "result"]>]> {
  let summary = "Updates each element of a tile atomically";
  let description = [{
    Replaces each element `x` of the tile by `kind(x, value)`, atomically for each element, and returns what the elements
    were before. Elements outside of the base matrix are not changed and return zero. The kinds are those of `arith`'s
    `AtomicRMWKind`.

    ```mlir
    %old = xetile.atomic_rmw_tile <addf> %v, %tile : vector<8x16xf32>, !xetile.tile<8x16xf32> -> vector<8x16xf32>
    ```

    Constraints:
    - atomic_rmw_tile_c1: the vector has the tile's shape and element type, 4D for a tile with `inner_blocks`.
    - atomic_rmw_tile_c2: `kind` is one for the element type: addf, mulf, maximumf, maxnumf, minimumf and minnumf for
      floats, assign for all, the others for integers.
    - atomic_rmw_tile_c3: the tile has no `scatter`.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, XeTile_Vector:$value, XeTile_TileType:$tile);
  let results = (outs XeTile_Vector:$result);
  let assemblyFormat = [{
    ` ` `<` $kind `>` $value `,` $tile attr-dict `:` type($value) `,` qualified(type($tile)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def XeTile_LoadGatherOp : XeTile_InferredOp<"load_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads the elements of a scattered tile";
  let description = [{
    Elements whose mask is false are not read and give `padding`, zero if it is absent.

    ```mlir
    %v = xetile.load_gather %tile, %mask {padding = 1.0 : f16}
        : !xetile.tile<1x256xf16, #xetile.tile_attr<scatter = true>>, vector<1x256xi1> -> vector<1x256xf16>
    ```

    Constraints:
    - load_gather_c1: the vector has the tile's shape and element type.
    - load_gather_c2: `padding` is a number of the element type.
    - load_gather_c3: the tile has `scatter`.
    - load_gather_c4: the mask has the tile's shape.
  }];
  let arguments = (ins XeTile_TileType:$tile, XeTile_MaskVector:$mask, OptionalAttr<TypedAttrInterface>:$padding);
  let results = (outs XeTile_Vector2D:$value);
  let assemblyFormat = "$tile `,` $mask attr-dict `:` qualified(type($tile)) `,` type($mask) `->` type($value)";
  let hasVerifier = 1;
}

def XeTile_StoreScatterOp : XeTile_Op<"store_scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stores a vector to the elements of a scattered tile";
  let description = [{
    Elements whose mask is false are not written. Where several go to one place the last in row-major order stays.

    ```mlir
    xetile.store_scatter %v, %mask, %tile
        : vector<1x256xf16>, vector<1x256xi1>, !xetile.tile<1x256xf16, #xetile.tile_attr<scatter = true>>
    ```

    Constraints:
    - store_scatter_c1: the vector has the tile's shape and element type.
    - store_scatter_c2: the tile has `scatter`.
    - store_scatter_c3: the mask has the tile's shape.
  }];
  let arguments = (ins XeTile_Vector2D:$value, XeTile_MaskVector:$mask, XeTile_TileType:$tile);
  let assemblyFormat = [{
    $value `,` $mask `,` $tile attr-dict `:` type($value) `,` type($mask) `,` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

def XeTile_AtomicRMWScatterOp : XeTile_Op<"atomic_rmw_scatter", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Updates the elements of a scattered tile atomically";
  let description = [{
    Replaces each element `x` whose mask is true by `kind(x, value)`, atomically for each element: where several go to one
    place, each of them counts, in any order. The kinds are those of `arith`'s `AtomicRMWKind`.

    ```mlir
    xetile.atomic_rmw_scatter <addf> %v, %mask, %tile
        : vector<1x256xf32>, vector<1x256xi1>, !xetile.tile<1x256xf32, #xetile.tile_attr<scatter = true>>
    ```

    Constraints:
    - atomic_rmw_scatter_c1: the vector has the tile's shape and element type.
    - atomic_rmw_scatter_c2: `kind` is one for the element type, as for `atomic_rmw_tile`.
    - atomic_rmw_scatter_c3: the tile has `scatter`.
    - atomic_rmw_scatter_c4: the mask has the tile's shape.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, XeTile_Vector2D:$value, XeTile_MaskVector:$mask,
      XeTile_TileType:$tile);
  let assemblyFormat = [{
    ` ` `<` $kind `>` $value `,` $mask `,` $tile attr-dict `:` type($value) `,` type($mask) `,` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

#endif // XETILE_IR_XETILEMEMORYOPS_TD

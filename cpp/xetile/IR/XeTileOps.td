#ifndef XETILE_IR_XETILEOPS_TD
#define XETILE_IR_XETILEOPS_TD

include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "xetile/DeepTile/MatmulConfigAttr.td"
include "xetile/IR/XeTileAttrs.td"
include "xetile/IR/XeTileTypes.td"

class XeTile_Op<string mnemonic, list<Trait> traits = []> : Op<XeTile_Dialect, mnemonic, traits>;

def XeTile_Vector2D : VectorOfRankAndType<[2], [AnyType]>;
def XeTile_BaseLike : AnyTypeOf<[MemRefRankOf<[AnyType], [2]>, I64]>;

//===----------------------------------------------------------------------===//
// Tiles in memory
//===----------------------------------------------------------------------===//

def XeTile_InitTileOp : XeTile_Op<"init_tile", [Pure, AttrSizedOperandSegments]> {
  let summary = "Describes a tile of a matrix in memory";
  let description = [{
    The tile starts at `offsets` (row, column; in elements) of the base matrix and may hang over its edges. The base
    is one of
    - a memref of static shape, whose shape and strides are used;
    - a memref of dynamic shape, with `base_shape` and `base_strides` (in elements);
    - an address as `i64`, with `base_shape` and `base_strides`.

    ```mlir
    %t0 = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<64x32xf16>
    %t1 = xetile.init_tile %B[%m, 0], [%M, %K], [%K, 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
    %t2 = xetile.init_tile %address[0, 0], [%M, %K], [%pitch, 1] : i64 -> !xetile.tile<64x32xf16>
    ```

    Constraints:
    - init_tile_c1: two offsets.
    - init_tile_c2: the memref has the tile's element type.
    - init_tile_c3: a memref of dynamic shape or an address needs `base_shape` and `base_strides`, two of each.
    - init_tile_c4: a memref of static shape takes neither.
    - init_tile_c5: the stride of the fastest-changing dimension is 1 (columns; rows for `order = [0, 1]`).
    - init_tile_c6: sizes and strides that are known are positive.
  }];
  let arguments = (ins XeTile_BaseLike:$source, Variadic<Index>:$offsets, Variadic<Index>:$base_shape,
      Variadic<Index>:$base_strides, DenseI64ArrayAttr:$static_offsets,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$static_base_shape,
      DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$static_base_strides);
  let results = (outs XeTile_TileType:$tile);
  let assemblyFormat = [{
    $source `` custom<DynamicIndexList>($offsets, $static_offsets)
    `` custom<BaseDescription>($base_shape, $static_base_shape, $base_strides, $static_base_strides)
    attr-dict `:` type($source) `->` qualified(type($tile))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$source,
        "::llvm::ArrayRef<::mlir::OpFoldResult>":$offsets,
        CArg<"::llvm::ArrayRef<::mlir::OpFoldResult>", "{}">:$baseShape,
        CArg<"::llvm::ArrayRef<::mlir::OpFoldResult>", "{}">:$baseStrides)>
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
    [Pure, AllTypesMatch<["tile", "result"]>]> {
  let summary = "Moves a tile";
  let description = [{
    Adds `deltas` (rows, columns; in elements) to the tile's offsets. Usually only one of them is not zero.

    ```mlir
    %next = xetile.update_tile_offset %tile, [0, %k_step] : !xetile.tile<64x32xf16>
    ```

    Constraints:
    - update_tile_offset_c1: two deltas.
  }];
  let arguments = (ins XeTile_TileType:$tile, Variadic<Index>:$deltas, DenseI64ArrayAttr:$static_deltas);
  let results = (outs XeTile_TileType:$result);
  let assemblyFormat = [{
    $tile `,` custom<DynamicIndexList>($deltas, $static_deltas) attr-dict `:` qualified(type($tile))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$tile, "::llvm::ArrayRef<::mlir::OpFoldResult>":$deltas)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedDeltas();
  }];
}

def XeTile_LoadTileOp : XeTile_Op<"load_tile", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads a tile to a vector";
  let description = [{
    Elements outside of the base matrix read as `padding`, zero if it is absent.

    ```mlir
    %v = xetile.load_tile %tile {padding = 1.0 : f16} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
    ```

    Constraints:
    - load_tile_c1: the vector has the tile's shape and element type.
    - load_tile_c2: `padding` has the element type.
  }];
  let arguments = (ins XeTile_TileType:$tile, OptionalAttr<TypedAttrInterface>:$padding);
  let results = (outs XeTile_Vector2D:$value);
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
    - store_tile_c1: the vector has the tile's shape and element type.
  }];
  let arguments = (ins XeTile_Vector2D:$value, XeTile_TileType:$tile);
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
  }];
  let arguments = (ins XeTile_TileType:$tile,
      ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<3>]>:$locality);
  let assemblyFormat = "$tile `locality` `` `<` $locality `>` attr-dict `:` qualified(type($tile))";
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

def XeTile_TileMmaOp : XeTile_Op<"tile_mma", [Pure]> {
  let summary = "Multiplies two vectors as matrices and adds a third";
  let description = [{
    `d[m, n] = c[m, n] + sum over k of a[m, k] * b[k, n]`; without `c` the sum alone. Products and sums are computed
    in the result's element type. `wg_map` describes the result of a workgroup-level multiplication; those of the
    operands follow from it (`deriveMmaOperandMaps`).

    ```mlir
    %d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
    %e = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x128xf16> -> vector<64x128xf32>
    ```

    Constraints:
    - tile_mma_c1: the columns of `a` are the rows of `b`.
    - tile_mma_c2: the result has the rows of `a` and the columns of `b`.
    - tile_mma_c3: `c` has the result's type.
    - tile_mma_c4: element types of a, b and the result: f16, f16 to f32 or f16; bf16, bf16 to f32 or bf16; f32 or
      tf32 to f32; i8, i8 (any signs) to i32.
    - tile_mma_c5: `wg_map` fits the result as it would fit a tile (tile_c3, tile_c4).
  }];
  let arguments = (ins XeTile_Vector2D:$a, XeTile_Vector2D:$b, Optional<XeTile_Vector2D>:$c,
      OptionalAttr<XeTile_WgMapAttr>:$wg_map);
  let results = (outs XeTile_Vector2D:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $c^)? attr-dict `:` type($a) `,` type($b) (`,` type($c)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // XETILE_IR_XETILEOPS_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILETYPES_TD
#define XETILE_IR_XETILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "xetile/IR/XeTileAttrs.td"

def XeTile_TileType : TypeDef<XeTile_Dialect, "Tile", [ShapedTypeInterface]> {
  let mnemonic = "tile";
  let summary = "A 2D region of a matrix in memory";
  let description = [{
    A static 2D shape, an element type and, if needed, `#xetile.tile_attr` properties.

    ```mlir
    !xetile.tile<64x32xf16>
    !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
    ```

    Constraints:
    - tile_c1: two dimensions, both static and positive.
    - tile_c2: elements are integers of 8, 16, 32 or 64 bits, f16, bf16, tf32, f32 or f64.
    - tile_c3: in each dimension `sg_data` of the wg_map divides the tile.
    - tile_c4: in each dimension `sg_layout * sg_data` divides the tile or is divided by it.
    - tile_c5: in each dimension `inner_blocks` divides the tile, and a subgroup's piece of it (`sg_data`).
    - tile_c6: fewer than 2^31 elements.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
      OptionalParameter<"::xetile::TileAttr">:$encoding);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
      "::mlir::Type":$elementType, CArg<"::xetile::TileAttr", "{}">:$encoding), [{
    return $_get(elementType.getContext(), shape, elementType, encoding);
  }]>];
  let extraClassDeclaration = [{
    bool hasRank() const { return true; }
    TileType cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape, ::mlir::Type elementType) const {
      return TileType::get(shape.value_or(getShape()), elementType, getEncoding());
    }
    /// The workgroup map, or null for a subgroup's tile.
    ::xetile::WgMapAttr getWgMap() const {
      return getEncoding() ? getEncoding().getWgMap() : ::xetile::WgMapAttr();
    }
    /// True for `order = [0, 1]`: consecutive rows are adjacent in memory.
    bool isColumnMajor() const {
      return getEncoding() && !getEncoding().getOrder().empty() && getEncoding().getOrder()[0] == 0;
    }
    /// The same tile with another workgroup map; null removes the map.
    TileType withWgMap(::xetile::WgMapAttr map) const;
    /// Rows and columns of the blocks in which the tile is loaded and stored; empty if it is not blocked.
    ::llvm::ArrayRef<int64_t> getInnerBlocks() const {
      return getEncoding() ? getEncoding().getInnerBlocks() : ::llvm::ArrayRef<int64_t>();
    }
    ::xetile::MemorySpace getMemorySpace() const {
      return getEncoding() ? getEncoding().getMemorySpace() : ::xetile::MemorySpace::Global;
    }
    /// True if each element has an address of its own.
    bool isScattered() const { return getEncoding() && getEncoding().getScatter(); }
    /// The vector that a load of this tile gives: 4D for a blocked tile.
    ::mlir::VectorType getVectorType() const;
  }];
}

#endif // XETILE_IR_XETILETYPES_TD

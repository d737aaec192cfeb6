// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEATTRS_TD
#define XETILE_IR_XETILEATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "xetile/IR/XeTileDialect.td"

class XeTile_Attr<string name, string attrMnemonic> : AttrDef<XeTile_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def XeTile_WgMapAttr : XeTile_Attr<"WgMap", "wg_map"> {
  let summary = "How a workgroup's tile is owned by its subgroups";
  let description = [{
    `sg_layout` arranges the subgroups of a workgroup in a grid (row-major in the linear subgroup id); `sg_data` is
    the shape that one subgroup takes at a time. Along each dimension the tile is cut in pieces of `sg_data`, given out
    round-robin. With more pieces than subgroups a subgroup owns several; with fewer the subgroups wrap around and
    share them.

    Example: 256 rows over 8 subgroups of 32 rows each, the 32 columns shared by the 4 subgroups of a grid row:

    ```mlir
    #wg_map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
    ```

    Constraints:
    - wg_map_c1: `sg_layout` and `sg_data` have two elements each.
    - wg_map_c2: all of them are positive.
    - wg_map_c3: there are fewer than 2^31 subgroups.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sg_layout, ArrayRefParameter<"int64_t">:$sg_data);
  let assemblyFormat = "`<` `sg_layout` `=` `[` $sg_layout `]` `,` `sg_data` `=` `[` $sg_data `]` `>`";
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    /// Subgroups in the grid.
    int64_t getNumSubgroups() const { return getSgLayout()[0] * getSgLayout()[1]; }
  }];
}

def XeTile_MemorySpace : I32Enum<"MemorySpace", "Where the matrix of a tile is", [
    I32EnumCase<"Global", 0, "global">, I32EnumCase<"SLM", 3, "slm">]> {
  let cppNamespace = "::xetile";
}

def XeTile_TileAttr : XeTile_Attr<"Tile", "tile_attr"> {
  let summary = "Properties of a tile besides its shape and element type";
  let description = [{
    - `wg_map`: the owner of each part, for a workgroup's tile.
    - `order`: dimensions from the slowest- to the fastest-changing in memory, as in the memref: `[1, 0]` is
      row-major (the default), `[0, 1]` column-major.
    - `inner_blocks`: rows and columns of the blocks in which the tile is loaded and stored; vectors of such a tile
      are 4D.
    - `memory_space`: `global` (the default) or `slm`, the shared local memory of a workgroup.
    - `scatter`: each element has an address of its own; `false` by default.

    ```mlir
    !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
    !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1], inner_blocks = [16, 16], memory_space = slm>>
    !xetile.tile<1x256xf16, #xetile.tile_attr<scatter = true>>
    ```

    Constraints:
    - tile_attr_c1: `order` is `[1, 0]` or `[0, 1]`.
    - tile_attr_c2: `inner_blocks` has two elements, both positive.
    - tile_attr_c3: with `scatter` there is neither `order` nor `inner_blocks`, and the memory is global.
  }];
  let parameters = (ins OptionalParameter<"::xetile::WgMapAttr">:$wg_map,
      OptionalArrayRefParameter<"int64_t">:$order, OptionalArrayRefParameter<"int64_t">:$inner_blocks,
      DefaultValuedParameter<"::xetile::MemorySpace", "::xetile::MemorySpace::Global">:$memory_space,
      DefaultValuedParameter<"bool", "false">:$scatter);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let builders = [AttrBuilder<(ins "::xetile::WgMapAttr":$wg_map), [{
    return $_get($_ctxt, wg_map, ::llvm::ArrayRef<int64_t>(), ::llvm::ArrayRef<int64_t>(),
                 ::xetile::MemorySpace::Global, false);
  }]>];
  let extraClassDeclaration = [{
    /// The same properties with another workgroup map; null if none is left.
    TileAttr withWgMap(WgMapAttr map) const;
  }];
}

def XeTile_LaneLayoutAttr : XeTile_Attr<"LaneLayout", "lane_layout"> {
  let summary = "What each lane of a subgroup holds of a vector";
  let description = [{
    The vector is a grid of blocks of shape `block`, in row-major order. Within a block the place of an element is a
    linear function of the bits of its register and its lane: `register` and `lane` have, lowest bit first, the step
    that a bit stands for. A lane bit whose step is zero: lanes that hold the same. `xetile-assign-lane-layouts` leaves
    one for each vector that an operation gives, in its attribute `xetile.lanes`.

    Example: 8x16 of f32, a column to each lane, a row to each register:

    ```mlir
    #xetile.lane_layout<block = [8, 16], register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]]>
    ```

    Constraints:
    - lane_layout_c1: the sides of `block` are powers of two.
    - lane_layout_c2: each step has as many elements as `block`, and lies within it.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$block, ArrayRefParameter<"int64_t">:$registers,
      ArrayRefParameter<"int64_t">:$lanes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // XETILE_IR_XETILEATTRS_TD

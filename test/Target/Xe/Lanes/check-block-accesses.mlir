// RUN: xetile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(xetile-check-block-accesses))"

#pvc = #xevm.target<chip = "pvc">

gpu.module @legal [#pvc] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: i32, %any: i32, %value: vector<8xi32>) {
    %c512 = arith.constant 512 : i32
    %c256 = arith.constant 256 : i32
    %v = xevm.blockload2d %p, %c512, %c256, %c512, %x, %x
        <{elem_size_in_bits = 16 : i32, pack_register = true, tile_height = 32 : i32,
          tile_width = 16 : i32, transpose = false, v_blocks = 2 : i32}>
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<32xi32>
    xevm.blockstore2d %p, %any, %any, %any, %x, %x, %value
        <{elem_size_in_bits = 32 : i32, tile_height = 8 : i32, tile_width = 16 : i32}>
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32, vector<8xi32>)
    llvm.return
  }
}

// -----

gpu.module @width_of_surface [#xevm.target<chip = "pvc">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: i32) {
    %c2002 = arith.constant 2002 : i32
    // expected-error @below {{cannot run on pvc: width of the surface is 2002 bytes, expected a multiple of 4}}
    %v = xevm.blockload2d %p, %c2002, %x, %c2002, %x, %x
        <{elem_size_in_bits = 16 : i32, pack_register = false, tile_height = 8 : i32,
          tile_width = 16 : i32, transpose = false, v_blocks = 1 : i32}>
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi16>
    llvm.return
  }
}

// -----

gpu.module @pitch_of_surface [#xevm.target<chip = "pvc">] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: i32) {
    %c500 = arith.constant 500 : i32
    // expected-error @below {{pitch of the surface is 500 bytes, expected a multiple of 16}}
    xevm.blockprefetch2d %p, %x, %x, %c500, %x, %x
        <{elem_size_in_bits = 16 : i32, tile_height = 8 : i32, tile_width = 16 : i32, v_blocks = 1 : i32}>
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32)
    llvm.return
  }
}

// -----

gpu.module @no_target {
  llvm.func @f() {
    llvm.return
  }
}

// expected-error @-6 {{has no #xevm.target: run xetile-attach-target first}}

// -----

// The flag names the chip, the attribute the one with the same core.
gpu.module @lunar_lake [#xevm.target<chip = "bmg", flags = {xetile.chip = "lnl"}>] {
  llvm.func @f(%p: !llvm.ptr<1>, %x: i32) {
    %c32 = arith.constant 32 : i32
    // expected-error @below {{cannot run on lnl: width of the surface is 32 bytes, expected 64 to 16777216}}
    %v = xevm.blockload2d %p, %c32, %x, %x, %x, %x
        <{elem_size_in_bits = 16 : i32, pack_register = false, tile_height = 8 : i32,
          tile_width = 16 : i32, transpose = false, v_blocks = 1 : i32}>
        : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi16>
    llvm.return
  }
}

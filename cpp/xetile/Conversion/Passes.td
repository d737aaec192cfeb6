#ifndef XETILE_CONVERSION_PASSES_TD
#define XETILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertVectorToXeTile : Pass<"convert-vector-to-xetile"> {
  let summary = "Convert vector transfers and contractions to XeTile";
  let description = [{
    Converts every 2D `vector.transfer_read`, `vector.transfer_write` and matrix-multiplying `vector.contract`. Offsets
    stay where they are computed, so a read in a loop becomes an `init_tile` in the loop.

    Before:
    ```mlir
    %a = vector.transfer_read %A[%m, %k], %zero {in_bounds = [true, true]} : memref<1024x1024xf16>, vector<256x32xf16>
    %d = vector.contract {matmul} %a, %b, %c : vector<256x32xf16>, vector<32x256xf16> into vector<256x256xf32>
    ```
    After:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16>
    %a = xetile.load_tile %t : !xetile.tile<256x32xf16> -> vector<256x32xf16>
    %d = xetile.tile_mma %a, %b, %c : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
    ```
    A transfer that may be out of bounds becomes a tile that hangs over the edge; its padding becomes that of the load.
    A transfer inside of a `memref.subview` becomes a tile of the viewed memref; one on a column-major memref a tile with
    `order = [0, 1]`. A 2D `vector.transpose` becomes `tile_transpose`.
    Refused, each with an error at the operation: masks, permutations other than the identity, more or fewer than two
    dimensions, memrefs that are contiguous neither along rows nor along columns, other contractions.
  }];
  let dependentDialects = ["::xetile::XeTileDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def ConvertXeTileToVector : Pass<"convert-xetile-to-vector"> {
  let summary = "Lower subgroup-level or blocked XeTile to vectors and memrefs";
  let description = [{
    The meaning of every operation in terms of upstream's dialects, for any CPU and for GPUs without DPAS. A tile becomes
    its matrix as a memref, the matrix's two sizes and the tile's two offsets. A load or store that is not known to be
    inside of the matrix tests it at run time: whole vectors inside, element by element on the edge.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<60x60xf16> -> !xetile.tile<32x32xf16>
    %a = xetile.load_tile %t {padding = 1.0 : f16} : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    ```
    After:
    ```mlir
    %a = scf.if %inside -> vector<32x32xf16> {
      %v = vector.transfer_read %A[%m, %k], %zero {in_bounds = [true, true]} : ..., vector<32x32xf16>
      scf.yield %v : vector<32x32xf16>
    } else {
      vector.transfer_write %ones, %buffer[%c0, %c0] : vector<32x32xf16>, memref<32x32xf16>
      scf.for ... // copies the elements inside to %buffer
      %v = vector.transfer_read %buffer[%c0, %c0], %zero : memref<32x32xf16>, vector<32x32xf16>
      scf.yield %v : vector<32x32xf16>
    }
    ```
    `tile_mma` becomes `vector.contract` in the result's element type, a scattered tile a 1D memref with a vector of indices. A
    matrix given by its address becomes a memref through the descriptor of MLIR's lowering to LLVM. A stride that must be
    1 but is only known at run time is checked there (`cf.assert`).

    Refused, each with an error at the operation: workgroup maps, elements of type tf32 or of integer types with a sign, tiles in
    operations other than XeTile's, `scf`'s and `func`'s.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

def ConvertXeTileToXeGPU : Pass<"convert-xetile-to-xegpu"> {
  let summary = "Lower subgroup-level XeTile to XeGPU operations of the hardware's sizes";
  let description = [{
    A tile becomes its two offsets; descriptors are created where they are used and are free of offsets, so that they
    leave loops as invariants. Vectors become blocks of the DPAS shapes: a of `tile_mma` 8 x k, b k x 16, all others
    8 x 16. A load takes several blocks at once, as many as the 2D block messages of the chip allow, and slices them.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    ```
    After:
    ```mlir
    %desc = xegpu.create_nd_tdesc %A : memref<1024x1024xf16>
        -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
    %blocks = xegpu.load_nd %desc[%m, %k] <{...}> : ... -> vector<2x32x16xf16>
    %left = vector.extract %blocks[0] : vector<32x16xf16> from vector<2x32x16xf16>
    %a00 = vector.extract_strided_slice %left {offsets = [0, 0], sizes = [8, 16], strides = [1, 1]} : ...
    ```
    The chip is that of the enclosing `gpu.module`'s `#xevm.target`, or the option `chip`. Refused, each with an error at the
    operation: workgroup maps, column-major tiles, padding other than zero, surfaces that the 2D unit cannot take, shapes
    that are no multiples of the DPAS shape, element types without a DPAS, more values than the registers hold.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::mlir::xegpu::XeGPUDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"\"",
        "GPU to lower for (pvc, bmg, lnl) where no gpu.module with a #xevm.target encloses the code">
  ];
}

#endif // XETILE_CONVERSION_PASSES_TD

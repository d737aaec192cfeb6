#ifndef XETILE_DEEPTILE_PASSES_TD
#define XETILE_DEEPTILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerMicrokernels : Pass<"xetile-lower-microkernels"> {
  let summary = "Lower batch-reduce matmuls on memrefs to vector code";
  let description = [{
    Cuts each contraction in register tiles, whose sums stay in vector registers through all of k. At the edges the
    last columns are masked and the last rows repeated. A `linalg.fill` right before becomes the sums' start.

    Before:
    ```mlir
    linalg.fill ins(%zero : f32) outs(%c : memref<24x16xf32, strided<[512, 1]>>)
    linalg.batch_reduce_matmul ins(%a, %b : memref<1x24x256xf32>, memref<1x256x16xf32>) outs(%c : ...)
    ```
    After (one row of 24):
    ```mlir
    %sums = scf.for %k = %c0 to %c256 step %c1 iter_args(%sum = %zeros) -> vector<16xf32> {
      %column = vector.load %b[%c0, %k, %c0] : memref<1x256x16xf32>, vector<16xf32>
      %element = memref.load %a[%c0, %row, %k] : memref<1x24x256xf32>
      %factor = vector.broadcast %element : f32 to vector<16xf32>
      %next = vector.fma %factor, %column, %sum : vector<16xf32>
      scf.yield %next : vector<16xf32>
    }
    vector.store %sums, %c[%row, %c0] : memref<24x16xf32, strided<[512, 1]>>, vector<16xf32>
    ```
    Contractions whose n is not contiguous in B and C stay as they are.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::mlir::x86vector::X86VectorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Bits of a vector register">,
    Option<"registers", "registers", "int64_t", "32", "Vector registers">,
    Option<"bf16Dot", "bf16-dot", "bool", "false", "Multiply pairs of bf16 by AVX-512 BF16 instructions">
  ];
}

def DeepTileMatmul : Pass<"deep-tile-matmul"> {
  let summary = "Cut matmuls on tensors in nine loops around batch-reduce matmuls";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
      "::mlir::vector::VectorDialect"];
  let options = [
    ListOption<"config", "config", "int64_t", "Ten values">,
    Option<"pack", "pack", "bool", "false", "Copy blocks of A and B to scratch memory">
  ];
}

def FreeScratch : Pass<"xetile-free-scratch"> {
  let summary = "Free allocations at the end of the block that makes them";
  let description = [{
    ```mlir
    %scratch = memref.alloc() : memref<64x256x16xf32>
    ...
    memref.dealloc %scratch : memref<64x256x16xf32>   // new
    return
    ```
    Memory that the block's terminator hands on stays: its receiver owns it.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // XETILE_DEEPTILE_PASSES_TD

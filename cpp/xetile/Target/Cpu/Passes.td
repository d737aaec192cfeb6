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
    Operands whose k is in groups side by side (VNNI layout, `k x n x 2` of bf16 or `k x n x 4` of bytes) are multiplied
    by dot-product instructions where the machine has them: `x86vector.avx512.dot` for bf16, VPDPBUSD for bytes, which
    takes unsigned and signed ones; if both operands have the same signedness A is offset by 128 and the sums are
    corrected. With `amx` the sums are in 2 x 2 tile registers of 16 x 16, and vector code does the edges:
    ```mlir
    %sums:4 = scf.for %k = %c0 to %c64 step %c16 iter_args(...) {
      %x = amx.tile_load %a[%row, %k2] : memref<32x128xbf16> into !amx.tile<16x32xbf16>
      %y = amx.tile_load %b[%k, %column2] : memref<64x64xbf16> into !amx.tile<16x32xbf16>
      %next = amx.tile_mulf %x, %y, %sum : ...
    ```
    Contractions whose n is not contiguous in B and C stay as they are; with results narrower than f32 they become
    scalar loops that sum in f32.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::amx::AMXDialect",
      "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::mlir::x86vector::X86VectorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of a vector register; 0 for what the machine has (DLTI attributes, else this one), whatever the other "
           "options say">,
    Option<"registers", "registers", "int64_t", "32", "Vector registers">,
    Option<"bf16Dot", "bf16-dot", "bool", "false", "Multiply pairs of bf16 by AVX-512 BF16 instructions">,
    Option<"int8Dot", "int8-dot", "bool", "false", "Multiply four bytes at once by VNNI instructions">,
    Option<"amx", "amx", "bool", "false", "Keep sums of bf16 and of bytes in AMX tile registers">
  ];
}

def DeepTileMatmul : Pass<"deep-tile-matmul"> {
  let summary = "Cut matmuls on tensors in nine loops around batch-reduce matmuls";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
      "::mlir::vector::VectorDialect"];
  let description = [{
    Recognises matmul, batch_matmul, transposed and blocked forms and `linalg.contract` by their dimensions. The three
    parallel loops share m, n and k between threads, the middle ones walk over blocks, the inner ones over calls of the
    microkernel. Loops that would run once are left out.

    Before:
    ```mlir
    %d = linalg.matmul ins(%a, %b : tensor<256x128xf32>, tensor<128x512xf32>) outs(%c : tensor<256x512xf32>)
    ```
    After, with two threads for m and for n, innermost blocks of 32 x 32 (the slices are left out):
    ```mlir
    %d = scf.forall (%mt, %nt) in (2, 2) shared_outs(%shared = %c) -> (tensor<256x512xf32>) {
      %tile = scf.for %m = %c0 to %c128 step %c32 iter_args(...) {
        scf.for %n = %c0 to %c256 step %c32 iter_args(...) {
          linalg.batch_reduce_matmul ins(... : tensor<1x32x128xf32>, tensor<1x128x32xf32>) outs(... : tensor<32x32xf32>)
        }
      }
      scf.forall.in_parallel { tensor.parallel_insert_slice %tile into %shared ... }
    }
    ```
    With K threads every thread sums its part of k to a partial result of its own, in f32 at least; these are added in
    the end.

    What the op's attribute `xetile.matmul_config` and the option `config` leave open is chosen by a cost model for the
    machine that DLTI attributes describe, by default this one. Refused with an error that names the field, its value
    and the legal range: values that do not fit the problem, the machine or each other.
  }];
  let options = [
    Option<"config", "config", "std::string", "\"\"", "A JSON object of fields of the configuration">,
    Option<"threads", "threads", "int64_t", "0", "Threads to use; 0 for the machine's cores">,
    Option<"machine", "machine", "std::string", "\"auto\"", "'dlti' requires a description by DLTI attributes, 'auto' does not">,
    Option<"pack", "pack", "std::string", "\"auto\"", "Copy blocks of A and B: 'auto', 'always' (B where the innermost n is whole vectors) or 'never'">,
    Option<"fuse", "fuse", "bool", "true", "Compute elementwise ops before and after a matmul inside its loops">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark the configuration and the terms of its score">
  ];
}

def LowerElementwise : Pass<"xetile-lower-elementwise"> {
  let summary = "Lower elementwise ops on memrefs to vector code";
  let description = [{
    Before (what follows a matmul, on one tile of it):
    ```mlir
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], ...}
        ins(%bias : memref<32xf32>) outs(%c : memref<24x32xf32>) {
    ^bb0(%x: f32, %sum: f32):
      %y = arith.addf %sum, %x : f32
      linalg.yield %y : f32
    }
    ```
    After:
    ```mlir
    scf.for %m = %c0 to %c24 step %c1 {
      scf.for %n = %c0 to %c32 step %c16 {
        %x = vector.load %bias[%n] : memref<32xf32>, vector<16xf32>
        %sum = vector.load %c[%m, %n] : memref<24x32xf32>, vector<16xf32>
        %y = arith.addf %sum, %x : vector<16xf32>
        vector.store %y, %c[%m, %n] : memref<24x32xf32>, vector<16xf32>
      }
    }
    ```
    What is left of a row is masked. Functions of the math dialect become polynomials where upstream has them. Ops that
    read along other than the last dimension stay as they are. Copies of strided memory are lowered alike.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect",
      "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of a vector register; 0 for what the machine has (DLTI attributes, else this one)">
  ];
}

def PreserveArguments : Pass<"xetile-preserve-arguments"> {
  let summary = "Mark tensors of arguments as not writable";
  let description = [{
    Bufferization then copies an argument before it would write to it: a caller's arrays never change. An argument
    that slices are inserted into is copied here, as a whole: bufferization would copy the slice, too.

    Before: `func.func @matmul(%c: tensor<64x64xf32>)`

    After: `func.func @matmul(%c: tensor<64x64xf32> {bufferization.writable = false})`
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
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

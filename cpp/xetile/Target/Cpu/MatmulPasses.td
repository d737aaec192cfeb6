//===- MatmulPasses.td - deep-tiled matmuls and what leads to them ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMULPASSES_TD
#define XETILE_TARGET_CPU_MATMULPASSES_TD

include "mlir/Pass/PassBase.td"
include "xetile/IR/MatmulFields.td"

def RankMatmulConfigs : Pass<"xetile-rank-matmul-configs"> {
  let summary = "Note which configurations of each matmul are worth measuring";
  let dependentDialects = ["::xetile::XeTileDialect"];
  let description = [{
    Changes nothing but attributes of what `deep-tile-matmul` would tile: `xetile.matmul_candidates`, the configuration
    that its cost model chooses, the best one that copies other operands, then those with the fewest cycles, with the
    packing that goes with each; and `xetile.matmul_key`, what a measurement of it holds for. `xetile.tune` measures them.

    After, with `count=2` (some fields are left out):
    ```mlir
    %d = linalg.matmul {xetile.matmul_key = "64x64x64 (d0, d1, d2) -> (d0, d2) f32 ...", xetile.matmul_candidates = [
        {config = #xetile.matmul_config<MThreads = 1, KBlock = 64, ...>, cycles = 2.1e4 : f64, pack = "auto"},
        {config = #xetile.matmul_config<MThreads = 1, KBlock = 16, ...>, cycles = 2.3e4 : f64, pack = "never"}
    ]} ...
    ```
    One of them is taken by setting the op's attributes `xetile.matmul_config` and `xetile.matmul_pack` to it. Those of an
    attention are left out: `xetile-fuse-attention` takes none that has a configuration.
  }];
  let options = [
    Option<"count", "count", "unsigned", "5", "Configurations for each matmul, at most">,
    Option<"threads", "threads", "int64_t", "0", "Threads to use; 0 for the machine's cores">
  ];
}

def DeepTileMatmul : Pass<"deep-tile-matmul"> {
  let summary = "Cut matmuls on tensors in nine loops around batch-reduce matmuls";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
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

    What the op's attribute `xetile.matmul_config` and the option `config` leave open (`xetile.matmul_pack` and `pack`
    for copies of blocks) is chosen by a cost model for the machine that DLTI attributes describe, by default this one:
    ```mlir
    module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
        "num_threads" = 8 : i32, "max_vector_width" = 512 : i32, "L1_cache_size_in_bytes" = 49152 : i32,
        "L2_cache_size_in_bytes" = 2097152 : i32, "L2_cache_ways" = 16 : i32, "L3_cache_size_in_bytes" = 272629760 : i32,
        "bf16_dot" = 1 : i32, "int8_dot" = 1 : i32, "amx" = 1 : i32, "multiply_add_ns" = 0.183 : f64,
        "copy_l3_ns" = 80.0 : f64, ...>>} {
    ```
    What such a description leaves out is that of any x86-64, and typical: one thread, 128 bits, no dot products. Without
    the device "CPU" the machine is the one that this runs on, with the rates that a device "host" has, if there is one;
    the environment's `XETILE_CPU_WITHOUT` lists features that are taken from it, in LLVM's names.
    A `"name"` beside them is LLVM's of a CPU whose rates are known; rates that are given count as measurements of it then,
    no more than twice and no less than half of what is known, and what they choose is followed where it promises more
    than their `"uncertainty"`, a part of one.

    Where blocks of B are copied from beyond the second-level cache, a `memref.prefetch` before each of the last calls for
    a block stands for some rows of the next one. Where few rows of A pass a B that is read in place, from a third level that
    is far, it stands for the rows that the call itself reads, from some steps of k later on. The call's
    `xetile.fetched = array<i64: columns, steps, lines>` says how: `xetile-lower-microkernels` fetches so many lines of these
    columns after every so many of its steps of k.

    In a loop, `xetile.matmul_pack_before_loop` lets B be copied to packed blocks once before it, if it is the same in all
    steps and vectors do not run along k. Rates are in nanoseconds (`xetile.calibration` lists them): of instructions on
    vectors, and for a KiB that is read, copied, written or waited for. Refused with an error that names the field, its
    value and the legal range: values that do not fit the problem, the machine or each other.
  }];
  let options = [
    Option<"config", "config", "std::string", "\"\"", !strconcat("A JSON object of fields of the configuration: ", matmulFieldNames)>,
    Option<"threads", "threads", "int64_t", "0", "Threads to use; 0 for the machine's cores">,
    Option<"machine", "machine", "std::string", "\"auto\"", "'dlti' requires a description by DLTI attributes, 'auto' does not">,
    Option<"pack", "pack", "std::string", "\"auto\"", "Copy blocks of A and B: 'auto', 'always' (B where the innermost n is whole vectors) or 'never'">,
    Option<"fuse", "fuse", "bool", "true", "Compute elementwise ops before and after a matmul inside its loops">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark the configuration and the terms of its score">,
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, those without, and those with a configuration; by default all but 'none'">
  ];
}

def BlockSums : Pass<"xetile-block-sums"> {
  let summary = "Add long sums up by blocks of some hundreds, and these by blocks again";
  let description = [{
    A sum of n numbers, one after the other, is wrong by up to n / 2 units in the last place: 3 % for three million equal
    f32. Sums of f32 and f64 (those of narrower floats are f32 behind `xetile-widen-sums`) that would take more than 512
    additions in a row are cut into blocks of 256, each from zero, whose sums are added; more than 32 blocks are cut the same
    way, into blocks of 16 (of 256 where their number is unknown). What a vector's lanes, and the vectors that
    `xetile-linalg-to-vector-loops` adds to in turns, sum up side by side counts once: a row of f32 on a machine of 512 bits
    has blocks of 16384. Dimensions of unknown size are taken to be long; where there are several, they share a block's
    additions evenly.

    Cut are `linalg` ops on tensors that add to or subtract from such a result, in loops, too: reductions, matrix-vector and
    dot products, sums of windows. Products of many numbers, integers, extremes and microkernels of tiled matmuls stay. These
    add up a block of k each, from what was there.

    Before:
    ```mlir
    %sum = linalg.reduce { arith.addf } ins(%x : tensor<3000001x2xf32>) outs(%zero : tensor<2xf32>) dimensions = [0]
    ```
    After, with the blocks of blocks and the 65 rows that are left not shown:
    ```mlir
    %sum = scf.for %i = %c0 to %c2999936 step %c256 iter_args(%total = %zero) -> (tensor<2xf32>) {
      %rows = tensor.extract_slice %x[%i, 0] [256, 2] [1, 1] : tensor<3000001x2xf32> to tensor<256x2xf32>
      %start = linalg.fill ins(%minus_zero : f32) outs(%scratch : tensor<2xf32>) -> tensor<2xf32>
      %part = linalg.reduce { arith.addf } ins(%rows : tensor<256x2xf32>) outs(%start : tensor<2xf32>) dimensions = [0]
      %next = linalg.generic {...} ins(%part : tensor<2xf32>) outs(%total : tensor<2xf32>) // adds
      scf.yield %next : tensor<2xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"0", "Bits of the widest vectors; 0 for the machine's">
  ];
}

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
      %y = amx.tile_load %b[%k, %column2] {xetile.streamed} : memref<64x64xbf16> into !amx.tile<16x32xbf16>
      %next = amx.tile_mulf %x, %y, %sum : ...
    ```
    If a loop calls the contraction for one panel of A after the other of B, or the other way around, tiles of the one
    that changes are marked as streamed; calls go through k from its end in turns if the other panel is larger than the
    first-level cache. C's lines are fetched in the first steps of k (`memref.prefetch`), unless sums start from C.
    Where n is not contiguous in B and C, or is a single column, but k is in A and B, vectors run along k; a sum is one
    vector, whose lanes are added in the end, those of several columns together:
    ```mlir
    %sums:4 = scf.for %k = %c0 to %c256 step %c16 iter_args(...) {
      %column = vector.load %b[%n, %k] : memref<4x256xf32>, vector<16xf32>
      %row = vector.load %a[%m, %k] : memref<8x256xf32>, vector<16xf32>
      %next = vector.fma %row, %column, %sum : vector<16xf32>
    ```
    Other contractions stay as they are; with results narrower than f32 they become scalar loops that sum in f32.
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

def StreamTiles : Pass<"xetile-stream-tiles"> {
  let summary = "Load streamed AMX tiles past the first-level cache";
  let description = [{
    `xetile-lower-microkernels` marks loads of the operand whose tiles are not read again soon; the AMX dialect has one
    kind of loads only. Tiles of the other operand stay in the first-level cache then.

    Before:
    ```mlir
    %0 = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%rows, %bytes, %b, %stride) {xetile.streamed} : ...
    ```
    After:
    ```mlir
    %0 = llvm.call_intrinsic "llvm.x86.tileloaddt164.internal"(%rows, %bytes, %b, %stride) : ...
    ```
  }];
}

def RequestTileRegisters : Pass<"xetile-request-tile-registers", "::mlir::ModuleOp"> {
  let summary = "Ask the system for AMX's registers before code with them runs";
  let description = [{
    Linux lends tile registers to processes that ask. A module with `llvm.x86.tile*` or `llvm.x86.tdp*` gets a
    constructor that does, so that a saved kernel needs no library for it:
    ```mlir
    llvm.func internal @xetile_request_tile_registers() {
      %0 = llvm.mlir.constant(158 : i64) : i64   // arch_prctl
      %1 = llvm.mlir.constant(4131 : i64) : i64  // ARCH_REQ_XCOMP_PERM
      %2 = llvm.mlir.constant(18 : i64) : i64    // XFEATURE_XTILEDATA
      %3 = llvm.inline_asm has_side_effects "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}" %0, %1, %2 ...
      ...                                        // where it is not 0, @xetile_refused points to a text
    }
    llvm.mlir.global_ctors ctors = [@xetile_request_tile_registers], priorities = [0 : i32], data = [#llvm.zero]
    ```
    `f_checked` of `xetile-add-checked-entry`, `xetile.load` and the compiler look at `@xetile_refused` before they call:
    without permission these instructions end the process.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // XETILE_TARGET_CPU_MATMULPASSES_TD

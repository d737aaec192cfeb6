//===- Passes.td - deep-tiled matmuls, down to the LLVM dialect ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_PASSES_TD
#define XETILE_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"
include "xetile/IR/MatmulFields.td"

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

def DeepTileMatmul : Pass<"deep-tile-matmul"> {
  let summary = "Cut matmuls on tensors in nine loops around batch-reduce matmuls";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
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
    In a loop, `xetile.matmul_pack_before_loop` lets B be copied to packed blocks once before it, if it is the same in all
    steps. Rates are in nanoseconds (`xetile.calibration` lists them): of instructions on vectors, and for a KiB that is read,
    copied, written or waited for. Refused with an error that names the field, its value
    and the legal range: values that do not fit the problem, the machine or each other.
  }];
  let options = [
    Option<"config", "config", "std::string", "\"\"", !strconcat("A JSON object of fields of the configuration: ", matmulFieldNames)>,
    Option<"threads", "threads", "int64_t", "0", "Threads to use; 0 for the machine's cores">,
    Option<"machine", "machine", "std::string", "\"auto\"", "'dlti' requires a description by DLTI attributes, 'auto' does not">,
    Option<"pack", "pack", "std::string", "\"auto\"", "Copy blocks of A and B: 'auto', 'always' (B where the innermost n is whole vectors) or 'never'">,
    Option<"fuse", "fuse", "bool", "true", "Compute elementwise ops before and after a matmul inside its loops">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark the configuration and the terms of its score">
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
    }
    llvm.mlir.global_ctors ctors = [@xetile_request_tile_registers], priorities = [0 : i32], data = [#llvm.zero]
    ```
    The answer is not looked at: `deep-tile-matmul` uses tiles by itself only where the process that compiles got them.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

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

def LinalgToVectorLoops : Pass<"xetile-linalg-to-vector-loops"> {
  let summary = "Lower linalg ops on memrefs to loops of vectors where their elements lie side by side";
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
    What is left of a row is masked. Reductions keep what they sum up in registers. Where vectors lie along a dimension
    that is reduced (sums of rows), there are four vectors of partial sums:
    ```mlir
    %sums:4 = scf.for %n = %c0 to %c256 step %c64 iter_args(%s0 = %zeros, ...) {
      %x = vector.load %a[%m, %n] : memref<24x256xf32>, vector<16xf32>
      %t0 = arith.addf %x, %s0 : vector<16xf32>
      ...
    }
    ...
    %sum = vector.reduction <add>, %s reassoc : vector<16xf32> into f32
    ```
    So sums of floating-point numbers are rounded in another order than one after the other, with no larger a bound of
    their error. An index of an operand may be a sum, as in the window of a convolution or a pooling of stride 1. Ops
    that read along other than the last dimension, or with steps, have several results, or use `linalg.index` stay as
    they are. Copies of strided memory are lowered alike.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of a vector register; 0 for what the machine has (DLTI attributes, else this one)">
  ];
}

def NarrowComparisons : Pass<"xetile-narrow-comparisons"> {
  let summary = "Compare extended floats with constants in the type before";
  let description = [{
    Before (PyTorch's numbers are f64):
    ```mlir
    %limit = arith.constant 20.0 : f64
    %wide = arith.extf %x : f32 to f64
    %above = arith.cmpf ogt, %wide, %limit : f64
    ```
    After:
    ```mlir
    %limit = arith.constant 20.0 : f32
    %above = arith.cmpf ogt, %x, %limit : f32
    ```
    A constant that the type lacks is rounded to the side where no number of the type changes the answer; comparisons for
    equality with such a constant stay. Scalars, as the bodies of linalg ops have them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SkipUnselected : Pass<"xetile-skip-unselected"> {
  let summary = "Compute functions that a selection of lanes needs only where a lane takes them";
  let description = [{
    Before (ELU; nothing else uses `%power`):
    ```mlir
    %is_negative = arith.cmpf olt, %x, %zeros : vector<16xf32>
    %power = math.expm1 %x : vector<16xf32>
    %y = arith.select %is_negative, %power, %x : vector<16xi1>, vector<16xf32>
    ```
    After:
    ```mlir
    %any = vector.reduction <or>, %is_negative : vector<16xi1> into i1
    %y = scf.if %any -> vector<16xf32> {
      %power = math.expm1 %x : vector<16xf32>
      %selected = arith.select %is_negative, %power, %x : vector<16xi1>, vector<16xf32>
      scf.yield %selected : vector<16xf32>
    } else {
      scf.yield %x : vector<16xf32>
    }
    ```
    Expensive is what xetile-lower-math computes by functions of a library or as many instructions; anything cheaper is
    left, as are scalars, vectors of several dimensions, and ops that read memory. Where both sides are expensive, the
    first one is skipped.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerMath : Pass<"xetile-lower-math", "::mlir::ModuleOp"> {
  let summary = "Lower the math dialect on the host to instructions, polynomials and calls of libmvec and libm, bf16 to f32";
  let description = [{
    Before:
    ```mlir
    %y = math.sin %x : vector<32xbf16>
    ```
    After (`_ZGVeN16v_sinf` is glibc's `sinf` of 16 lanes in a register of AVX-512):
    ```mlir
    %wide = arith.extf %x : vector<32xbf16> to vector<32xf32>
    %low = vector.shuffle %wide, %wide [0, 1, ...] : vector<32xf32>, vector<32xf32>
    %first = call @_ZGVeN16v_sinf(%low) : (vector<16xf32>) -> vector<16xf32>
    ...
    %y = arith.truncf %both : vector<32xf32> to vector<32xbf16>
    ```
    | ops | lowered to | largest error of f32 and f64 |
    |---|---|---|
    | absf, ceil, copysign, floor, fma, round, roundeven, sqrt, trunc | left: an instruction or some | none; fma, sqrt 0.5 ULP |
    | absi, ctlz, cttz, ctpop | left: an instruction or some | none |
    | isnan, isinf, isfinite, isnormal, clampf, ipowi | comparisons, arithmetic | none; ipowi wraps around |
    | rsqrt | 1 / sqrt | 1.5 ULP |
    | powf with the constant 0.5, 1 or 2 | sqrt, nothing, a product | 0.5 ULP |
    | fpowi | products for exponents 0 to 4, else pow in f64 | 2 ULP in f32, 4 ULP in f64 |
    | exp, log in f32 | polynomials in arith and math.fma | 1 ULP |
    | expm1, log1p in f32 | the same | 2 ULP |
    | tanh in f32 | the same | 3 ULP |
    | erf in f32 | the same | 3.5 ULP |
    | the others, on vectors | libmvec | 4 ULP, for all arguments |
    | the others, on scalars (operands read against the grain) | libm | that of libm, 1 ULP for most |

    f16 and bf16 are computed in f32 and rounded once, ops of arith on bf16, too: LLVM calls functions of the compiler's
    library where a machine has no instructions for that, and those that some machines have make zeros of subnormals.
    Polynomials are inline, on vectors and scalars alike: a result does not depend on where its element is. They are for
    machines with FMA, which `vector-bits` of 256 and more stand for; others call the libraries for these functions, too.

    NaN, infinities, signed zeros and subnormals are as in C; sin,
    cos and tan reduce large arguments exactly. A negative power of an integer is 1, -1 or 0, of 0, too. `clampf` is
    the least of `max` and the greatest of `value` and `min`; NaN stays NaN.

    Vectors are passed in registers: code that calls libmvec must be generated for a machine that has registers of
    `vector-bits`. Other programs that run it link libmvec, on Linux by `-lm`.

    Refused: types other than f16, bf16, f32, f64; scalable vectors; a function of the module that has the name of a
    library's function that is called. Code in a `gpu.module` is left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of a vector register; 0 for what the machine has (DLTI attributes, else this one)">,
    Option<"libmvec", "libmvec", "bool", "true", "Call glibc's functions on vectors; without, libm's for each lane">
  ];
}

def Bf16AsBits : Pass<"xetile-bf16-as-bits", "::mlir::ModuleOp"> {
  let summary = "Make bf16 on the host integers of 16 bits, after its arithmetic was lowered";
  let description = [{
    LLVM keeps a bf16 as an f32 on machines without AVX-512 BF16, and converts it by a function that no library has, in
    masked loads, too. What only moves elements needs no such type.

    Before: `%x = llvm.load %p : !llvm.ptr -> vector<16xbf16>`

    After: `%x = llvm.load %p : !llvm.ptr -> vector<16xi16>`

    Operands of intrinsics keep their types, by `llvm.bitcast`. Code in a `gpu.module` is left alone.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def StoreSingleLanes : Pass<"xetile-store-single-lanes", "::mlir::ModuleOp"> {
  let summary = "Store one element where a mask has one lane";
  let description = [{
    LLVM 22 stores the wide element of a truncated one there, over its neighbours in memory, if it knows the mask. Where
    the mask is a constant, the element is stored by itself. The masks of other stores of integers are kept from becoming
    constants in LLVM, which unrolls loops: a value that goes through an empty piece of assembler is part of them.

    Before: `llvm.intr.masked.store %v, %p, %first {alignment = 2 : i32} : vector<16xi16>, vector<16xi1> into !llvm.ptr`

    After:
    ```mlir
    %x = llvm.extractelement %v[%c0 : i64] : vector<16xi16>
    llvm.store %x, %p {alignment = 2 : i64} : i16, !llvm.ptr
    ```
    Code in a `gpu.module` is left alone.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def WidenSums : Pass<"xetile-widen-sums"> {
  let summary = "Sum narrow floats in f32";
  let description = [{
    One rule for all sums: elements narrower than f32 (f16, bf16) are multiplied and added in f32, and rounded once, when
    the sum is complete. Tiles of contractions, in loops or made by `deep-tile-matmul`, keep it by themselves; this pass
    rewrites the others on tensors: contractions that were not tiled, convolutions, sums of pooling windows,
    `linalg.reduce` and `linalg.generic` that add, subtract or multiply into such a result. Integers are added in the
    result's type and wrap around, f32 and f64 stay what they are. Sums that several ops make (a `scf.for` that carries
    f16) are rounded between these, as written.

    Before:
    ```mlir
    %y = linalg.matvec ins(%a, %x : tensor<16x4096xbf16>, tensor<4096xbf16>) outs(%y0 : tensor<16xbf16>)
    ```
    After:
    ```mlir
    %start = arith.extf %y0 : tensor<16xbf16> to tensor<16xf32>
    %sums = linalg.generic {...} ins(%a, %x : ...) outs(%start : tensor<16xf32>) {
    ^bb0(%l: bf16, %r: bf16, %sum: f32):
      %lw = arith.extf %l : bf16 to f32
      %rw = arith.extf %r : bf16 to f32
      %product = arith.mulf %lw, %rw : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
    }
    %y = arith.truncf %sums : tensor<16xf32> to tensor<16xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

def ElementwiseToLinalg : Pass<"xetile-elementwise-to-linalg"> {
  let summary = "Turn elementwise ops on tensors to linalg without folding them";
  let description = [{
    Before: `%r = arith.xori %a, %a : tensor<?xi32>`

    After:
    ```mlir
    %r = linalg.generic {...} ins(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%a : tensor<?xi32>) {
    ^bb0(%x: i32, %y: i32, %z: i32):
      %e = arith.xori %x, %y : i32
      linalg.yield %e : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ConvolutionsToMatmuls : Pass<"xetile-convolutions-to-matmuls"> {
  let summary = "Copy what the windows of a convolution see, and multiply it with the filter";
  let description = [{
    Before:
    ```mlir
    %r = linalg.conv_2d_nchw_fchw {strides = dense<1> : ..., dilations = dense<1> : ...}
        ins(%image, %filter : tensor<4x32x58x58xf32>, tensor<64x32x3x3xf32>) outs(%c : tensor<4x64x56x56xf32>)
    ```
    After (a matmul of 64 x 448 x 288):
    ```mlir
    for %n in 0 to 4, for %h in 0 to 56 step 8:
      %seen = linalg.generic (channel, tap, tap, row, column) : %image[%n, channel, %h + row + tap, column + tap]
      %c = %c[%n, :, %h to %h + 8, :] + %filter as 64x288 * %seen as 288x448
    ```
    Images, groups and, where sizes are static, blocks of rows are loops, so that a copy stays in the second-level cache.
    All of linalg's convolutions of a sum over channels: 1D to 3D, strides, dilations, groups, channels first or last, types
    that are widened. Depthwise ones are for `xetile-linalg-to-vector-loops`; those with zero points stay as they are.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
}

def ExpandDynamicShapes : Pass<"xetile-expand-dynamic-shapes"> {
  let summary = "Write memref.expand_shape of one dimension to several unknown ones as arithmetic of strides";
  let description = [{
    Before: `%e = memref.expand_shape %m [[0, 1]] output_shape [%a, %b] : memref<?xf32> into memref<?x?xf32>`

    After: `%e = memref.reinterpret_cast %base to offset: [0], sizes: [%a, %b], strides: [%b, 1]`

    Upstream's `expand-strided-metadata` crashes on such a shape.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::memref::MemRefDialect"];
}

def FoldTransposes : Pass<"xetile-fold-transposes"> {
  let summary = "Let matmuls read what was transposed, or widened to f32";
  let description = [{
    Before:
    ```mlir
    %t = linalg.transpose ins(%w : tensor<768x64xf32>) outs(%any : tensor<64x768xf32>) permutation = [1, 0]
    %r = linalg.matmul ins(%x, %t : tensor<8x64xf32>, tensor<64x768xf32>) outs(%c : tensor<8x768xf32>)
    ```
    After:
    ```mlir
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, ...]}
        ins(%x, %w : tensor<8x64xf32>, tensor<768x64xf32>) outs(%c : tensor<8x768xf32>)
    ```
    What packs a matmul's operands transposes blocks of them on the way. A transpose that nobody uses any more is gone.

    Where all of a contraction is f32 and both inputs are extended from bf16, or both from f16, by a `linalg.generic`
    that does nothing else, it reads them narrow and extends each element: CPUs have instructions for such products.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
  let options = [
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
}

def FuseElementwise : Pass<"xetile-fuse-elementwise"> {
  let summary = "Merge chains of elementwise ops, outside of loops, and drop results that nobody uses";
  let description = [{
    Before:
    ```mlir
    %d = linalg.generic {...} ins(%x, %mean : ...) outs(%any : ...) { ... arith.subf ... }
    %e = linalg.generic {...} ins(%d : ...) outs(%any : ...) { ... math.exp ... }
    ```
    After: `%e = linalg.generic {...} ins(%x, %mean : ...) outs(%any : ...) { ... arith.subf ... math.exp ... }`

    An op whose result has several uses stays, and so memory holds what it computes once; so does one whose elements are
    read more than once, as the factor of a row is. One or two sums or products of one tensor's elements are computed by
    each of their users instead, which read that tensor in place of the result. Upstream's pass of this purpose
    folds constants and reshapes, too, and takes from ops in loops the memory that they were to update in place.

    A module with the attribute `xetile.fused` was fused by a schedule and stays as it is.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
  let options = [
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
}

def DropUnitDims : Pass<"xetile-drop-unit-dims"> {
  let summary = "Take dimensions of size one out of linalg ops, outside of loops";
  let description = [{
    Before:
    ```mlir
    %sum = linalg.generic {indexing_maps = [(m, n) -> (m, n), (m, n) -> (m, 0)], ...}
        ins(%x : tensor<4x8xf32>) outs(%zeros : tensor<4x1xf32>)
    ```
    After: the same with `(m, n) -> (m)` on tensor<4xf32>, and `tensor.expand_shape` where the other type is used.

    The passes behind know which loops of two ops are the same by their maps, for which each index is a loop.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

def FuseRows : Pass<"xetile-fuse-rows"> {
  let summary = "Compute reductions and what surrounds them block by block, in one loop";
  let description = [{
    Before, as of a softmax:
    ```mlir
    %max = linalg.generic {... "parallel", "reduction" ...} ins(%x : tensor<64x4096xf32>) ...
    %exp = linalg.generic {...} ins(%x, %max : tensor<64x4096xf32>, tensor<64xf32>) ...
    %sum = linalg.generic {... "parallel", "reduction" ...} ins(%exp : tensor<64x4096xf32>) ...
    %y = linalg.generic {...} ins(%exp, %sum : tensor<64x4096xf32>, tensor<64xf32>) ...
    ```
    After:
    ```mlir
    %y = scf.forall (%m) = (0) to (64) step (16) shared_outs(%all = %any) -> (tensor<64x4096xf32>) {
      %rows = tensor.extract_slice %x[%m, 0] [16, 4096] [1, 1] : tensor<64x4096xf32> to tensor<16x4096xf32>
      // the four ops on 16 rows
    } {xetile.rows}
    ```
    Rows are the loops that all reductions have in common; as many of them are a block as fit half of the second-level
    cache, at least one. An op that is read elsewhere, too, stays outside, and so does one that each block would compute
    again. What the last op reads element by element, as the powers here, is computed in the memory of its results.
    Ops that touch less than that in all stay as they are. With several threads a loop is also made for other ops, which need
    none for the cache; `xetile-share-rows` gives threads their blocks. A sum is one block's: its order depends neither on
    blocks nor on threads. A module with the attribute `xetile.fused` was fused by a schedule and stays as it is.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark the loops and what other ops have none for">,
    Option<"rows", "rows", "int64_t", /*default=*/"0",
           "Rows of a block at most; 0 for as many as half of the second-level cache holds">,
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::xetile::XeTileDialect"];
}

def FuseAttention : Pass<"xetile-fuse-attention"> {
  let summary = "Compute attention block by block of its rows, without all of its scores in memory";
  let description = [{
    Before:
    ```mlir
    %s = linalg.batch_matmul ins(%q, %kt : tensor<8x512x64xf32>, tensor<8x64x512xf32>) outs(...)  // scores
    %e, %sum = ...  // their softmax: elementwise ops, and reductions along keys
    %y = linalg.batch_matmul ins(%p, %v : tensor<8x512x512xf32>, tensor<8x512x64xf32>) outs(...)
    ```
    After:
    ```mlir
    %y = scf.forall (%head, %part) in (8, 1) shared_outs(%all = %any) -> (tensor<8x512x64xf32>) {
      %rows = scf.for %block = %c0 to %c2 step %c1 iter_args(...) {
        %s = linalg.generic {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, ...>, xetile.matmul_pack_before_loop}
            ins(%q_rows, %k_head : tensor<256x64xf32>, tensor<512x64xf32>) outs(... : tensor<256x512xf32>)
        // the softmax on 256 x 512
        %y = linalg.generic {...} ins(%p, %v_head : tensor<256x512xf32>, tensor<512x64xf32>) ...
      }
      ...
    } {xetile.rows}
    ```
    An attention is what its structure tells: a contraction, elementwise ops and reductions of its result, at least one,
    and a contraction of what these lead to along the dimension that they reduce. Reshapes, transposes, copies and
    arithmetic that nothing else uses may be anywhere, also before: a mask that is computed so is computed block by block,
    heads that share keys read the same. Where powers are multiplied by a factor of their row or divided by one, as their
    sum, the output is instead, in f32: it has fewer elements.

    A block has as many rows as have their scores in half of the second-level cache, but some 64 at least, which overflow
    it for more than some thousands of keys: there are no blocks of keys. All blocks have one size, the last one computes
    some rows again. The contractions are left to `deep-tile-matmul`, for one thread, which copies keys and values to
    packed blocks once for each head; `xetile-share-rows` gives threads heads, and parts of the rows where heads cannot
    be shared evenly.

    Left alone: scores that all stay in the first-level cache; scores or powers that something else reads, as
    gradients do; sizes that only the run knows; matmuls with a configuration of their own; contractions over so many
    elements that scores are no matter.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark each attention, and why it is left alone">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::xetile::XeTileDialect"];
}

def ShareRows : Pass<"xetile-share-rows"> {
  let summary = "Give each thread its share of a loop over blocks of rows";
  let description = [{
    Before, with a buffer for each block:
    ```mlir
    scf.forall (%m) = (0) to (64) step (16) {
      %scratch = memref.alloc() : memref<16x4096xf32>
      ...
      memref.dealloc %scratch : memref<16x4096xf32>
    } {xetile.rows}
    ```
    After, for two threads, with a buffer for each thread:
    ```mlir
    scf.forall (%thread) in (2) {
      %scratch = memref.alloc() : memref<16x4096xf32>
      scf.for %block = %first to %last step %c1 { ... }
      memref.dealloc %scratch : memref<16x4096xf32>
    }
    ```
    One thread has no `scf.forall`.
  }];
  let options = [Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def VectorizeScans : Pass<"xetile-vectorize-scans"> {
  let summary = "Compute scans along rows a vector at a time, rows shared by threads";
  let description = [{
    A scan is a loop on tensors that combines each element with all before it, by one commutative op of `arith` that has a neutral
    element; elements may be converted before and after.

    Before:
    ```mlir
    %row:2 = scf.for %n = %c0 to %c1024 step %c1 iter_args(%out = %all, %before = %zero) -> (tensor<4x1024xf32>, f64) {
      %element = tensor.extract %x[%m, %n] : tensor<4x1024xf32>
      %wide = arith.extf %element : f32 to f64
      %sum = arith.addf %before, %wide : f64
      %rounded = arith.truncf %sum : f64 to f32
      %next = tensor.insert %rounded into %out[%m, %n] : tensor<4x1024xf32>
      scf.yield %next, %sum : tensor<4x1024xf32>, f64
    }
    ```
    After, for registers of 512 bits, and a second such loop for the elements that are left:
    ```mlir
    %row:2 = scf.for %n = %c0 to %c1024 step %c8 iter_args(%out = %all, %before = %zeros) -> (tensor<4x1024xf32>, vector<8xf64>) {
      %elements = vector.transfer_read %x[%m, %n], %zero {in_bounds = [true]} : tensor<4x1024xf32>, vector<8xf32>
      %wide = arith.extf %elements : vector<8xf32> to vector<8xf64>
      // three times, for groups of 1, 2 and 4 lanes: the last one of a group goes to all of the next
      %moved = vector.shuffle %none, %wide [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf64>, vector<8xf64>
      %pairs = arith.addf %moved, %wide : vector<8xf64>
      ...
      %sums = arith.addf %before, %own : vector<8xf64>
      %rounded = arith.truncf %sums : vector<8xf64> to vector<8xf32>
      %next = vector.transfer_write %rounded, %out[%m, %n] {in_bounds = [true]} : vector<8xf32>, tensor<4x1024xf32>
      ...
    }
    ```
    Floats are added in another order, in each vector as a tree. With several threads, and more than half of the second-level cache
    to read and write, loops around it that do nothing else become an `scf.forall` for `xetile-share-rows`.
  }];
  let options = [Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
      "::mlir::vector::VectorDialect"];
}

def ReshapesToViews : Pass<"xetile-reshapes-to-views"> {
  let summary = "Rewrite tensor.reshape to listed sizes, and transposes that only move ones, as collapse_shape and expand_shape";
  let description = [{
    Before:
    ```mlir
    %shape = tensor.from_elements %m, %n, %c32 : tensor<3xindex>
    %y = tensor.reshape %x(%shape) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x?x32xf32>
    ```
    After:
    ```mlir
    %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%m, %n, 32] : tensor<?x32xf32> into tensor<?x?x32xf32>
    ```
    Last dimensions of the same known size stay; of those before, more than one are collapsed first. A size is what it is where
    torch-mlir would infer it from the others if it were negative: negative ones are refused when the function is called. `xetile-check-sizes` knows
    what sizes these operations take. A reshape to sizes in a tensor that is no list of them, and one from or to a tensor without
    dimensions, stay.
    A `linalg.transpose` that only moves dimensions of one is such a view, too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SplitSlices : Pass<"xetile-split-slices"> {
  let summary = "Slice with steps and drop dimensions in two ops";
  let description = [{
    Upstream aborts on memory that both steps and drops dimensions where others that stay have size one, too.

    Before: `%s = tensor.extract_slice %a[0, 0] [1, 1] [2, 1] : tensor<8x1xi32> to tensor<1xi32>`

    After:
    ```mlir
    %all = tensor.extract_slice %a[0, 0] [1, 1] [2, 1] : tensor<8x1xi32> to tensor<1x1xi32>
    %s = tensor.extract_slice %all[0, 0] [1, 1] [1, 1] : tensor<1x1xi32> to tensor<1xi32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def SplitSubviews : Pass<"xetile-split-subviews"> {
  let summary = "Drop dimensions of memory by casts where types do not tell which";
  let description = [{
    Upstream finds the dimensions that `memref.subview` drops by their strides. Where several have size one and strides
    that are not known it may take another one than the result's type leaves out, and refuses what it makes of that.

    Before:
    ```mlir
    %s = memref.subview %a[1, 1, 3] [1, 6, 1] [1, 1, 1]
        : memref<?x?x?xf32, strided<[?, ?, ?]>> to memref<1x6xf32, strided<[?, ?], offset: ?>>
    ```

    After:
    ```mlir
    %all = memref.subview %a[1, 1, 3] [1, 6, 1] [1, 1, 1]
        : memref<?x?x?xf32, strided<[?, ?, ?]>> to memref<1x6x1xf32, strided<[?, ?, ?], offset: ?>>
    %base, %offset, %sizes:3, %strides:3 = memref.extract_strided_metadata %all : ...
    %s = memref.reinterpret_cast %base to offset: [%offset], sizes: [1, 6], strides: [%strides#0, %strides#1]
        : memref<f32> to memref<1x6xf32, strided<[?, ?], offset: ?>>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def DropEmptyPieces : Pass<"xetile-drop-empty-pieces"> {
  let summary = "Pad, concatenate and cut without the tensors that have no elements";
  let description = [{
    Before: `%t = tensor.concat dim(0) %a, %nothing : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>`

    After: `%a`. A padded tensor of no elements is generated; what has none itself, a slice too, is a tensor.empty. Slices
    of no elements that are inserted are dropped.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InlineAllocaScopes : Pass<"xetile-inline-alloca-scopes"> {
  let summary = "Take the scopes of stack memory away that bodies of parallel loops are in";
  let description = [{
    Before:
    ```mlir
    memref.alloca_scope {
      %scratch = memref.alloca() : memref<16xf32>
      ...
    }
    ```

    After, without the stack's ops where nothing is allocated:
    ```mlir
    %stack = llvm.intr.stacksave : !llvm.ptr
    %scratch = memref.alloca() : memref<16xf32>
    ...
    llvm.intr.stackrestore %stack : !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def OutlineLoops : Pass<"xetile-outline-loops", "::mlir::ModuleOp"> {
  let summary = "Make functions of the loop nests of long functions, one of equal nests";
  let description = [{
    Before, twice: `linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)` with other operands

    After: `call @f_loops(%a, %b)`, with other operands, and
    ```mlir
    func.func private @f_loops(%a: memref<8xf32>, %b: memref<8xf32>) {  // internal, not inlined
      linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
      return
    }
    ```
    Operands that are views in strided memory are passed with offsets and outermost strides that the run knows.
  }];
  let options = [
    Option<"fromNests", "from-nests", "int64_t", "24", "Loop nests of the shortest function that is cut">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def SplitFrozen : Pass<"xetile-split-frozen", "::mlir::ModuleOp"> {
  let summary = "Make a function of what depends on frozen arguments only, such as packed weights";
  let description = [{
    Who calls promises that the elements of arguments with the attribute `xetile.frozen` stay, calls the second function
    once and passes its results. Numbers on arguments tell what they are: those of the first function's arguments before,
    or of the second one's results. Nothing is kept that has more than twice the bytes of the arguments that it is made
    of. Functions with sizes that the run knows stay whole.

    Before:
    ```mlir
    func.func @f(%x: tensor<8x64xf32>, %w: tensor<64x32xf32> {xetile.frozen}) -> tensor<8x32xf32> {
      %p = ... %w ... : tensor<2x64x16xf32>
      %r = ... %x, %p ... : tensor<8x32xf32>
      return %r : tensor<8x32xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<8x64xf32> {xetile.argument = 0}, %p: tensor<2x64x16xf32> {xetile.packed = 0})
        -> tensor<8x32xf32> {
      %r = ... %x, %p ... : tensor<8x32xf32>
      return %r : tensor<8x32xf32>
    }
    func.func @f_freeze(%w: tensor<64x32xf32> {xetile.argument = 1}) -> tensor<2x64x16xf32> {
      %p = ... %w ... : tensor<2x64x16xf32>
      return %p : tensor<2x64x16xf32>
    }
    ```
    Refused: a module that has `@f_freeze`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ReplacePoison : Pass<"xetile-replace-poison"> {
  let summary = "Let tensors of poison hold anything, in memory, and make numbers of poison zeros";
  let description = [{
    Before: `%p = ub.poison : tensor<8x8xf32>`, `%n = ub.poison : f32`

    After: `%p = tensor.empty() : tensor<8x8xf32>`, `%n = arith.constant 0.0 : f32`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def DropScheduleMarks : Pass<"xetile-drop-schedule-marks"> {
  let summary = "Forget which schedule took which op";
  let description = [{
    Before: `module attributes {xetile.fused}`, `linalg.generic {xetile.schedule = "cpu_rows", ...} ...`

    After: the same without these attributes, which steps on tensors look at.
  }];
}

def NumberOps : Pass<"xetile-number-ops", "::mlir::ModuleOp"> {
  let summary = "Write the number of each linalg op into its location";
  let description = [{
    So that `xetile-tell-ops` finds what passes in between made of it. Numbers are those of a walk, from 0.

    Before: `linalg.generic {...} { ... arith.addf ... } loc("model.py":3:0)`

    After: the same, it and what is in its body with `loc("#7"("model.py":3:0))`.
  }];
}

def TellOps : Pass<"xetile-tell-ops", "::mlir::ModuleOp"> {
  let summary = "Remark what became of numbered linalg ops";
  let description = [{
    Changes nothing. For each number that `xetile-number-ops` wrote, one remark at the module says where its computation is:
    `7: in the loops of matmul 5`, `7: in blocks of rows with 3, 4`, `7: in one loop nest with 8`, `7: a loop nest of its own`.
    Numbers that are nowhere have none.
  }];
}

#endif // XETILE_TARGET_CPU_PASSES_TD

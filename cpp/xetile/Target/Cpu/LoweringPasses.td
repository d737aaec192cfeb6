//===- LoweringPasses.td - from memory to the LLVM dialect -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERINGPASSES_TD
#define XETILE_TARGET_CPU_LOWERINGPASSES_TD

include "mlir/Pass/PassBase.td"

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

def ShareOps : Pass<"xetile-share-ops"> {
  let summary = "Give each thread its share of a linalg op on memory that takes long";
  let description = [{
    Windows that are copied for convolutions, poolings, pads and transposes are loop nests of their own, without
    threads. Before:
    ```mlir
    linalg.pooling_nchw_max ins(%x, %window : memref<1x64x112x112xf32>, memref<3x3xf32>) outs(%y : memref<1x64x110x110xf32>)
    ```
    After, for two threads:
    ```mlir
    scf.forall (%thread) in (2) {
      %first = affine.apply affine_map<(d0) -> (d0 * 32)>(%thread)
      %from = memref.subview %x[0, %first, 0, 0] [1, 32, 112, 112] [1, 1, 1, 1] : ...
      %to = memref.subview %y[0, %first, 0, 0] [1, 32, 110, 110] [1, 1, 1, 1] : ...
      linalg.pooling_nchw_max ins(%from, %window : ...) outs(%to : ...)
    }
    ```
    The outermost dimension of the result that threads share nearly evenly is cut. What takes three times
    as long as starting threads is shared by all of them, as long as each computes for a quarter of that. Left alone: what is in a loop of threads; microkernels; sizes that
    only the run knows; short ops.
  }];
  let options = [Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
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

def OutlineTiles : Pass<"xetile-outline-tiles", "::mlir::ModuleOp"> {
  let summary = "Make functions of products of tiles with fewer rows or columns than tile registers have";
  let description = [{
    LLVM configures tile registers, of which there are eight, once for a function: it has room for blocks of two by two
    tiles of 16 x 16 sums, or for those of one other size.

    Before, the last 13 of 77 rows, behind a loop over whole blocks:
    ```mlir
    scf.for %n = %c0 to %c512 step %c32 {
      scf.execute_region {
        ...
        %sum = amx.tile_mulf %a, %b, %carried
            : !amx.tile<13x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<13x16xf32>
        ...
      }
    }
    ```
    After: `call @f_tiles(...)`, and
    ```mlir
    func.func private @f_tiles(...) {  // internal, not inlined
      scf.for %n = ... {
        ...
      }
      return
    }
    ```
    A function takes all of the loops around that hold no tiles of other sizes: it is called once for a thread where
    there are none.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def JoinOnce : Pass<"xetile-join-once"> {
  let summary = "Let threads wait for one another once where a parallel loop ends";
  let description = [{
    `convert-scf-to-openmp` makes a parallel region of a loop, with a barrier behind the loop; another one ends the region.

    Before: `omp.parallel { omp.wsloop { ... } omp.terminator }`

    After: `omp.parallel { omp.wsloop nowait { ... } omp.terminator }`
  }];
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
    their error; where more than 32 would be added in a row, parts of 16 are summed from zero, in registers. An index of an operand may be a sum, as in the window of a convolution or a pooling of stride 1. Ops
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

def InlineGelu : Pass<"xetile-inline-gelu"> {
  let summary = "Compute GELUs that are rounded to bf16 or f16 by one polynomial";
  let description = [{
    Before (nothing else uses `%y`; factors and summands in any order, `math.erfc` of -x instead of 1 + erf, too):
    ```mlir
    %scaled = arith.mulf %x, %half_root : vector<16xf32>
    %erf = math.erf %scaled : vector<16xf32>
    %more = arith.addf %erf, %one : vector<16xf32>
    %half = arith.mulf %x, %point_five : vector<16xf32>
    %y = arith.mulf %half, %more : vector<16xf32>
    %narrow = arith.truncf %y : vector<16xf32> to vector<16xbf16>
    ```
    After, with the share p of a normal distribution below -|x|, a power of 2 with a polynomial of |x| as its exponent:
    ```mlir
    %p = ... : vector<16xf32>
    %above = arith.subf %one, %p : vector<16xf32>
    %negative = arith.cmpi slt, %bits, %zero : vector<16xi32>
    %share = arith.select %negative, %p, %above : vector<16xi1>, vector<16xf32>
    %y = arith.mulf %x, %share : vector<16xf32>
    ```
    and `%y` rounded by integer arithmetic, for f16 by `arith.truncf`. Relative errors before that rounding are below
    2^-13 for bf16, 2^-17 for f16, where both have all their bits; for bf16 below 2^-11 where x < -6. From -12.9 down a
    result of bf16 is -0, where it would be less than 2^-121, of -infinity NaN. It needs FMA, which `vector-bits` of 256
    and more stand for. GELUs in f32 are computed as they are written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of a vector register; 0 for what the machine has (DLTI attributes, else this one)">
  ];
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
    With 512, exp of 16 lanes ends with AVX-512's `vscalefps`, which gives the same numbers; `host-instructions` asks this
    machine, too, as a description of another one has its vectors' sizes, which LLVM splits.

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
    Option<"libmvec", "libmvec", "bool", "true", "Call glibc's functions on vectors; without, libm's for each lane">,
    Option<"hostInstructions", "host-instructions", "bool", "false",
           "Use no instruction that this machine does not have, whatever vector-bits is">
  ];
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

#endif // XETILE_TARGET_CPU_LOWERINGPASSES_TD

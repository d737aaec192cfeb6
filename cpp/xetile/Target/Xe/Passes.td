//===- Passes.td - from XeTile to SPIR-V and machine code ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_PASSES_TD
#define XETILE_TARGET_XE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Blocking : Pass<"xetile-blocking"> {
  let summary = "Cut subgroup-level XeTile into blocks of the hardware's sizes";
  let description = [{
    Each access gets an `init_tile` of its own, so that loops carry offsets instead of tiles. Loads and stores get the
    `inner_blocks` of the planner's 2D block messages, as large as the chip allows; `tile_mma` the blocks that its matrix
    unit multiplies; elementwise operations, reductions and loop-carried values those of the `tile_mma` that they are tied
    to, else 8 x 16. `tile_unpack` and `tile_pack` stand between values in different blocks, and none where they agree;
    between blocks that are slices of one another they cost nothing later. Operations without a rule, as
    `tile_transpose`, get whole vectors. The meaning of the code stays the same.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<32x32xf16>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    %d = xetile.tile_mma %a, %b, %c : vector<32x32xf16>, vector<32x64xf16>, vector<32x64xf32> -> vector<32x64xf32>
    ```
    After:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16>
        -> !xetile.tile<32x32xf16, #xetile.tile_attr<inner_blocks = [32, 16]>>
    %l = xetile.load_tile %t : !xetile.tile<32x32xf16, #xetile.tile_attr<inner_blocks = [32, 16]>> -> vector<1x2x32x16xf16>
    %u = xetile.tile_unpack %l {inner_blocks = array<i64: 32, 16>} : vector<1x2x32x16xf16> -> vector<32x32xf16>
    %a = xetile.tile_pack %u {inner_blocks = array<i64: 8, 16>} : vector<32x32xf16> -> vector<4x2x8x16xf16>
    %d = xetile.tile_mma %a, %b, %c : vector<4x2x8x16xf16>, vector<2x4x16x16xf16>, vector<4x4x8x16xf32> -> vector<4x4x8x16xf32>
    ```
    Where a, b and the result of a `tile_mma` do not fit the registers together, it becomes one for each slice of k.
    Operands that are made of loads of the same block, used only there and with no write to memory between, are loaded
    slice by slice, right before the multiplication of the slice.

    The chip is that of the enclosing `gpu.module`'s `#xevm.target`, or the option `chip`. Refused, each with an error at
    the operation: workgroup maps, operands of `tile_mma` that blocks do not fill, more values than the registers hold,
    multiplications of more than 4096 `dpas`, tiles of several matrices in one value, tiles that come in as arguments.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::xetile::XeTileDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"\"",
        "GPU to block for (pvc, bmg, lnl) where no gpu.module with a #xevm.target encloses the code">
  ];
}

def ConvertXeTileToXeGPU : Pass<"convert-xetile-to-xegpu"> {
  let summary = "Lower subgroup-level XeTile to XeGPU operations of the hardware's sizes";
  let description = [{
    What is not in blocks is cut as by `xetile-blocking` first. Then each block is a vector of its own, and accesses
    become messages: descriptors are free of offsets, so that they leave loops as invariants, and a load takes several
    blocks at once, as many as the 2D block messages of the chip allow.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16>
        -> !xetile.tile<32x32xf16, #xetile.tile_attr<inner_blocks = [32, 16]>>
    %a = xetile.load_tile %t : !xetile.tile<32x32xf16, #xetile.tile_attr<inner_blocks = [32, 16]>> -> vector<1x2x32x16xf16>
    ```
    After:
    ```mlir
    %desc = xegpu.create_nd_tdesc %A : memref<1024x1024xf16>
        -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
    %blocks = xegpu.load_nd %desc[%m, %k] <{...}> : ... -> vector<2x32x16xf16>
    %left = vector.extract %blocks[0] : vector<32x16xf16> from vector<2x32x16xf16>
    ```
    Tiles with `order = [0, 1]` are loaded by transposing messages.

    The 2D unit wants a base, pitch, width and place that are aligned. Where the types tell that it cannot take a matrix,
    where the tile is in shared local memory or scattered, and for `atomic_rmw_tile`, the elements are accessed one by
    one: `xegpu.load`, `store` and `atomic_rmw` with an offset for each and a mask of those that are in the matrix. Where only
    a run can tell, a function that multiplies tests its matrices once and has its body twice, behind a uniform branch;
    accesses to matrices that are made later, and those of other functions, test for themselves. Padding other than zero is selected by the same masks.

    Refused, each with an error at the operation: what `xetile-blocking` refuses, and operations on vectors of blocks
    that have no rule.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect", "::mlir::xegpu::XeGPUDialect", "::xetile::XeTileDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"\"",
        "GPU to lower for (pvc, bmg, lnl) where no gpu.module with a #xevm.target encloses the code">
  ];
}

def AttachTarget : Pass<"xetile-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say for which chip every gpu.module is compiled";
  let description = [{
    Puts `#xevm.target` on each `gpu.module`. The chip must be in the table of `xetile/Facts/TargetInfo.h`; a module that
    has a target of another chip is an error, one with the same chip stays as it is, but for an optimization level that
    is asked for.

    Upstream's XeGPU passes know fewer chips than ocloc does: for those the attribute names the chip with the same core,
    and its flags keep the one that was asked for.

    ```mlir
    gpu.module @kernels {}
    // --xetile-attach-target="chip=pvc"
    gpu.module @kernels [#xevm.target<chip = "pvc">] {}
    // --xetile-attach-target="chip=lnl"
    gpu.module @kernels [#xevm.target<chip = "bmg", flags = {xetile.chip = "lnl"}>] {}
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"pvc\"", "Chip to compile for">,
    Option<"optLevel", "O", "int", "-1",
           "Optimization level of the LLVM IR, 0 to 3 (-1: that of the module's target, else 2)">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::xevm::XeVMDialect"];
}

def CheckBlockAccesses : Pass<"xetile-check-block-accesses", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check 2D block messages against the device's limits";
  let description = [{
    Upstream's passes accept any surface and emit 2D block messages for it. This checks the shape of each message, and the
    width, height and pitch of its surface where they are constants, against the table of `xetile/Facts/TargetInfo.h`.

    ```mlir
    // a row of 1001 f16 is 2002 bytes
    // error: 'xevm.blockload2d' op cannot run on pvc: width of the surface is 2002 bytes, expected a multiple of 4
    ```
  }];
}

def EmitBinary : Pass<"xetile-emit-binary", "::mlir::ModuleOp"> {
  let summary = "Turn each gpu.module into a gpu.binary with validated SPIR-V";
  let description = [{
    Input: `gpu.module`s with a `#xevm.target` and nothing but the LLVM dialect inside. For each: LLVM IR, its
    optimization, vectors of more than 16 elements split, SPIR-V 1.4 that the validator of SPIRV-Tools accepts, and where
    ocloc is found, machine code.

    With `large-register-file=auto` machine code that spills is made again with twice the registers for half the threads,
    for each module and chip, and what spills less stays. Its property `registers` tells which one that is. Where
    `xetile-distribute-to-lanes` estimated that vectors alone need a quarter more than the small file has, only the large
    one is tried. A kernel that spills gets a warning that names the vectors that live at once.

    The first object of the `gpu.binary` is the SPIR-V: it is what the host program embeds. Machine code follows, with
    properties that say what it is:

    ```mlir
    gpu.binary @kernels [
      #gpu.object<#xevm.target<chip = "pvc">, bin = "...">,
      #gpu.object<#xevm.target<chip = "pvc">, properties = {chip = "pvc", kind = "native", registers = 128 : i64, spill = 0 : i64}, bin = "...">]
    ```

    Loops count in 32 bits where that is enough, and their prefetches go by address payloads that are made before the
    loop (`prefetch-payloads`); stores, and loads outside of loops, share one. Where a chip's messages carry offsets, two
    steps of a loop that multiplies matrices become one. `docs/machine-code.md` tells what each is worth.

    Upstream's `gpu-module-to-binary` is replaced because its loop strength reduction yields SPIR-V that is not valid.
    The SPIR-V has no cache hints: the validators of Debian 12 and 13 do not know SPV_INTEL_cache_controls. With
    `cache-controls` the machine code is made of the same SPIR-V with that extension, and its loads, stores and prefetches
    have them: `load_block2d.ugm.d32.a64.ri.ca` for a prefetch of locality 0, `.ca.ca` for locality 3.

    Kernels whose functions have debug scopes, as upstream's `ensure-debug-info-scope-on-llvm-func` gives them
    (`line-tables` of the pipelines), name the lines of their operations' locations: the SPIR-V by OpLine in scopes of
    OpenCL.DebugInfo.100, the machine code in `.debug_line`, which profilers and `llvm-dwarfdump` read.
  }];
  let options = [
    Option<"native", "native", "std::string", "\"auto\"",
           "Machine code: 'auto' (if ocloc is found), 'require' or 'off'">,
    ListOption<"nativeChips", "native-chips", "std::string",
               "Chips to make machine code for (default: the target's own)">,
    Option<"largeRegisterFile", "large-register-file", "::xetile::RegisterFile", "::xetile::RegisterFile::Auto",
           "Machine code with 256 registers per thread: true, false, or auto (where it spills less)",
           "::xetile::registerFileValues(), ::llvm::cl::ValueOptional">,
    Option<"cacheControls", "cache-controls", "bool", "false", "Give machine code the cache hints of its accesses">,
    Option<"prefetchPayloads", "prefetch-payloads", "bool", "true",
           "Prefetch, store, load once by address payloads, functions of Intel's library; false: by OpenCL's alone">,
    Option<"ocloc", "ocloc", "std::string", "\"\"",
           "Path of ocloc (default: $XETILE_OCLOC, then PATH, then XeTile's cache)">,
    Option<"dumpDir", "dump-dir", "std::string", "\"\"",
           "Directory to write <kernel>.spv, <kernel>.ll and <kernel>.<chip>.bin to">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::xevm::XeVMDialect"];
}

def AllocateSharedMemory : Pass<"xetile-allocate-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give shared local memory of static size to the kernel, not to its launch";
  let description = [{
    Upstream makes a `workgroup(..)` attribution a parameter that a launch without `dynamic_shared_memory_size` leaves
    unset, and has no lowering for `memref.alloca` in shared memory. Both become globals, which every workgroup has its
    own of. `#gpu.address_space<workgroup>` becomes memory space 3.

    ```mlir
    gpu.func @f() workgroup(%m : memref<16x16xf32, 3>) kernel { ... }
    // becomes
    memref.global "private" @shared : memref<16x16xf32, 3> = uninitialized {alignment = 64 : i64}
    gpu.func @f() kernel { %m = memref.get_global @shared : memref<16x16xf32, 3> ... }
    ```
    Refused, each with an error at the operation: shared memory of a size that is not static,
    `gpu.dynamic_shared_memory`, `memref.alloc` in device code.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def WidenBf16 : Pass<"xetile-widen-bf16", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Compute with bf16 in f32, operation by operation";
  let description = [{
    SPIR-V has no arithmetic on bf16. Each operation computes in f32 and rounds its result, as hardware with bf16
    arithmetic would.

    ```mlir
    %y = arith.mulf %x, %x : vector<8xbf16>
    // becomes
    %w = arith.extf %x : vector<8xbf16> to vector<8xf32>
    %p = arith.mulf %w, %w : vector<8xf32>
    %y = arith.truncf %p : vector<8xf32> to vector<8xbf16>
    ```
    Contractions and reductions sum in f32 and round once. What is rounded from f64 to bf16 is rounded to an odd f32 before, of
    which the second rounding gives what one alone would.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def MathToOpenCL : Pass<"xetile-math-to-opencl", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Call OpenCL's functions where LLVM has none, or a wrong one, and compute those of f16 in f32";
  let description = [{
    Inverse hyperbolic functions, cube roots, `erfc`, and `erf` of f64 are OpenCL's alone. Upstream writes `expm1` and `log1p` as a
    difference and a logarithm of a sum, which have no digits left near zero.

    ```mlir
    %y = math.asinh %x : vector<2xf32>
    // becomes
    %x0 = vector.extract %x[0] : f32 from vector<2xf32>
    %y0 = llvm.call spir_funccc @_Z5asinhf(%x0) : (f32) -> f32
    ...
    %y = vector.from_elements %y0, %y1 : vector<2xf32>
    ```
    Functions of f16 are computed in f32 and rounded once; roundings, magnitudes and products stay what they are. A call for each
    element of a vector of over 4096, more than a subgroup's registers hold, is refused, as are scalable vectors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def RoundToBf16 : Pass<"xetile-round-to-bf16", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Round f32 to bf16 by functions of Intel's library that are one instruction";
  let description = [{
    Without instructions of its own, a conversion to bf16 is six operations on integers, and registers for what lies between.
    Intel's GPUs have it as a `mov`, which the functions below become; devices without them get these from the runtime. NaN stays
    NaN, ties go to even.

    ```mlir
    %y = arith.truncf %x : vector<24xf32> to vector<24xbf16>
    // becomes, piece by piece of 16, 8, 4, 2 and 1
    %x0 = vector.extract_strided_slice %x {offsets = [0], sizes = [16], strides = [1]} : vector<24xf32> to vector<16xf32>
    %y0 = llvm.call spir_funccc @__builtin_IB_ftobf_16(%x0) : (vector<16xf32>) -> vector<16xi16>
    ...
    %y = arith.bitcast %bits : vector<24xi16> to vector<24xbf16>
    ```
    Conversions of vectors of several dimensions stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"xetile-expand-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Write floating-point math in instructions that write no flags";
  let description = [{
    Intel's compiler decides by compares what is infinite, zero or NaN. It has eight flags of 16 lanes, which all rows of a
    softmax want at once: hundreds of instructions copy them to registers and back. In f32 `math.exp` becomes two powers of
    two, and quotients by one divisor share its reciprocal, each with the remainder of its own; both are right for all
    infinities, zeros, NaNs and subnormals, and wrong by at most 2.5 units of the last place. Of trees of
    `arith.maximumf` and `minimumf` only the leaves are tested for NaN; `maxnumf` and `minnumf` are one instruction.

    ```mlir
    %q = arith.divf %x, %s : vector<8xf32>
    %r = arith.divf %y, %s : vector<8xf32>
    // becomes, for positive numbers, with scale, negative and reciprocal of %s
    %d = arith.mulf %x, %scale : vector<8xf32>
    %p = arith.mulf %d, %reciprocal : vector<8xf32>
    %e = math.fma %p, %negative, %d : vector<8xf32>
    %f = llvm.intr.maxnum(%e, %below) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %q = math.fma %f, %reciprocal, %p : vector<8xf32>
    ```
    `math.tanh` is a polynomial near zero and a quotient of an exponential elsewhere, without a branch.
    `fastmath<afn>` and `fastmath<arcp>` leave exponentials, `tanh` and quotients to others. `math.erf`, which nothing behind this
    pass has, becomes upstream's polynomials, wrong by some units of the last place.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
      "::mlir::vector::VectorDialect"];
}

def Bf16ToI16 : Pass<"xetile-bf16-to-i16", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Hold bf16 values of device code as the integers of their bits";
  let description = [{
    A bf16 in SPIR-V, if only in a loop's value, needs SPV_KHR_bfloat16, which neither drivers nor the validators of Debian
    have. Arithmetic is done in f32 by then; what is left moves bits.

    ```mlir
    %x = llvm.load %p : !llvm.ptr<1> -> bf16
    // becomes
    %x = llvm.load %p : !llvm.ptr<1> -> i16
    ```
    Refused, with an error at the operation: arithmetic on bf16.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CheckXeGPUSupport : Pass<"xetile-check-xegpu-support", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Refuse XeGPU of lanes that upstream's lowering crashes on or lowers wrongly";
  let description = [{
    Upstream's pass from what a lane does to XeVM aborts, faults or gives wrong numbers on many programs, valid ones too.
    This pass takes what was seen to come out right, and refuses all else with an error at the operation. The table at the
    top of its source lists each known trigger.

    ```mlir
    %t = xegpu.update_nd_offset %d, [%c0, %c8] : !xegpu.tensor_desc<8x16xf16>
    // error: 'xegpu.update_nd_offset' op has no lowering at level lane: expected the offsets on the access, ...
    ```
  }];
  let dependentDialects = ["::mlir::xegpu::XeGPUDialect"];
}

def XeGPUWgToSg : Pass<"xetile-xegpu-wg-to-sg", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Distribute a workgroup's XeGPU over subgroups";
  let description = [{
    Layouts with `sg_layout` say which subgroup owns which pieces of a value: `sg_data` large, in turn, subgroups counted in
    `order`; subgroups along a dimension that a slice drops, or that is one piece, own the same. A layout stands on an
    operation (`layout`, `layout_a`, `layout_b`, `layout_cd`, `input_layout`, `target_layout`, `layout_result_0`) or on a
    descriptor; those of other values follow by the rules of the operations, to both sides. Each operation becomes one for
    each piece; where the pieces are is added to the offsets of accesses. Where an operation wants elements that its
    subgroup does not have, and for reductions over several subgroups, they go through shared local memory, in parts if all
    at once does not fit, with barriers. Functions without such layouts stay as they are.

    Before, for 4 x 2 subgroups:
    ```mlir
    #c = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>
    %t = xegpu.create_nd_tdesc %A : memref<1024x1024xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
    %v = xegpu.load_nd %t[%m, %n] : !xegpu.tensor_desc<64x64xf32, #c> -> vector<64x64xf32>
    ```
    After:
    ```mlir
    %id = gpu.subgroup_id : index
    %row = arith.divui %id, %c2 : index
    %column = arith.remui %id, %c2 : index
    ...
    %t = xegpu.create_nd_tdesc %A : memref<1024x1024xf32> -> !xegpu.tensor_desc<16x32xf32>
    %v = xegpu.load_nd %t[%m16, %n32] : !xegpu.tensor_desc<16x32xf32> -> vector<16x32xf32>
    ```
    Refused, each with an error at the operation: layouts that do not cover their value, contradict `dpas`, are for another
    number of subgroups or more than a workgroup has; values for which none follows; operations without a rule; chunks of
    scattered accesses that pieces cut; exchanges under control flow that may differ from subgroup to subgroup, or that need
    more shared local memory than there is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
      "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::xegpu::XeGPUDialect"];
}

def AssignLaneLayouts : Pass<"xetile-assign-lane-layouts", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Decide which lane holds what of each vector of a subgroup";
  let description = [{
    Each operation that gives a vector says in `xetile.lanes` what each lane holds of it, as a
    `#xetile.lane_layout`; loops, too, for what they carry. Layouts start at `dpas`, whose instruction wants them, then at
    stores and loads, which are to be whole messages, and follow the operations to both sides. Where two meet,
    `xetile.convert_lanes` stands; constants, offsets and masks are made again instead.

    ```mlir
    %a = xegpu.load_nd %t[%m, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    // becomes
    %a = xegpu.load_nd %t[%m, %k] {xetile.lanes = [#xetile.lane_layout<block = [8, 16],
        register = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]]>]} : ...
    ```
    A `lane_layout` and `lane_data` that a user gave decide which lanes hold what; registers stay the compiler's choice.
    Refused, each with an error at the operation: `dpas` that the device has no instruction for, layouts that do not
    cover the value or contradict the instruction.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::xetile::XeTileDialect"];
}

def DistributeToLanes : Pass<"xetile-distribute-to-lanes", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Leave of each vector what one lane holds";
  let description = [{
    A vector becomes one flat vector for each block of its layout, a descriptor the numbers that it is made of. Block
    accesses become the fewest 2D block messages that bring the layout, `dpas` becomes `xevm.mma` or the device's builtin;
    elements move by renaming, by selects and by shuffles. Offsets of each lane, masks, matrices in shared memory and
    surfaces that the 2D unit does not take become loads and stores of each lane. Before, each kernel gets an estimate of
    the registers that its vectors need at once, `xetile.register_estimate`.

    ```mlir
    %d = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    // becomes
    %d = xevm.mma %a, %b, %c {shape = <m = 8, n = 16, k = 16>, types = <d = f32, a = f16, b = f16, c = f32>}
        : (vector<8xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
    ```
    Refused, each with an error at the operation: what has no lowering, operations on vectors in control flow that
    differs from lane to lane.
  }];
  let options = [
    Option<"printCosts", "print-costs", "bool", "false",
           "Say at each operation that moves elements how many selects and shuffles that costs">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
      "::mlir::xevm::XeVMDialect"];
}

def NarrowIndices : Pass<"xetile-narrow-indices", "::mlir::gpu::GPUModuleOp"> {
  let summary = "computes with indices of kernels in 32 bits where 64 cost more";
  let description = [{
    Products, minima, maxima, quotients, remainders and comparisons of indices whose operands and
    result are known to lie between 0 and 2^31 - 1, by upstream's integer range analysis: Intel's
    vector engines have these in 32 bits, and take two to dozens of instructions for 64. What is
    known of a workgroup's number is `known_grid_size`, of a work-item's `known_block_size`. Sums
    and products with powers of two cost the same in 64 bits: they have 32 where they read such a
    result, in loops where all that they read is one, or where nothing but such operations reads
    them. Kernels with products on the matrix unit stay as they are.

    Before:
    ```mlir
    gpu.module @kernels {
      gpu.func @last_tile(%A: memref<1031xf32>) kernel attributes {known_grid_size = array<i32: 65, 1, 1>} {
        %c16 = arith.constant 16 : index
        %c1015 = arith.constant 1015 : index
        %block = gpu.block_id x
        %first = arith.muli %block, %c16 : index
        %last = arith.minui %first, %c1015 : index
        %x = memref.load %A[%last] : memref<1031xf32>
        memref.store %x, %A[%block] : memref<1031xf32>
        gpu.return
      }
    }
    ```
    After:
    ```mlir
    gpu.module @kernels {
      gpu.func @last_tile(%A: memref<1031xf32>) kernel attributes {known_grid_size = array<i32: 65, 1, 1>} {
        %c16 = arith.constant 16 : i32
        %c1015 = arith.constant 1015 : i32
        %block = gpu.block_id x
        %narrow = arith.index_castui %block : index to i32
        %first = arith.muli %narrow, %c16 : i32
        %min = arith.minui %first, %c1015 : i32
        %last = arith.index_castui %min : i32 to index
        %x = memref.load %A[%last] : memref<1031xf32>
        memref.store %x, %A[%block] : memref<1031xf32>
        gpu.return
      }
    }
    ```
    Refused: nothing.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // XETILE_TARGET_XE_PASSES_TD

//===- Passes.td - from XeTile to PTX ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_PASSES_TD
#define XETILE_TARGET_NVIDIA_PASSES_TD

include "mlir/Pass/PassBase.td"

def GroupWorkgroups : Pass<"xetile-group-workgroups", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Walk the tiles of C in groups of rows, for the second-level cache";
  let description = [{
    Workgroups that run at the same time read the same parts of A and B if their tiles of C form a square rather than a
    row. `gpu.block_id` x (the column of the tile) and y (its row) become those of the tile that a workgroup gets when
    `rows` rows of tiles are walked together, column by column. Every tile still has one workgroup.

    Before, in a grid of `gx` columns and `gy` rows:
    ```mlir
    %x = gpu.block_id x
    %y = gpu.block_id y
    ```
    After:
    ```mlir
    // number = y * gx + x, first = number / (rows * gx) * rows, inside = number % (rows * gx)
    // height = min(gy - first, rows)
    // y' = first + inside % height, x' = inside / height
    ```
    Kernels without both of them stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [Option<"rows", "rows", "int64_t", "8", "Rows of tiles that are walked together; 1 changes nothing">];
}

def PlanRing : Pass<"xetile-plan-ring", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Plan a kernel's ring of tiles in shared memory, and refuse what a Hopper GPU does not take";
  let description = [{
    Finds the k loop of a kernel, its `tile_mma`, the two tiles that this multiplies, and what follows on the sums up to
    the stores. The distance of the prefetches becomes the depth of a ring of buffers in shared memory: tiles are loaded
    to it that many steps ahead, so it has one stage more. The prefetches go. The plan is written at the kernel:

    ```mlir
    gpu.func @kernel(...) kernel attributes {
      xetile.ring = {stages = 4 : i64, stage_bytes = 49152 : i64, shared_bytes = 229408 : i64, threads = 256 : i64,
                     written = array<i64: 2>, pipeline = "simple"}}
    ```
    The option `pipeline` says who loads: `simple`, a thread of those that multiply; `specialized`, a warpgroup of its own,
    and workgroups walk over tiles; `auto`, the latter where there are more tiles than multiprocessors, or 32 steps
    along k and more.

    Matrices whose rows are no multiples of 16 bytes apart, and those of types other than 2 bytes that are not adjacent
    along k, are copied by threads of that warpgroup: in units of up to 16 bytes that divide the rows, which the arrays
    have to begin at (`aligned`). `loads = plain` says so of sizes of a run.

    A kernel of several products is an attention: queries, loaded once, times keys, and what is computed of these scores
    times values, in one loop over keys, or in several that go on with each other's results, as those of a causal mask. A
    stage of the ring then has the keys and the values of a step, and the pipeline is `specialized`. What is computed
    between the products stays in registers: elementwise operations, comparisons of places, loads of masks, broadcasts, and
    maxima and sums along rows. Three options say how: `overlap`, `lazy`, `counter`.

    A kernel without products has the pipeline `threads`: they share a workgroup's tile in chunks of 16 bytes of a row, and
    shared memory is for reductions and scans.

    Refused, each with an error at the operation: kernels of another form; operands of `tile_mma` that are no loads of a
    matrix that the kernel takes as argument, alone or in a batch; types other than f16, bf16 and f32 with
    sums in f32, and i8 with sums in i32; tiles that wgmma does not
    multiply (a subgroup is a warpgroup: multiples of 64 rows each, of 64 columns and of 128 bytes along k); more sums than
    registers hold; more shared memory than 227 KB; elementwise operations that need other threads' values.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::xetile::XeTileDialect"];
  let options = [Option<"pipeline", "pipeline", "std::string", "\"auto\"",
      "Who loads: simple, specialized, or auto, which takes the latter where workgroups compute several tiles or have "
      "many steps along k">,
      Option<"loads", "loads", "std::string", "\"auto\"",
      "plain: without TMA, for sizes of a run whose rows are no multiples of 16 bytes; auto: where that is known">,
      Option<"overlap", "overlap", "bool", "true",
      "Of an attention, multiply scores of the next keys before the powers of these">,
      Option<"lazy", "lazy", "std::string", "\"auto\"",
      "Of an attention, multiply the output for a new maximum only where that is much larger: true, false, or auto, where "
      "that gains">,
      Option<"counter", "counter", "bool", "true",
      "Of an attention, workgroups draw tiles from a counter instead of every so many">];
}

def RelaxNarrowed : Pass<"xetile-relax-narrowed", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Allow less exact powers and quotients of f32 where bf16 or f16 is all that is kept of them";
  let description = [{
    Softmax and logistic functions of bf16 and f16 compute in f32, and round. Their `math.exp` gets `fastmath<afn>`, and
    their `arith.divf` `fastmath<arcp>`, which `xetile-approximate-math` writes in 2 instructions of PTX instead of 8, and
    as `div.full`. That is off by 2^-17 at most; what is below 2^-126 stays, as others may divide by it.

    ```mlir
    %e = math.exp %x fastmath<afn> : vector<1x4096xf32>
    %sum = xetile.tile_reduce <add> %e, [1] : vector<1x4096xf32> -> vector<1x1xf32>
    %all = xetile.tile_broadcast %sum, [1] : vector<1x1xf32> -> vector<1x4096xf32>
    %p = arith.divf %e, %all fastmath<arcp> : vector<1x4096xf32>
    %d = arith.truncf %p : vector<1x4096xf32> to vector<1x4096xbf16>
    ```
    Every use has to lead to a float of 16 bits or fewer, through products, quotients, extremes, selections, reductions,
    broadcasts and what loops carry; sums are those of powers, and of such sums; for powers also through sums with constants. Others stay as they are.
  }];
}

def ConvertXeTileToNVVM : Pass<"convert-xetile-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower planned kernels to what one thread does, in NVVM";
  let description = [{
    A kernel with `xetile.ring` becomes the code of one thread:
    - One thread has the copy engine (TMA) load the tiles of A and B, `stages - 1` steps ahead, to buffers with 128-byte
      swizzle. Each stage has a barrier that counts its bytes. What is outside of the matrices arrives as zeros.
    - Each warpgroup multiplies its rows by `wgmma`, operands by descriptors in either order, sums in registers. When all
      have read a stage, it is filled again.
    - In the pipeline `specialized` a warpgroup more loads, and gives registers to the others (setmaxnreg). A second barrier
      of each stage counts the warpgroups that have read it. Workgroups walk over tiles, as many as the device runs at once,
      so that the next tile's stages fill while one is stored. The numbers of tiles are a parameter, `xetile.grid`.
    - Of an attention, powers are the operand of the second product in the registers in which they were computed: two
      groups of 8 columns are what wgmma takes for 16 of k. `tile_reduce` along rows is made of shuffles of four threads; a
      `tile_mma` with a constant of sums of rows, of powers as they were before they were rounded, each thread's own until
      the last step.
    - With `overlap` the scores of a step are multiplied before the powers of the step before, which run while those of this
      step are computed; warpgroups take turns at products by named barriers, and leave out the steps that none of their
      own queries sees: behind a mask's end, or behind the last query. With `lazy` the output is multiplied for a new
      maximum only where a row's has grown by more than 8 in the exponent; until then the old one serves. With `counter`
      workgroups draw tiles from a counter in memory, one ahead, the longest first where a mask ends rows.
    - Kernels of the pipeline `threads` compute on a vector for each chunk, loaded and stored at once where it is inside of
      its matrix. Reductions are made by shuffles within a warp, and through shared memory between warps.
    - Tiles that TMA does not take are copied by that warpgroup's threads, by cp.async or through registers, and results
      with such rows are stored element by element.
    - Elementwise operations work on pairs of sums in registers. `store_tile` goes through two buffers of each warpgroup
      (stmatrix) to TMA, which drops what is outside.

    - f32 is multiplied exactly where `xetile.tf32` does not allow to round it: each element is split into two parts in
      registers, the first 11 bits of its significand and the rest, and `mma.sync` of tf32 multiplies high and low parts,
      low and high, high and high. Sums of 32 products of k are made by the matrix unit, which cuts them, and added in
      f32. Infinities and NaNs are those of f32; what is below 2^-136 of a number is lost. Operands may have either order.

    Each matrix that TMA accesses has a tensor map: a global that `xetile-pass-tensor-maps` makes a parameter.

    ```mlir
    llvm.mlir.global external @kernel_map0() {xetile.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>}}
        : !llvm.array<128 x i8>
    gpu.func @kernel(...) {
      nvvm.mbarrier.init %full, %one : !llvm.ptr<3>, i32
      ...
      %sums = scf.for %step = %0 to %steps step %1 iter_args(...) {
        nvvm.mbarrier.try_wait.parity %full, %phase, %ticks : !llvm.ptr<3>, i32, i32
        nvvm.wgmma.fence.aligned
        %next = nvvm.wgmma.mma_async %a, %b, %sums, <m = 64, n = 256, k = 16>, ...
    ```
    Refused: what `xetile-plan-ring` refuses.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ApproximateMath : Pass<"xetile-approximate-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Write functions of f32 that PTX does not have as polynomials";
  let description = [{
    Upstream's approximations of `math.log` and others, exact to a few units in the last place, on vectors as well as on
    numbers: there is no library of device functions to call. `math.exp`, `math.tanh` and `math.erf` have ones of their
    own, of a third to half of the instructions, by `ex2.approx`; `math.exp` with `fastmath<afn>` is the square of
    one power of 2 of half the exponent, and a quotient with `fastmath<arcp>` `div.full`. Quotients `c / x` of f32 with
    a constant of at most 1 are `div.approx` where bf16 or f16 is all that is kept of them, and of 1 and a power, as a
    logistic function's, `rcp.approx.ftz`. Powers that constants are added to are `ex2.approx.ftz`: below 2^-126 they
    are nothing beside these. Functions that PTX has become LLVM's intrinsics.

    ```mlir
    %y = math.sqrt %x : vector<2xf32>
    // becomes
    %y = llvm.call_intrinsic "llvm.sqrt"(%x) : (vector<2xf32>) -> vector<2xf32>
    ```
    Refused: functions that are left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect",
      "::mlir::ub::UBDialect", "::mlir::LLVM::LLVMDialect"];
}

def PassTensorMaps : Pass<"xetile-pass-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Make tensor maps parameters of their kernels";
  let description = [{
    Globals with `xetile.tensor_map`, and behind them one with `xetile.grid`, become parameters of the kernel that uses them, behind those that it has, passed by
    value as the copy engine reads them. What the host fills them with is written at the kernel. The threads of a
    workgroup are those of `xetile.ring`.

    ```mlir
    llvm.func @kernel(..., %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64, nvvm.grid_constant})
        attributes {xetile.tensor_maps = [#map], nvvm.reqntid = array<i32: 256, 1, 1>}
    ```
    Refused: a map that functions other than one kernel use.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def EmitPtx : Pass<"xetile-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Compile kernels to PTX";
  let description = [{
    Each `gpu.module` becomes a `gpu.binary` of PTX, which the driver of the GPU compiles. LLVM's NVPTX back end makes it
    in this process; no toolkit is needed. What the host has to know of each kernel stays beside it.

    ```mlir
    gpu.module @kernels [#nvvm.target<chip = "sm_90a">] { llvm.func @kernel ... }                        // before
    gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, properties = {...}, assembly = "...">]   // after
    ```
    Refused: other dialects than LLVM and NVVM in kernels; calls of functions that are not in the module.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def LaunchByCuda : Pass<"xetile-launch-by-cuda", "::mlir::ModuleOp"> {
  let summary = "Launch kernels by the runtime library for CUDA's driver";
  let description = [{
    A `gpu.launch_func` becomes calls of `cpp/runtime/cuda`: begin, one call for each argument and each tensor map, the
    launch. PTX becomes a constant; the runtime has the driver compile it at the first launch, copies arrays that are in
    the host's memory to the device and those that the kernel writes back, and waits.

    ```mlir
    gpu.launch_func @kernels::@kernel blocks in (%x, %y, %z) threads in (%t, %1, %1) args(%a : memref<1024x1024xbf16>)
    // becomes
    %launch = func.call @xetileCudaBegin(%slot, %ptx, %name, %shared) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
    func.call @xetileCudaMatrix(%launch, %address, %offset, %access, %bits, %rank, %size0, %size1, %stride0, %stride1)
    func.call @xetileCudaMap(%launch, %argument, %kind, %inner, %outer)
    func.call @xetileCudaLaunch(%launch, %x, %y, %z, %threads)
    ```
    Refused: launches of kernels that have no PTX, arguments that are no memrefs of at most 5 dimensions, integers or
    floats, launches that wait for others or ask for clusters.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
      "::mlir::memref::MemRefDialect"];
}

#endif // XETILE_TARGET_NVIDIA_PASSES_TD

//===- Passes.td - from device code in the LLVM dialect to a binary ---------===//
#ifndef XETILE_BINARY_PASSES_TD
#define XETILE_BINARY_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"xetile-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say for which chip every gpu.module is compiled";
  let description = [{
    Puts `#xevm.target` on each `gpu.module`. The chip must be in the table of `xetile/Target/TargetInfo.h`; a module that
    has a target of another chip is an error, one with the same chip stays as it is.

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
    Option<"optLevel", "O", "unsigned", "2", "Optimization level of the LLVM IR, 0 to 3">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::xevm::XeVMDialect"];
}

def CheckLowered : Pass<"xetile-check-lowered", "::mlir::ModuleOp"> {
  let summary = "Fail where a lowering left its input behind";
  let description = [{
    Upstream's passes succeed with ops left that they could not lower. Each op inside the `gpu.module`s (`scope=device`)
    or outside of them (`scope=host`) is an error at that op if its dialect or full name is in `forbid`, or if `allow` is
    given and names neither.

    ```mlir
    // --xetile-check-lowered="forbid=xegpu,gpu.warp_execute_on_lane_0 after=xegpu-subgroup-distribute"
    gpu.warp_execute_on_lane_0(%lane)[16] { ... }
    // error: 'gpu.warp_execute_on_lane_0' op is left in device code after xegpu-subgroup-distribute: ...
    ```
  }];
  let options = [
    Option<"scope", "scope", "std::string", "\"device\"", "'device' or 'host'">,
    ListOption<"forbid", "forbid", "std::string", "Dialects and full op names that must be gone">,
    ListOption<"allow", "allow", "std::string", "The only dialects and full op names that may be left">,
    Option<"after", "after", "std::string", "\"\"", "What should have lowered them, for the message">,
    Option<"hint", "hint", "std::string",
        "\"nothing lowers it in this form, change its shape, types or layout\"", "What to do, for the message">
  ];
}

def CheckBlockAccesses : Pass<"xetile-check-block-accesses", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Check 2D block messages against the device's limits";
  let description = [{
    Upstream's passes accept any surface and emit 2D block messages for it. This checks the shape of each message, and the
    width, height and pitch of its surface where they are constants, against the table of `xetile/Target/TargetInfo.h`.

    ```mlir
    // a row of 1001 f16 is 2002 bytes
    // error: 'xevm.blockload2d' op cannot run on pvc: width of the surface is 2002 bytes, expected a multiple of 4
    ```
  }];
}

def CopyLaunchOperands : Pass<"xetile-copy-launch-operands", "::mlir::ModuleOp"> {
  let summary = "Copy host buffers to the device around each kernel launch";
  let description = [{
    A `gpu.launch_func` takes device memory. For every memref operand that is not from a `gpu.alloc` of the same function
    this inserts `gpu.alloc` and a copy before the launch, a copy back after it if the kernel may write through that
    argument, and `gpu.dealloc`. An operand passed twice is copied once. Two operands that are different views of one
    buffer share one copy of the whole buffer, so what aliases on the host aliases on the device.

    A memref may be dynamic, have an offset and strides: the bytes from its first to its last element are copied, and
    the launch gets a view with the same sizes and strides.

    ```mlir
    gpu.launch_func @k::@gemm blocks in (%c4, %c4, %c1) threads in (%c512, %c1, %c1)
        args(%a : memref<256x256xf16>, %c : memref<256x256xf32>)
    // becomes
    %da = gpu.alloc () : memref<256x256xf16>
    gpu.memcpy %da, %a : memref<256x256xf16>, memref<256x256xf16>
    %dc = gpu.alloc () : memref<256x256xf32>
    gpu.memcpy %dc, %c : memref<256x256xf32>, memref<256x256xf32>
    gpu.launch_func @k::@gemm ... args(%da : memref<256x256xf16>, %dc : memref<256x256xf32>)
    gpu.memcpy %c, %dc : memref<256x256xf32>, memref<256x256xf32>
    gpu.dealloc %da : memref<256x256xf16>
    gpu.dealloc %dc : memref<256x256xf32>
    ```
    Buffers that different values name (two function arguments) are taken to be disjoint.

    Refused: unranked memrefs; memrefs without strides; asynchronous launches (with tokens); writing through one of
    several `memref.reinterpret_cast`s of a buffer.
  }];
  let statistics = [
    Statistic<"numCopiesIn", "copies-in", "Buffers copied to the device">,
    Statistic<"numCopiesOut", "copies-out", "Buffers copied back">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def EmitBinary : Pass<"xetile-emit-binary", "::mlir::ModuleOp"> {
  let summary = "Turn each gpu.module into a gpu.binary with validated SPIR-V";
  let description = [{
    Input: `gpu.module`s with a `#xevm.target` and nothing but the LLVM dialect inside. For each: LLVM IR, its
    optimization, vectors of more than 16 elements split, SPIR-V 1.4 that the validator of SPIRV-Tools accepts, and where
    ocloc is found, machine code.

    The first object of the `gpu.binary` is the SPIR-V: it is what the host program embeds. Machine code follows, with
    properties that say what it is:

    ```mlir
    gpu.binary @kernels [
      #gpu.object<#xevm.target<chip = "pvc">, bin = "...">,
      #gpu.object<#xevm.target<chip = "pvc">, properties = {chip = "pvc", kind = "native", spill = 0 : i64}, bin = "...">]
    ```

    Upstream's `gpu-module-to-binary` is replaced because its loop strength reduction yields SPIR-V that is not valid.
    Cache hints do not reach SPIR-V: the validators of Debian 12 and 13 reject SPV_INTEL_cache_controls.
  }];
  let options = [
    Option<"native", "native", "std::string", "\"auto\"",
           "Machine code: 'auto' (if ocloc is found), 'require' or 'off'">,
    ListOption<"nativeChips", "native-chips", "std::string",
               "Chips to make machine code for (default: the target's own)">,
    Option<"largeRegisterFile", "large-register-file", "bool", "false",
           "Machine code with 256 registers per thread">,
    Option<"ocloc", "ocloc", "std::string", "\"\"",
           "Path of ocloc (default: $XETILE_OCLOC, then PATH, then XeTile's cache)">,
    Option<"dumpDir", "dump-dir", "std::string", "\"\"",
           "Directory to write <kernel>.spv, <kernel>.ll and <kernel>.<chip>.bin to">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::xevm::XeVMDialect"];
}

def SplitDescriptors : Pass<"xetile-split-descriptors", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give each XeGPU load, store and prefetch its own descriptor";
  let description = [{
    Upstream's layout propagation keeps one layout per descriptor. Where a prefetch and a load share one, which CSE
    makes of equal ones, the layout can suit only one of them and the other fails to lower. CSE joins the descriptors
    again once layouts are gone.

    ```mlir
    %t = xegpu.create_nd_tdesc %a : memref<256x256xf16> -> !xegpu.tensor_desc<32x32xf16>
    xegpu.prefetch_nd %t[%m, %next] : !xegpu.tensor_desc<32x32xf16>
    %v = xegpu.load_nd %t[%m, %k] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    // becomes
    %t = xegpu.create_nd_tdesc %a : memref<256x256xf16> -> !xegpu.tensor_desc<32x32xf16>
    %u = xegpu.create_nd_tdesc %a : memref<256x256xf16> -> !xegpu.tensor_desc<32x32xf16>
    xegpu.prefetch_nd %u[%m, %next] : !xegpu.tensor_desc<32x32xf16>
    %v = xegpu.load_nd %t[%m, %k] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    ```
  }];
  let dependentDialects = ["::mlir::xegpu::XeGPUDialect"];
}

def MaterializeOffsets : Pass<"xetile-materialize-offsets", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turn constant offsets of XeGPU accesses into values where the others are values";
  let description = [{
    Upstream's `xegpu-subgroup-distribute` reads offsets that are part constant and part values wrongly: a value after a
    constant becomes 0, and the access goes to another place without any error.

    ```mlir
    %v = xegpu.load_nd %t[0, %n] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    // becomes
    %c0 = arith.constant 0 : index
    %v = xegpu.load_nd %t[%c0, %n] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::xegpu::XeGPUDialect"];
}

def SyncSharedAllocs : Pass<"xetile-sync-shared-allocs", "::mlir::func::FuncOp"> {
  let summary = "Allocate memory that host and device share synchronously";
  let description = [{
    `gpu-async-region` makes every `gpu.alloc` asynchronous, but `gpu.alloc host_shared` lowers only in its synchronous
    form.

    ```mlir
    %m, %t = gpu.alloc async [%s] host_shared () : memref<16xf32>
    // becomes %s for %t, and
    %m = gpu.alloc host_shared () : memref<16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // XETILE_BINARY_PASSES_TD

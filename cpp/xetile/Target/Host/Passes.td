//===- Passes.td - host code of kernels ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_PASSES_TD
#define XETILE_TARGET_HOST_PASSES_TD

include "mlir/Pass/PassBase.td"
include "xetile/Target/Host/CheckPasses.td"

def PreserveArguments : Pass<"xetile-preserve-arguments"> {
  let summary = "Mark tensors of arguments as not writable";
  let description = [{
    Bufferization then copies an argument before it would write to it: a caller's arrays never change. An argument
    that slices are inserted into is copied here, as a whole: bufferization would copy the slice, too.

    Before: `func.func @matmul(%c: tensor<64x64xf32>)`

    After: `func.func @matmul(%c: tensor<64x64xf32> {bufferization.writable = false})`
  }];
  let options = [
    Option<"all", "all", "bool", "false", "Those that are marked as writable, too">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def BoxScalars : Pass<"xetile-box-scalars", "::mlir::ModuleOp"> {
  let summary = "Pass numbers as tensors of rank 0";
  let description = [{
    Of public functions: callers pass descriptors of memory for all arguments and results, whatever the type.

    Before: `func.func @scale(%a: tensor<8xf32>, %s: f32) -> f32`

    After: `func.func @scale(%a: tensor<8xf32>, %s: tensor<f32>) -> tensor<f32>`
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def CarryBuffers : Pass<"xetile-carry-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give loops memory that takes turns in place of an allocation in each step";
  let description = [{
    Loops of a program carry what their kernels write. Bufferization allocates that anew in each step, and copies it
    once more; nobody frees it. Here the copies go, as far as nobody writes to the memory any more, and the allocations
    are made once, before the loop, which carries them, too: a step writes to the one that none of those before reads.
    That are two where a loop carries what it computes of what it carried, one of them the initial value; three where
    others read the initial value, too; one more for each further step that reads it.

    A value that a loop may carry on without end, as the best of its steps, has memory of its own: each step copies to it.

    Before:
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%t = %x) -> (memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @k::@k blocks in (...) threads in (...) args(%t : memref<8xf32>, %y : memref<8xf32>)
      %c = memref.alloc() : memref<8xf32>
      memref.copy %y, %c : memref<8xf32> to memref<8xf32>
      scf.yield %c : memref<8xf32>
    }
    ```
    After, where `%x` is memory of the function's own:
    ```mlir
    %other = memref.alloc() : memref<8xf32>
    %r:2 = scf.for %i = %lb to %ub step %s iter_args(%t = %x, %y = %other) -> (memref<8xf32>, memref<8xf32>) {
      gpu.launch_func @k::@k blocks in (...) threads in (...) args(%t : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %y, %t : memref<8xf32>, memref<8xf32>
    }
    ```
    Refused: carried memory whose sizes the steps decide, and what a branch hands on of sizes that it decides.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CopyForLoops : Pass<"xetile-copy-for-loops", "::mlir::ModuleOp"> {
  let summary = "Copy what kernels in loops take from the caller once";
  let description = [{
    Of public functions whose loops or branches launch kernels: an argument or constant that is a kernel's operand there,
    or that loops carry, is copied to an allocation before the first of its uses. `xetile-alloc-on-device` makes memory of
    the device of it, which stays there over all steps. The host itself reads the caller's memory. Results that are such
    memory are copied at the end.

    Before: `scf.for ... { gpu.launch_func ... args(%argument, %y) }`

    After: `%w = memref.alloc(); memref.copy %argument, %w; scf.for ... { gpu.launch_func ... args(%w, %y) }`
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ResultsToArguments : Pass<"xetile-results-to-arguments", "::mlir::ModuleOp"> {
  let summary = "Write results to memory that the caller passes";
  let description = [{
    Before: `func.func @f(%a: memref<4x4xf32>) -> (memref<4x4xf32>, memref<4x4xf32>)`

    After: `func.func @f(%a: memref<4x4xf32>, %r0: memref<4x4xf32>, %r1: memref<4x4xf32>)`

    An allocation that is returned becomes the new argument. What else is returned is copied there: an argument, a
    constant, a view, a value that is returned twice. Refused: results of dynamic sizes, and public functions that the
    module calls. With `where-static` functions with results of dynamic sizes return all of them, as before. With
    `mark-results` the new arguments have `xetile.result`: their memory has no contents yet.
  }];
  let options = [
    Option<"markResults", "mark-results", "bool", "false", "Mark the new arguments for xetile-copy-launch-operands">,
    Option<"whereStatic", "where-static", "bool", "false",
           "Leave functions alone that return sizes or strides known at run time only">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def KeepArguments : Pass<"xetile-keep-arguments", "::mlir::ModuleOp"> {
  let summary = "Copy arguments that a function may write to";
  let description = [{
    Callers of a function that was one on tensors get results and keep their arguments. A schedule may have bufferized
    in place all the same. Each argument of a public function that something may be written through, in the function or
    in a kernel that it launches, is copied to new memory at the entry.

    Before:
    ```mlir
    func.func @f(%c: memref<4x4xf32>) -> memref<4x4xf32> {
      gpu.launch_func @k::@accumulate ... args(%c : memref<4x4xf32>)
      return %c : memref<4x4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%c: memref<4x4xf32>) -> memref<4x4xf32> {
      %copy = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
      memref.copy %c, %copy : memref<4x4xf32> to memref<4x4xf32>
      gpu.launch_func @k::@accumulate ... args(%copy : memref<4x4xf32>)
      return %copy : memref<4x4xf32>
    }
    ```
    `xetile-results-to-arguments` makes a copy that is returned the caller's memory, `xetile-free-scratch` frees the
    others. Functions without results stay as they are: what they write to is all that they are called for.

    Refused: memory of unknown rank, or of a layout that is not known to suit a copy in C order.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def AddCInterface : Pass<"xetile-add-c-interface", "::mlir::ModuleOp"> {
  let summary = "Ask for C functions beside the public ones";
  let description = [{
    `_mlir_ciface_f` takes the addresses of descriptors. Upstream's `llvm-request-c-wrappers` asks for one of each
    declaration, too, and calls those of others then.

    Before: `func.func @f(%a: memref<4xf32>) { ... }`

    After: `func.func @f(%a: memref<4xf32>) attributes {llvm.emit_c_interface} { ... }`
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
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
    Memory of a function's first block is freed before each return. What a terminator hands on stays: its receiver
    owns it. So does memory of a later block that others use.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ShareScratch : Pass<"xetile-share-scratch"> {
  let summary = "Allocate the scratch of a block at once; what is not needed at the same time shares bytes";
  let description = [{
    Before:
    ```mlir
    %a = memref.alloc() : memref<16x1024xf32>      // used by the first three ops
    %b = memref.alloc() : memref<1024xf32>         // used by the third and the fourth
    %c = memref.alloc() : memref<16x1024xf32>      // used by the fourth and the fifth
    ...
    memref.dealloc %a, %b, %c, one after the other
    ```
    After:
    ```mlir
    %all = memref.alloc() {alignment = 64} : memref<69632xi8>
    %a = memref.view %all[%c0][] : memref<69632xi8> to memref<16x1024xf32>
    %b = memref.view %all[%c65536][] : memref<69632xi8> to memref<1024xf32>
    %c = memref.view %all[%c0][] : memref<69632xi8> to memref<16x1024xf32>
    ...
    memref.dealloc %all
    ```
    A call takes less memory, and malloc hands out one piece again that it would give back to the system in parts.
    `gpu.alloc` and `gpu.dealloc` without tokens likewise, as launches run one after the other: all that a program of
    several kernels has on the device is one allocation, unless it were larger than the 128 MiB that each device gives at
    once. Sizes must be static. `gpu.alloc` of static sizes in a loop is made once, before the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def StoreBitsAsBytes : Pass<"xetile-store-bits-as-bytes", "::mlir::ModuleOp"> {
  let summary = "Store i1 as bytes";
  let description = [{
    Vectors of i1 are read as bits, single ones as bytes, as NumPy's are: memory holds bytes everywhere.

    Before: `%x = memref.load %mask[%i] : memref<8xi1>`

    After:
    ```mlir
    %byte = memref.load %mask[%i] : memref<8xi8>
    %x = arith.cmpi ne, %byte, %zero : i8
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
}

def AllocOnDevice : Pass<"xetile-alloc-on-device", "::mlir::func::FuncOp"> {
  let summary = "Allocate on the device what kernels alone use";
  let description = [{
    What one kernel writes and the next ones read needs no copy to the host and back. Each allocation of which nothing but
    launches, copies, loops and branches of the same block know, maybe through views, is one of the device; it is freed
    behind the last of them. Copies to and from it become `gpu.memcpy`. So do loads of the host of arrays of up to 64
    elements, as of the number that ends a loop: they read what was copied. What loops or branches hand on is on the
    device only if all of it can be.

    ```mlir
    %h = memref.alloc() : memref<64x64xf32>
    gpu.launch_func @k::@first ... args(%a : memref<64x64xf32>, %h : memref<64x64xf32>)
    gpu.launch_func @k::@second ... args(%h : memref<64x64xf32>, %b : memref<64x64xf32>)
    memref.dealloc %h : memref<64x64xf32>
    // becomes
    %h = gpu.alloc () : memref<64x64xf32>
    gpu.launch_func @k::@first ... args(%a : memref<64x64xf32>, %h : memref<64x64xf32>)
    gpu.launch_func @k::@second ... args(%h : memref<64x64xf32>, %b : memref<64x64xf32>)
    gpu.dealloc %h : memref<64x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def KeepConstants : Pass<"xetile-keep-constants", "::mlir::ModuleOp"> {
  let summary = "Copy constants that kernels read to the device once";
  let description = [{
    A kernel reads a constant of the module (`memref.global constant`) from the device's memory. This asks the runtime
    library for its copy, which is made in the first call on each device and freed when the code is unloaded; without
    the pass, `xetile-copy-launch-operands` copies it in each call. Equal constants have one copy in a function. The
    address of `@xetile_kept` tells the runtime whose copies they are; `@xetile_forget_kept` runs when the code goes.

    ```mlir
    %w = memref.get_global @w : memref<64x32xf16>
    gpu.launch_func @k::@gemm ... args(%w : memref<64x32xf16>)
    // becomes
    %address = memref.extract_aligned_pointer_as_index %w : memref<64x32xf16> -> index
    %bytes = call @xetileRuntimeKeep(%owner, %address, %c4096) : (index, index, index) -> memref<?xi8>
    %kept = memref.view %bytes[%c0][] : memref<?xi8> to memref<64x32xf16>
    gpu.launch_func @k::@gemm ... args(%kept : memref<64x32xf16>)
    ```
    Left as they are: constants that a kernel may write, whose elements have no whole bytes, or that are empty.
  }];
  let statistics = [Statistic<"numKept", "kept", "Constants that are kept on the device">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
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
    With `on-device` the second function's results are memory of a device (`xetile.on_device`), which the first one
    takes there. Frozen arguments that the first one still reads are among them, as they are: uploaded once. Those that
    the host reads, as conditions of `scf.if`, stay arguments of the first one.

    Refused: a module that has `@f_freeze`.
  }];
  let options = [
    Option<"onDevice", "on-device", "bool", "false", "What is computed once stays in the memory of a device">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def CopyLaunchOperands : Pass<"xetile-copy-launch-operands", "::mlir::ModuleOp"> {
  let summary = "Copy host buffers to the device around kernel launches";
  let description = [{
    A `gpu.launch_func` takes device memory. For every memref operand that is not from a `gpu.alloc` of the same function
    this inserts `gpu.alloc` and a copy before the launch, a copy back after it if the kernel may write through that
    argument, and `gpu.dealloc`. Launches with nothing between them that reads or writes the host's memory are taken
    together: copies are before the first and behind the last. An operand passed twice is copied once. Two operands that
    are different views of one buffer share one copy of the whole buffer, so what aliases on the host aliases on the
    device. Memory of the caller's for a result (`xetile.result`) has no contents before the first of them, and is copied
    back only. An argument that is `xetile.on_device` is the device's already: kernels take it as it is, and
    `memref.copy` to or from it is a `gpu.memcpy`.

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
    several `memref.reinterpret_cast`s of a buffer; ops of the host that read or write what is `xetile.on_device`.
  }];
  let statistics = [
    Statistic<"numCopiesIn", "copies-in", "Buffers copied to the device">,
    Statistic<"numCopiesOut", "copies-out", "Buffers copied back">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
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

#endif // XETILE_TARGET_HOST_PASSES_TD

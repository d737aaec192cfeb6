// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMTRANSFORMOPS_TD
#define XETILE_SCHEDULE_PROGRAMTRANSFORMOPS_TD

include "xetile/Schedule/TransformOpBase.td"

def AssignKernelsOp : XeTile_TransformOp<"assign_kernels"> {
  let summary = "Decides which op of a program belongs to which kernel";
  let description = [{
    Every op on tensors of the functions in `target` gets `xetile.kernel`, the number of a kernel, and `xetile.schedule`, the
    schedule of it: that of its anchor, which `xetile.anchor` says, as `schedules/parts/match_kernels.mlir` writes it, of ops
    without it `"matmul"`, `"scan"`, `"scatter"`, `"rows"` or `"elementwise"`. Matmuls and reductions are kernels. They take elementwise ops
    with them where each element is computed about once: what follows a matmul in its shape, casts before it, what surrounds
    reductions along rows, as in a softmax, which is one kernel. Elementwise ops that are left are kernels by chains.
    A matmul that only such a kernel reads is part of it, of schedule `"matmul_rows"`, where a workgroup has whole rows of
    the product in registers: up to 256 columns, 64 where f32 is multiplied exactly. A matmul of f16
    or bf16 whose operand is computed element by element, for it alone, is one kernel of `"rows"` with that where each element is
    computed at most twice, as turned heads before a product of few rows. Where `chip` is given it is one of
    Intel's: others have tiles of their own, and such matmuls stay kernels of theirs.
    Kernels of elementwise ops, or of reductions, that do not wait for one another and have the same loops become one if
    they read the same memory or are small (1 MiB).

    Ops that have a number keep it, and a schedule that they name: nothing else joins their kernel.

    ```mlir
    transform.xetile.assign_kernels %module : !transform.any_op
    ```

    in

    ```mlir
    %h = linalg.matmul ins(%x, %w : tensor<64x32xf16>, tensor<32x512xf16>) outs(%zeros : tensor<64x512xf32>)
    %r = linalg.generic ... ins(%h) { arith.maximumf }                          // relu
    %s = linalg.generic {iterator_types = ["parallel", "reduction"], ...} ins(%r) { arith.addf }
    %y = linalg.generic ... ins(%r, %s) { arith.divf }
    ```

    sets

    ```mlir
    %h = linalg.matmul {xetile.kernel = 0, xetile.schedule = "matmul"} ...
    %r = linalg.generic {xetile.kernel = 1, xetile.schedule = "rows"} ...       // its readers are in two places of kernel 1
    %s = linalg.generic {xetile.kernel = 1, xetile.schedule = "rows"} ...
    %y = linalg.generic {xetile.kernel = 1, xetile.schedule = "rows"} ...
    ```

    Definite failures:
    - assign_kernels_c1: kernels of numbers that were given do not read one another's results in a circle.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, Optional<TransformParamTypeInterface>:$chip);
  let assemblyFormat = [{
    $target (`chip` `=` $chip^)? attr-dict `:` type($target) (`,` type($chip)^)?
  }];
}

def AnchorF32ProductsOp
    : XeTile_TransformOp<"anchor_f32_products", [AllTypesMatch<["units", "chip"]>]> {
  let summary = "Makes products of f32 kernels of the matrix unit where that multiplies them exactly";
  let description = [{
    Behind `schedules/parts/match_kernels.mlir`, which leaves contractions of f32 to vector units (`"rows"`). With `units =
    "matrix"` those that gain on the chip `chip` become anchors of kernels of schedule `"matmul"`: on sm_90a, where f32 is
    multiplied as three products of tf32, with 8 or more rows and columns, 16 or more elements of k, and 131072 products
    of elements in all. Sizes that are not known count as large. Products stay on vector units whose kernels
    (`assign_kernels`) compute an operand on the way, store types other than f32, f16, bf16 and i32, or in another order
    of their dimensions. With `units = "vector"`, and for chips without such a
    way, nothing changes.

    ```mlir
    transform.xetile.anchor_f32_products %module units = %units chip = %chip : !transform.any_op, !transform.any_param
    ```

    makes of

    ```mlir
    %d = linalg.matmul {xetile.anchor = "rows"} ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) ...
    ```

    this:

    ```mlir
    %d = linalg.matmul {xetile.anchor = "matmul"} ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) ...
    ```

    Definite failures:
    - anchor_f32_products_c1: `units` is "matrix" or "vector".
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$units,
      TransformParamTypeInterface:$chip);
  let assemblyFormat = [{
    $target `units` `=` $units `chip` `=` $chip attr-dict `:` type($target) `,` type($units)
  }];
}

def ConvolutionsToProductsOp
    : XeTile_TransformOp<"convolutions_to_products", [AllTypesMatch<["units", "chip"]>]> {
  let summary = "Makes kernels of convolutions of f32 kernels of products, where that gains";
  let description = [{
    Of the kernels of schedule `"convolution"` in `target`, each a module of its own (`extract_kernels`), those become
    kernels of schedule `"matmul"` whose convolution of f32 gains on the matrix unit of `chip`: on sm_90a, where f32 is
    multiplied as three products of tf32, with 8 or more filters and pixels, a window of 16 or more elements, and 131072
    products of elements in all. Nothing is copied: one operand of the product is the image's memory with the sizes of
    the matrix of its windows, and `xetile.window` at the function says where its elements are. Zeros around the image
    become such of the matrix. 1D to 3D, strides, dilations, groups, channels first and last. Convolutions stay on
    vector units whose sizes are not known, whose image is computed in the kernel, or behind which is more than elementwise ops
    of the result's shape. With `units = "vector"`, and for chips without such a way, nothing changes.

    ```mlir
    transform.xetile.convolutions_to_products %module units = %units chip = %chip : !transform.any_op, !transform.any_param
    ```

    makes of

    ```mlir
    %d = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x32x30x30xf32>, tensor<48x32x3x3xf32>)
        outs(%c : tensor<2x48x28x28xf32>) -> tensor<2x48x28x28xf32>
    ```

    a product of `tensor<48x288xf32>` and `tensor<2x288x784xf32>` to `tensor<2x48x784xf32>`.

    Definite failures:
    - convolutions_to_products_c1: `units` is "matrix" or "vector".
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$units,
      TransformParamTypeInterface:$chip);
  let assemblyFormat = [{
    $target `units` `=` $units `chip` `=` $chip attr-dict `:` type($target) `,` type($units)
  }];
}

def ExtractKernelsOp : XeTile_TransformOp<"extract_kernels"> {
  let summary = "Makes a module of each kernel of a program";
  let description = [{
    Ops with one number in `xetile.kernel` become a function in a module of its own, nested in `target`: what a schedule for
    one kernel takes. The module has their `xetile.schedule`. The function that they were in calls it. Constants and
    slices are copied to each kernel that needs them, what else a kernel reads are its arguments, which the caller reshapes.
    Tensors of i1 are of i8 between kernels.

    ```mlir
    transform.xetile.extract_kernels %module : !transform.any_op
    ```

    ```mlir
    func.func @f(%x: tensor<64x32xf16>, %w: tensor<32x64xf16>) -> tensor<64x64xf32> {
      %h = linalg.matmul {xetile.kernel = 0, xetile.schedule = "matmul"} ins(%x, %w) outs(%zeros)
      %y = linalg.softmax {xetile.kernel = 1, xetile.schedule = "rows"} ins(%h) outs(%empty)
      return %y
    }
    ```

    becomes

    ```mlir
    func.func private @f_0_matmul(tensor<64x32xf16> {bufferization.access = "read"}, ...) -> tensor<64x64xf32>
    func.func private @f_1_rows(tensor<64x64xf32> {bufferization.access = "read"}) -> tensor<64x64xf32>
    func.func @f(%x: tensor<64x32xf16>, %w: tensor<32x64xf16>) -> tensor<64x64xf32> {
      %h = call @f_0_matmul(%x, %w)
      %y = call @f_1_rows(%h)
      return %y
    }
    module attributes {xetile.schedule = "matmul"} { func.func @f_0_matmul(...) { ... } }
    module attributes {xetile.schedule = "rows"} { func.func @f_1_rows(...) { ... } }
    ```

    Definite failures:
    - extract_kernels_c1: every op that computes tensors has a number; ops of one number name one schedule.
    - extract_kernels_c2: kernels do not read one another's results in a circle.
    - extract_kernels_c3: a function that has such ops has a body of one block.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def ShareKernelsOp : XeTile_TransformOp<"share_kernels"> {
  let summary = "Makes one kernel of those of a program that are equal";
  let description = [{
    Behind `extract_kernels`: of nested modules whose functions compute the same of their arguments the first one stays, and
    is called in place of the others. The layers of a model are compiled once. Locations do not tell kernels apart:
    messages have those of the first one.

    ```mlir
    transform.xetile.share_kernels %module : !transform.any_op
    ```

    ```mlir
    %h = call @f_0_matmul(%x, %w0)
    %y = call @f_1_matmul(%h, %w1)
    module attributes {xetile.schedule = "matmul"} { func.func @f_0_matmul(...) { ... } }
    module attributes {xetile.schedule = "matmul"} { func.func @f_1_matmul(...) { ... } }    // the same body
    ```

    becomes

    ```mlir
    %h = call @f_0_matmul(%x, %w0)
    %y = call @f_0_matmul(%h, %w1)
    module attributes {xetile.schedule = "matmul"} { func.func @f_0_matmul(...) { ... } }
    ```

    Nested modules with other contents than one function stay.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def LinkKernelsOp : XeTile_TransformOp<"link_kernels"> {
  let summary = "Puts the kernels of a program into one module for the device";
  let description = [{
    The opposite of `extract_kernels`, when the kernels are on buffers and outlined: the nested modules' functions take the
    place of their declarations, and the kernels of all `gpu.module`s go to the first of them. What a function says of its
    tiling (`xetile.tiling`) is said of the kernel that it launches.

    ```mlir
    transform.xetile.link_kernels %module : !transform.any_op
    ```

    ```mlir
    func.func private @f_1_rows(memref<64x64xf32>) -> memref<64x64xf32>
    module attributes {xetile.schedule = "rows"} {
      func.func @f_1_rows(%x: memref<64x64xf32>) -> memref<64x64xf32> {
        gpu.launch_func @f_1_rows_kernel::@f_1_rows_kernel ...
      }
      gpu.module @f_1_rows_kernel { gpu.func @f_1_rows_kernel ... }
    }
    ```

    becomes

    ```mlir
    func.func private @f_1_rows(%x: memref<64x64xf32>) -> memref<64x64xf32> {
      gpu.launch_func @f_0_matmul_kernel::@f_1_rows_kernel ...
    }
    gpu.module @f_0_matmul_kernel { ...  gpu.func @f_1_rows_kernel ... }
    ```

    Definite failures:
    - link_kernels_c1: each function that a nested module has is declared in `target`, with the same type.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def IsolateKernelOp : XeTile_TransformOp<"isolate_kernel"> {
  let summary = "Takes the kernel of a schedule out of a module that a step split into several";
  let description = [{
    A step for one kernel, as `split_k`, may number the ops of that kernel (`xetile.kernel`) and leave others behind it. Then
    the ops of `target` are assigned to kernels and extracted, as by `assign_kernels` and `extract_kernels`: `kernel` is the
    nested module whose schedule is `schedule`, `rest` are the others, in the order in which they run. A module without
    numbers stays as it is and is `kernel` itself; `rest` has no operation.

    ```mlir
    %own, %rest = transform.xetile.isolate_kernel %module {schedule = "matmul"}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```

    ```mlir
    func.func @f(%x: tensor<64x4x2048xf16>, %w: tensor<4x2048x96xf16>) -> tensor<64x96xf32> {
      %p = linalg.generic {xetile.kernel = 0, xetile.schedule = "matmul"} ins(%x, %w) outs(%zeros)
      %d = linalg.generic ins(%p) outs(%c)
      return %d
    }
    ```

    becomes

    ```mlir
    func.func @f(%x: tensor<64x4x2048xf16>, %w: tensor<4x2048x96xf16>) -> tensor<64x96xf32> {
      %p = call @f_0_matmul(%x, %w)
      %d = call @f_1_rows(%p)
      return %d
    }
    module attributes {xetile.isolated, xetile.schedule = "matmul"} { func.func @f_0_matmul(...) { ... } }   // %own
    module attributes {xetile.schedule = "rows"} { func.func @f_1_rows(...) { ... } }                        // %rest
    ```

    Definite failures:
    - isolate_kernel_c1: the target is a `builtin.module`.
    - isolate_kernel_c2: of the kernels of one that has numbers, one has the schedule.
    - those of `assign_kernels` and `extract_kernels`.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$schedule);
  let results = (outs TransformHandleTypeInterface:$kernel, TransformHandleTypeInterface:$rest);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def GetProgramOp : XeTile_TransformOp<"get_program"> {
  let summary = "The module around a kernel that isolate_kernel took out";
  let description = [{
    `program` is the module that `isolate_kernel` took `target` out of (`xetile.isolated` tells), or `target` itself where it
    took nothing out. The payload does not change; `target` is consumed, as steps on the program change it.

    ```mlir
    %program = transform.xetile.get_program %kernel : (!transform.any_op) -> !transform.any_op
    ```

    ```mlir
    module {                                                      // %program
      func.func @f(...) { call @f_0_matmul ... }
      module attributes {xetile.isolated, xetile.schedule = "matmul"} { ... }      // %kernel
    }
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$program);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

#endif // XETILE_SCHEDULE_PROGRAMTRANSFORMOPS_TD

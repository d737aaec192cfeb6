//===- Passes.td - linalg on tensors, for every target -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_PASSES_TD
#define XETILE_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"
include "xetile/Linalg/ReductionPasses.td"
include "xetile/Linalg/ShapePasses.td"

def NumberOps : Pass<"xetile-number-ops", "::mlir::ModuleOp"> {
  let summary = "Write the number of each linalg op into its location";
  let description = [{
    So that `xetile-tell-ops` finds what passes in between made of it. Numbers are those of a walk, from 0.

    Before: `linalg.generic {...} { ... arith.addf ... } loc("model.py":3:0)`

    After: the same, it and what is in its body with `loc("#7"("model.py":3:0))`.
  }];
}

def DecomposeLinalg : Pass<"xetile-decompose-linalg"> {
  let summary = "Give linalg ops that have no loops of their own such: softmax, pack, unpack, Winograd's transforms";
  let description = [{
    Before: `%y = linalg.softmax dimension(1) ins(%x : tensor<8x64xf16>) outs(%e : tensor<8x64xf16>) -> tensor<8x64xf16>`

    After: `linalg.generic` ops for the maxima, the differences' exponentials, their sums and the quotients, here in f32 between
    two that convert. `linalg.pack` becomes `tensor.pad`, `tensor.expand_shape` and `linalg.transpose`, `linalg.unpack` the way
    back; of sizes known at run time only each becomes one `linalg.generic` that looks elements up. Nothing is read outside of a
    tensor: there the padding value is, or zero. Winograd's transforms multiply by their matrices, in a `linalg.generic` for
    each dimension, all tiles at once.

    Refused: transforms of Winograd's convolution of integers, and of sizes known at run time only.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def SimplifyAttention : Pass<"xetile-simplify-attention", "::mlir::ModuleOp"> {
  let summary = "Bring functions of an attention to few ops that are indexed by dimensions";
  let description = [{
    Of each function with a body of one block: all linalg ops become generic ones, reshapes move to arguments and results, as
    dimensions that were merged come apart, dimensions of size one go, elementwise chains become one op, contractions
    read what was copied, and a factor of rows is applied to what the second contraction sums.

    Before:
    ```mlir
    %kt = linalg.transpose ins(%k : tensor<3x128x32xf32>) outs(%e : tensor<3x32x128xf32>) permutation = [0, 2, 1]
    %s = linalg.batch_matmul ins(%q, %kt) outs(%zeros) -> tensor<3x250x128xf32>
    %w = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [1, 3, 250, 128]
    %p = linalg.softmax dimension(3) ins(%w) outs(%ew)     // after xetile-decompose-linalg
    ```

    After:
    ```mlir
    %s = linalg.generic {indexing_maps = [(h, m, n, k) -> (h, m, k), (h, m, n, k) -> (h, n, k), (h, m, n, k) -> (h, m, n)], ...}
        ins(%q, %k) outs(%zeros) -> tensor<3x250x128xf32>
    %m = linalg.generic ... ins(%s) { arith.maxnumf }
    ```
    With `narrow` contractions multiply f16 and bf16 as they are that had been extended to f32, constants that these were
    multiplied with are behind them, and what is computed of scores is rounded to the type of the values: as in PyTorch's fused
    kernels. An error: patterns that come to no end.
  }];
  let options = [Option<"narrow", "narrow", "bool", "false", "Multiply f16 and bf16 that were extended as they are">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InlineIndices : Pass<"xetile-inline-indices"> {
  let summary = "Compute what follows from indices alone where it is read";
  let description = [{
    A `linalg.generic` that reads no tensor but constants, and has only integers, comparisons and selections in its
    body, is computed by each op that reads it, through reshapes that merge nothing: positions, causal masks. Comparisons of
    sums of indices are of i32 where no number needs more, with what is added on the left and what is subtracted on the right.

    Before:
    ```mlir
    %i = linalg.generic ... outs(%e : tensor<64xi64>) { linalg.index 0, arith.index_cast }
    %rows = tensor.expand_shape %i [[0, 1]] output_shape [64, 1]
    %columns = tensor.expand_shape %i [[0, 1]] output_shape [1, 64]
    %m = linalg.generic ... ins(%columns, %rows) outs(%f : tensor<64x64xi1>) { arith.subi, arith.cmpi sle, %d, %zero }
    %s = linalg.generic ... ins(%x, %m) { arith.select }
    ```

    After:
    ```mlir
    %s = linalg.generic ... ins(%x) {
      %r = arith.index_cast (linalg.index 0), %c = arith.index_cast (linalg.index 1) : index to i32
      %seen = arith.cmpi sle, %c, %r : i32
      arith.select %seen
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect"];
}

def PassBitsAsBytes : Pass<"xetile-pass-bits-as-bytes", "::mlir::ModuleOp"> {
  let summary = "Pass tensors of i1 as bytes";
  let description = [{
    Of public functions: GPUs have no i1 in memory, and NumPy's arrays of them have bytes.

    Before: `func.func @f(%mask: tensor<8xi1>) -> tensor<8xi1>`

    After: `func.func @f(%mask: tensor<8xi8>) -> tensor<8xi8>`, which compares what it takes with 0, and extends what it
    returns. Constants of i1 whose elements differ are compared constants of i8. So are tensors that `scf.for`,
    `scf.while` and `scf.if` carry or hand on: they are in memory, too.

    Refused: public functions that the module calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ReplacePoison : Pass<"xetile-replace-poison"> {
  let summary = "Let tensors of poison hold anything, in memory, and make numbers of poison zeros";
  let description = [{
    Before: `%p = ub.poison : tensor<8x8xf32>`, `%n = ub.poison : f32`

    After: `%p = tensor.empty() : tensor<8x8xf32>`, `%n = arith.constant 0.0 : f32`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
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
    `tensor.splat %s` becomes `linalg.fill ins(%s)` of a `tensor.empty`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
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

def DropCasts : Pass<"xetile-drop-casts"> {
  let summary = "Concatenate tensors of known sizes as such";
  let description = [{
    PyTorch's `roll` is exported with sizes that are forgotten on the way, and no canonicalization brings them back.

    Before:
    ```mlir
    %c = tensor.cast %a : tensor<2x5xf32> to tensor<2x?xf32>
    %y = tensor.concat dim(1) %c, %c : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x10xf32>
    ```
    After: `%y = tensor.concat dim(1) %a, %a : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x10xf32>`
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
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
    scf.forall %n in 0 to 4, %h in 0 to 56 step 8:          // {xetile.rows}
      %seen = linalg.generic (channel, tap, tap, row, column) : %image[%n, channel, %h + row + tap, column + tap]
      %c = %c[%n, :, %h to %h + 8, :] + %filter as 64x288 * %seen as 288x448
    ```
    Images, groups and, where sizes are static, blocks of rows are loops, so that a copy stays in the second-level cache.
    They are a parallel one where a filter stays there, too, and there are eight blocks or more: then a constant padding of
    the image (`tensor.pad`) becomes one of each block. Of other filters, which each block reads again, copies are larger,
    and it is their matmuls that threads share.
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

def CopyBroadcasts : Pass<"xetile-copy-broadcasts"> {
  let summary = "Give each op that reads a broadcast one of its own";
  let description = [{
    To read a bias is cheaper than to read it as often as it is repeated: an op that computes nothing, and whose result is
    at least eight times as large as its input, becomes part of each kernel that reads it. With one for all readers in
    several kernels it would be a kernel that writes all elements to memory. So does an op that computes next to nothing,
    as a compare, of a few kilobytes, where its readers take each element: less than one more kernel costs.

    Before:
    ```mlir
    %b = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%any : tensor<64x16xf32>) dimensions = [0]
    %p = linalg.matmul ins(%x, %v : ...) outs(%b : tensor<64x16xf32>)
    %q = linalg.matmul ins(%y, %w : ...) outs(%b : tensor<64x16xf32>)
    ```
    After:
    ```mlir
    %b = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%any : tensor<64x16xf32>) dimensions = [0]
    %p = linalg.matmul ins(%x, %v : ...) outs(%b : tensor<64x16xf32>)
    %c = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%any : tensor<64x16xf32>) dimensions = [0]
    %q = linalg.matmul ins(%y, %w : ...) outs(%c : tensor<64x16xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DropUnitReductions : Pass<"xetile-drop-unit-reductions"> {
  let summary = "Make reductions of one element elementwise";
  let description = [{
    Before:
    ```mlir
    %max = linalg.generic {indexing_maps = [(m, k) -> (m, k), (m, k) -> (m)], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<8x1xf32>) outs(%low : tensor<8xf32>) { ... arith.maximumf ... }
    ```
    After:
    ```mlir
    %max = linalg.generic {indexing_maps = [(m) -> (m, 0), (m) -> (m), (m) -> (m)], iterator_types = ["parallel"]}
        ins(%x, %low : tensor<8x1xf32>, tensor<8xf32>) outs(%any : tensor<8xf32>) { ... arith.maximumf ... }
    ```
    A softmax or a log of a sum along a dimension of one element, as models have it behind a mean, is then part of the
    chain around it, and of its kernel. Reductions of sizes that only a run knows stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

def ExpandGroups : Pass<"xetile-expand-groups"> {
  let summary = "Give what is around a convolution in groups its dimensions";
  let description = [{
    Before:
    ```mlir
    %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] { ... } : tensor<8x64x28x28xf32> to tensor<8x64x30x30xf32>
    %image = tensor.expand_shape %padded [[0], [1, 2], [3], [4]] : tensor<8x64x30x30xf32> into tensor<8x4x16x30x30xf32>
    %sums = linalg.conv_2d_ngchw_gfchw ins(%image, %filters : ...) outs(%start : tensor<8x4x16x28x28xf32>)
    %y = tensor.collapse_shape %sums [[0], [1, 2], [3], [4]] : tensor<8x4x16x28x28xf32> into tensor<8x64x28x28xf32>
    %relu = linalg.generic { ... } ins(%y : tensor<8x64x28x28xf32>) ...
    ```
    After:
    ```mlir
    %apart = tensor.expand_shape %x [[0], [1, 2], [3], [4]] : tensor<8x64x28x28xf32> into tensor<8x4x16x28x28xf32>
    %image = tensor.pad %apart low[0, 0, 0, 1, 1] high[0, 0, 0, 1, 1] { ... } : tensor<8x4x16x28x28xf32> to tensor<8x4x16x30x30xf32>
    %sums = linalg.conv_2d_ngchw_gfchw ins(%image, %filters : ...) outs(%start : tensor<8x4x16x28x28xf32>)
    %y = linalg.generic { ... } ins(%sums : tensor<8x4x16x28x28xf32>) ...
    %relu = tensor.collapse_shape %y [[0], [1, 2], [3], [4]] : tensor<8x4x16x28x28xf32> into tensor<8x64x28x28xf32>
    ```
    So nothing stands between the convolution, its padding, its bias and elementwise ops behind it, and one kernel has them
    all. Ops that compute the image stay as they are, as they belong to other kernels.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

def ChannelsLast : Pass<"xetile-channels-last"> {
  let summary = "Give convolutions images, filters and results whose channels are last";
  let description = [{
    Before:
    ```mlir
    %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<8x64x34x34xf16>, tensor<128x64x3x3xf16>) outs(%start : tensor<8x128x32x32xf32>)
    %relu = linalg.generic { ... } ins(%y : tensor<8x128x32x32xf32>) outs(%e : tensor<8x128x32x32xf16>) ...
    ```
    After:
    ```mlir
    %image = linalg.transpose ins(%x : tensor<8x64x34x34xf16>) outs(%0 : tensor<8x34x34x64xf16>) permutation = [0, 2, 3, 1]
    %filter = linalg.transpose ins(%w : tensor<128x64x3x3xf16>) outs(%1 : tensor<3x3x64x128xf16>) permutation = [2, 3, 1, 0]
    %y = linalg.generic { ... } ins(%image, %filter : tensor<8x34x34x64xf16>, tensor<3x3x64x128xf16>) outs(%s : tensor<8x32x32x128xf32>) ...
    %last = linalg.generic { ... } ins(%y : tensor<8x32x32x128xf32>) outs(%e : tensor<8x32x32x128xf16>) ...
    %relu = linalg.transpose ins(%last : tensor<8x32x32x128xf16>) outs(%2 : tensor<8x128x32x32xf16>) permutation = [0, 3, 1, 2]
    ```
    Tiles of products have rows of k, which pixels of an image are where its channels are last: of f16 and bf16 for the matrix
    unit, of f32 for vector units. Transposes of a next convolution cancel those of the one before; what is between is computed
    in the new order, too: elementwise ops, poolings, paddings. Channels get zeros behind them, up to a multiple of 64 bytes,
    the steps of k. Convolutions whose channels have fewer than 32 bytes, or their filters fewer than 64 or no multiple of 16,
    stay, in each group if there are some; without groups filters of f16 and bf16 have 32 bytes at least, and elements behind
    them that nobody multiplies up to 64. Groups stand before the channels. Of slices that have most of an image, that is moved.

    Where channels are first in memory, filters of one pixel are multiplied with the image as it is, and patches of few
    channels, whose windows do not overlap, as the rows of a matrix that they are moved to.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to compile for; others than Intel's keep their convolutions">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
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
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"mostInputs", "most-inputs", "unsigned", "0",
           "Tensors that an op may read when it takes another one in, 0 for any number">,
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
}

def DropScheduleMarks : Pass<"xetile-drop-schedule-marks"> {
  let summary = "Forget which schedule took which op";
  let description = [{
    Before: `linalg.generic {xetile.schedule = "cpu_rows", ...} ...`

    After: the same without this attribute, which steps on tensors look at.
  }];
}

def WriteResults : Pass<"xetile-write-results", "::mlir::ModuleOp"> {
  let summary = "Write results that a function only passes on";
  let description = [{
    What the caller of a kernel gets has to be written by one. A constant that is returned becomes a fill. Where a function
    computes nothing at all, what it returns of its arguments, reshaped or not, is copied; beside computed results the host
    copies it.

    Before: `return %zeros : tensor<4x8xf32>`, of `%zeros = arith.constant dense<0.0> : tensor<4x8xf32>`

    After:
    ```mlir
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // XETILE_LINALG_PASSES_TD

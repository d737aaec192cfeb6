//===- ShapePasses.td - reshapes, slices and transposes on tensors -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SHAPEPASSES_TD
#define XETILE_LINALG_SHAPEPASSES_TD

include "mlir/Pass/PassBase.td"

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
  let options = [Option<"transposes", "transposes", "bool", /*default=*/"true",
                        "Whether transposes that only move dimensions of one become views">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def DropEmptyPieces : Pass<"xetile-drop-empty-pieces"> {
  let summary = "Pad, concatenate, cut and reduce without the tensors that have no elements";
  let description = [{
    Before: `%t = tensor.concat dim(0) %a, %nothing : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>`

    After: `%a`. A padded tensor of no elements is generated; what has none itself is a tensor.empty. Slices of no
    elements that are inserted are dropped, and what has a loop without rounds, as a sum of them, is what it starts from.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SplitConcats : Pass<"xetile-split-concats"> {
  let summary = "Concatenate few tensors at once";
  let description = [{
    A kernel of a GPU takes at most 255 arguments, and a tensor of four dimensions is eleven of them. What was concatenated
    once more is copied once more.

    Before, with `most=2`: `%y = tensor.concat dim(0) %a, %b, %c : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>`

    After:
    ```mlir
    %ab = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %y = tensor.concat dim(0) %ab, %c : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
    ```
  }];
  let options = [
    Option<"most", "most", "unsigned", "12", "Tensors that one op concatenates, 2 or more">
  ];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def SliceReshapes : Pass<"xetile-slice-reshapes"> {
  let summary = "Slice what has been reshaped, where that gives the same";
  let description = [{
    Before:
    ```mlir
    %k = tensor.extract_slice %qkv[1, 0, 0, 0] [1, 100, 2, 256] [1, 1, 1, 1] : tensor<3x100x2x256xf16> to tensor<1x100x2x256xf16>
    %rows = tensor.collapse_shape %k [[0, 1], [2, 3]] : tensor<1x100x2x256xf16> into tensor<100x512xf16>
    %heads = tensor.expand_shape %rows [[0], [1, 2]] output_shape [100, 16, 32] : tensor<100x512xf16> into tensor<100x16x32xf16>
    ```
    After:
    ```mlir
    %all = tensor.collapse_shape %qkv [[0, 1], [2, 3]] : tensor<3x100x2x256xf16> into tensor<300x512xf16>
    %split = tensor.expand_shape %all [[0], [1, 2]] output_shape [300, 16, 32] : tensor<300x512xf16> into tensor<300x16x32xf16>
    %heads = tensor.extract_slice %split[100, 0, 0] [100, 16, 32] [1, 1, 1] : tensor<300x16x32xf16> to tensor<100x16x32xf16>
    ```
    Kernels read a slice where it is; one whose dimensions are joined is copied before. Dimensions of slices of what has
    numbers around it are split before them, too: several slices are read from one tensor.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def IndexInterleaves : Pass<"xetile-index-interleaves"> {
  let summary = "Read interleaved dimensions by index, on chips that have no blocks of memory";
  let description = [{
    Before:
    ```mlir
    %t = linalg.transpose ins(%x : tensor<2x3x8x9xf32>) outs(%e : tensor<8x2x9x3xf32>) permutation = [2, 0, 3, 1]
    %y = tensor.collapse_shape %t [[0, 1], [2, 3]] : tensor<8x2x9x3xf32> into tensor<16x27xf32>
    ```
    After:
    ```mlir
    %y = linalg.generic {..} outs(%f : tensor<16x27xf32>) {
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %v = tensor.extract %x[%i mod 2, %j mod 3, %i / 2, %j / 3] : tensor<2x3x8x9xf32>
      linalg.yield %v : f32
    }
    ```
    So are elements that are repeated. A tile of the transpose has as few columns as are interleaved, 3 here; one of the joined rows has as many as
    threads take.
  }];
  let options = [Option<"chip", "chip", "std::string", /*default=*/"\"\"",
                        "The GPU to compile for; nothing is done for Intel's, and without one">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
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

#endif // XETILE_LINALG_SHAPEPASSES_TD

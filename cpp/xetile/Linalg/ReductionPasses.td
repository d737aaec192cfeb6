//===- ReductionPasses.td - reductions and scans on tensors ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_REDUCTIONPASSES_TD
#define XETILE_LINALG_REDUCTIONPASSES_TD

include "mlir/Pass/PassBase.td"

def SplitArgmax : Pass<"xetile-split-argmax"> {
  let summary = "Find the index of the largest or smallest element in a reduction of its own";
  let description = [{
    Before: a `linalg.generic` that carries the largest element and its index, as PyTorch's argmax is exported, from minus
    infinity (or the least integer) and 0 on; the smallest one alike.

    After:
    ```mlir
    %max = linalg.generic ... ins(%x) outs(%low)  { arith.maximumf %in, %out }
    %at = linalg.generic ... ins(%x, %max) outs(%far) { arith.minsi (select %in == %max, linalg.index 1, 2^63 - 1), %out }
    ```
    Of equal elements the first is found. A NaN is the largest and the smallest element, as in PyTorch: where there are some,
    the index is that of the first; what the op before said of them depended on the order of the elements.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PadScans : Pass<"xetile-pad-scans"> {
  let summary = "Make exclusive scans one scan each, of an input with neutral elements before it";
  let description = [{
    Before:
    ```mlir
    %y:2 = linalg.generic {["parallel", "reduction"]} ins(%x : tensor<8x99xf32>) outs(%any, %zeros) { arith.addf }
    %z = tensor.concat dim(1) %zero, %y#0 : (tensor<8x1xf32>, tensor<8x99xf32>) -> tensor<8x100xf32>
    ```
    After:
    ```mlir
    %padded = tensor.pad %x low[0, 1] high[0, 0] { tensor.yield 0.0 } : tensor<8x99xf32> to tensor<8x100xf32>
    %z:2 = linalg.generic {["parallel", "reduction"]} ins(%padded) outs(%any, %zeros) { arith.addf }
    ```
    What is put before the scan is its neutral element, in one number for all of it. One kernel computes the same, of rows that
    begin where those of the result do.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def BlockScans : Pass<"xetile-block-scans"> {
  let summary = "Scan long dimensions in blocks, all at once";
  let description = [{
    A scan is a `linalg.generic` whose only loop that is no parallel one walks over its first result, too. One of more than a few
    elements is cut into blocks:
    ```
    total[b] = x[b, 0] + .. + x[b, last]                  // a reduction
    carry[b] = total[0] + .. + total[b - 1]               // a reduction of those before; a scan where there are many blocks
    y[b, j] = carry[b] + (x[b, 0] + .. + x[b, j])         // a scan of each block
    ```
    Before:
    ```mlir
    %y:2 = linalg.generic {indexing_maps = [(n) -> (n), (n) -> (n), (n) -> ()], iterator_types = ["reduction"]}
        ins(%x : tensor<60000xf32>) outs(%any, %zero : tensor<60000xf32>, tensor<f64>) { arith.extf, arith.addf, arith.truncf }
    ```
    After:
    ```mlir
    %xs = tensor.expand_shape %x [[0, 1]] : tensor<60000xf32> into tensor<480x125xf32>
    %total = linalg.generic {["parallel", "reduction"]} ins(%xs) outs(%zeros : tensor<480xf64>) { arith.extf, arith.addf }
    %carry = linalg.generic {["parallel", "reduction"]} ins(%total) outs(%zeros) { arith.select (linalg.index 1 < linalg.index 0), arith.addf }
    %own:2 = linalg.generic {["parallel", "reduction"]} ins(%xs) outs(%any, %zeros : tensor<480x125xf64>, tensor<480xf64>) { arith.extf, arith.addf }
    %ys = linalg.generic {["parallel", "parallel"]} ins(%carry, %own#0) { arith.addf, arith.truncf }
    %y = tensor.collapse_shape %ys [[0, 1]]
    ```
    Blocks of a size that does not divide the dimension read zeros behind its end, whose results are cut off. Sizes that only the
    run knows stay as they are, and so do scans that start from other than the neutral element. Of other chips than Intel's, a
    workgroup scans a row of any length, if that is along the last dimension: rows are cut where they are few.
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to compile for; on others than Intel's, long rows are blocks where they are many">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductions : Pass<"xetile-split-reductions"> {
  let summary = "Reduce long dimensions in blocks, all at once, then what the blocks give";
  let description = [{
    A workgroup of a GPU computes a row at least. Of few long rows most of the machine has nothing to do, and a row that does not
    fit the registers is read once for each of the reductions that depend on one another. In blocks that fit, each row is read once
    by as many subgroups as it has blocks; a second reduction, of what these give, is small. Each result has one order of
    additions, whatever the machine does first.

    Reductions that depend on one another, as `transform.xetile.online` finds them, are split together:
    ```
    m[b] = max_j x[b, j];  l[b] = sum_j exp(x[b, j] - m[b])              // of a block
    m = max_b m[b];        l = sum_b l[b] exp(m[b] - m)                  // of all

    s[b] = sum_j x[b, j];  q[b] = sum_j (x[b, j] - s[b] / c[b])^2        // c[b]: elements of a block
    s = sum_b s[b];        q = sum_b q[b] + c[b] (s[b] / c[b] - s / n)^2
    ```
    Before, sums of a million numbers:
    ```mlir
    %y = linalg.generic {["parallel", "reduction"]} ins(%x : tensor<2x1000000xf32>) outs(%zero : tensor<2xf32>) { arith.addf }
    ```
    After:
    ```mlir
    %xs = tensor.expand_shape %x [[0], [1, 2]] : tensor<2x1000000xf32> into tensor<2x1000x1000xf32>
    %part = linalg.generic {["parallel", "parallel", "reduction"]} ins(%xs) outs(%zeros : tensor<2x1000xf32>) { arith.addf }
    %y = linalg.generic {["parallel", "reduction"]} ins(%part) outs(%zero : tensor<2xf32>) { arith.addf }
    ```
    Parts of sums of f16 and bf16 are f32. Of blocks that hang over the end elements are left out. Sizes that only the run knows
    stay as they are, and so do contractions and windows.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"shortest", "shortest", "int64_t", "16384", "Reductions of so many elements at most stay: a workgroup's registers hold a row">,
    Option<"rows", "rows", "int64_t", "256", "Reductions that depend on no other stay where they have more results than that">
  ];
}

def WidenSums : Pass<"xetile-widen-sums"> {
  let summary = "Sum narrow floats in f32, and a few products in windows of f32 in f64";
  let description = [{
    One rule for all sums: elements narrower than f32 (f16, bf16) are multiplied and added in f32, and rounded once, when
    the sum is complete. Tiles of contractions, in loops or made by `deep-tile-matmul`, keep it by themselves; this pass
    rewrites the others on tensors: contractions that were not tiled, convolutions, sums of pooling windows,
    `linalg.reduce` and `linalg.generic` that add, subtract or multiply into such a result. Integers are added in the
    result's type and wrap around, f32 and f64 stay what they are. Sums that several ops make (a `scf.for` that carries
    f16) are rounded between these, as written.

    With `short-f32=N` these stay. Products of f32 in windows are multiplied and added in f64 instead, where an op outside
    of loops and microkernels takes N additions at most, of known number, and more than 64 for an element: the gradient of
    a convolution's filter. That costs a microsecond, and what is left of large numbers keeps its digits.

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
  let options = [
    Option<"shortF32", "short-f32", "int64_t", "0", "Windows of f32 are summed in f64 by ops of so many products at most; 0: narrow floats in f32">
  ];
}

#endif // XETILE_LINALG_REDUCTIONPASSES_TD

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_PASSES_TD
#define XETILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertVectorToXeTile : Pass<"convert-vector-to-xetile"> {
  let summary = "Convert vector transfers and contractions to XeTile";
  let description = [{
    Converts every `vector.transfer_read` and `vector.transfer_write` of one or two dimensions and matrix-multiplying
    `vector.contract`. Offsets stay where they are computed, so a read in a loop becomes an `init_tile` in the loop.

    Before:
    ```mlir
    %a = vector.transfer_read %A[%m, %k], %zero {in_bounds = [true, true]} : memref<1024x1024xf16>, vector<256x32xf16>
    %d = vector.contract {matmul} %a, %b, %c : vector<256x32xf16>, vector<32x256xf16> into vector<256x256xf32>
    ```
    After:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<1024x1024xf16> -> !xetile.tile<256x32xf16>
    %a = xetile.load_tile %t : !xetile.tile<256x32xf16> -> vector<256x32xf16>
    %d = xetile.tile_mma %a, %b, %c : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
    ```
    A transfer that may be out of bounds becomes a tile that hangs over the edge; its padding becomes that of the load.
    A transfer inside of a `memref.subview` becomes a tile of the viewed memref; one on a column-major memref a tile with
    `order = [0, 1]`. A 2D `vector.transpose` becomes `tile_transpose`, and operands of a product that it takes transposed
    are read so. A `vector.multi_reduction` of a matrix becomes `tile_reduce`, a repeated row or column `tile_broadcast`;
    between these and vectors of one dimension stand `vector.shape_cast`s.

    A transfer's `permutation_map` says which dimensions of the memref are rows and columns: the tile is one of a
    `memref.transpose`, for a memref with batches of a `memref.subview`. Where it repeats a row or a column, the tile is one
    of `memref.expand_shape`, and its vector goes through `tile_broadcast`.

    Refused, each with an error at the operation: masks, vectors of more than two dimensions, memrefs that are contiguous
    neither along rows nor along columns, other contractions.
  }];
  let dependentDialects = ["::xetile::XeTileDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def ConvertXeTileToVector : Pass<"convert-xetile-to-vector"> {
  let summary = "Lower subgroup-level or blocked XeTile to vectors and memrefs";
  let description = [{
    The meaning of every operation in terms of upstream's dialects, for any CPU. A tile becomes
    its matrix as a memref, the matrix's two sizes and the tile's two offsets. A load or store that is not known to be
    inside of the matrix tests it at run time: whole vectors inside, element by element on the edge.

    Before:
    ```mlir
    %t = xetile.init_tile %A[%m, %k] : memref<60x60xf16> -> !xetile.tile<32x32xf16>
    %a = xetile.load_tile %t {padding = 1.0 : f16} : !xetile.tile<32x32xf16> -> vector<32x32xf16>
    ```
    After:
    ```mlir
    %a = scf.if %inside -> vector<32x32xf16> {
      %v = vector.transfer_read %A[%m, %k], %zero {in_bounds = [true, true]} : ..., vector<32x32xf16>
      scf.yield %v : vector<32x32xf16>
    } else {
      vector.transfer_write %ones, %buffer[%c0, %c0] : vector<32x32xf16>, memref<32x32xf16>
      scf.for ... // copies the elements inside to %buffer
      %v = vector.transfer_read %buffer[%c0, %c0], %zero : memref<32x32xf16>, vector<32x32xf16>
      scf.yield %v : vector<32x32xf16>
    }
    ```
    `tile_mma` becomes `vector.contract` in the result's element type, a scattered tile a 1D memref with a vector of indices. A
    matrix given by its address becomes a memref through the descriptor of MLIR's lowering to LLVM. A stride that must be
    1 but is only known at run time is checked there (`cf.assert`).

    Refused, each with an error at the operation: workgroup maps, elements of type tf32 or of integer types with a sign, tiles in
    operations other than XeTile's, `scf`'s and `func`'s.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
      "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
      "::mlir::vector::VectorDialect"];
}

def ConvertTmTensorToLinalg : Pass<"convert-tm-tensor-to-linalg"> {
  let summary = "Convert scans and scatters as torch-mlir writes them to linalg on tensors";
  let description = [{
    Torch-mlir takes cumsum and cumprod to `tm_tensor.scan`, and index_add, index_put, scatter_reduce and gradients of
    embeddings to `tm_tensor.scatter`, of a dialect that only it has. The ops are expected in their generic form, in a context
    that allows dialects which are not registered.

    Before:
    ```mlir
    %y:2 = "tm_tensor.scan"(%x, %any, %zeros) <{dimension = 1 : i64, inclusive = true, operandSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      "tm_tensor.yield"(%sum) : (f32) -> ()
    }) : (tensor<4x60xf32>, tensor<4x60xf32>, tensor<4xf32>) -> (tensor<4x60xf32>, tensor<4xf32>)
    ```
    After:
    ```mlir
    %y:2 = linalg.generic {indexing_maps = [(m, n) -> (m, n), (m, n) -> (m, n), (m, n) -> (m)], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x60xf32>) outs(%any, %zeros : tensor<4x60xf32>, tensor<4xf64>) {
    ^bb0(%element: f32, %_: f32, %before: f64):
      %wide = arith.extf %element : f32 to f64
      %sum = arith.addf %before, %wide : f64
      %rounded = arith.truncf %sum : f64 to f32
      linalg.yield %rounded, %sum : f32, f64
    }
    ```
    The loop that is no parallel one is the scan's: it walks over the first result, too, whose elements are what the second one
    was on the way. Sums and products of f32 are computed in f64 and those of f16 and bf16 in f32, each rounded once, as PyTorch
    does on CPUs.

    A scatter becomes the reduction that it is, which any path takes; who knows it for a scatter (`match_scatter`,
    `xetile-scatters-to-loops`) goes over the updates once:
    ```mlir
    %y = "tm_tensor.scatter"(%updates, %indices, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %b, %a : f32
      "tm_tensor.yield"(%sum) : (f32) -> ()
    }) : (tensor<9x1x5xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
    ```
    After:
    ```mlir
    %rows = linalg.generic ... ins(%index : tensor<9xi64>)     // index < 0 ? index + 7 : index; -1 where that is out of bounds
    %y = linalg.generic {indexing_maps = [(d, w, n) -> (n), (d, w, n) -> (n, w), (d, w, n) -> (d, w)], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%rows, %updates : tensor<9xi64>, tensor<9x5xf32>) outs(%x : tensor<7x5xf32>) {
    ^bb0(%row: i64, %update: f32, %before: f32):
      %d = arith.index_cast (linalg.index 0) : index to i64
      %here = arith.cmpi eq, %d, %row : i64
      %taken = arith.select %here, %update, %cst : f32      // -0.0
      %sum = arith.addf %before, %taken : f32
      linalg.yield %sum : f32
    }
    ```
    Several dimensions that are indexed become one. Sums and products of f16 and bf16 are computed in f32 and rounded once.
    Indices out of bounds update nothing; with `asserts` that none is, is asserted (`cf.assert`), which CPUs tell the caller.

    Refused, each with an error at the operation: exclusive scans, uses of the second result, bodies other than one commutative
    op with a neutral element, updates of parts of a row, other operations of that dialect.
  }];
  let options = [Option<"asserts", "asserts", "bool", /*default=*/"false", "Assert that indices of scatters are in bounds">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::tensor::TensorDialect"];
}

#endif // XETILE_CONVERSION_PASSES_TD

//===- TensorPasses.td - what is beside matmuls, on tensors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_TENSORPASSES_TD
#define XETILE_TARGET_CPU_TENSORPASSES_TD

include "mlir/Pass/PassBase.td"

def TileForCpu : Pass<"xetile-tile-for-cpu", "::mlir::ModuleOp"> {
  let summary = "Tile and fuse by schedules/cpu_model.mlir: what a CPU does without a schedule";
  let description = [{
    Applies the schedule `schedules/cpu_model.mlir` with what it includes, `match.mlir` and `cpu_fuse.mlir`. The library
    has these files in it, from when it was built; they are parsed once in a process. The options are the schedule's
    parameters of the same names.

    Before:
    ```mlir
    %d = linalg.matmul ins(%a, %b : ...) outs(%zeros : tensor<256x512xf32>) -> tensor<256x512xf32>
    %max = linalg.generic {... "reduction"} ins(%d : tensor<256x512xf32>) ...
    ```
    After, with the steps between the loops left out:
    ```mlir
    %d = scf.for %m = %c0 to %c256 step %c32 ... { ... linalg.generic {xetile.microkernel = ...} ... }
    %max = linalg.generic {xetile.schedule = "cpu_rows", ... "reduction"} ins(%d : tensor<256x512xf32>) ...
    ```
    Refused is what its steps refuse, at the op.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"0", "Threads to use; 0 for the machine's cores">,
    Option<"config", "config", "std::string", "\"\"", "A JSON object of fields of the configuration of all matmuls">,
    Option<"pack", "pack", "std::string", "\"auto\"", "Copy blocks of A and B: auto, always or never">,
    Option<"fuse", "fuse", "bool", "true", "Compute elementwise ops before and after a matmul inside its loops">,
    Option<"attention", "attention", "bool", "true", "Compute attention block by block of its rows, unless a config is given">,
    Option<"explain", "explain", "bool", "false", "Remark what deep-tile-matmul, xetile-fuse-attention and xetile-fuse-rows do, besides">,
    Option<"sequence", "sequence", "std::string", "\"__transform_main\"",
           "The sequence that is applied: `match` names the schedule of each op, `find_matmuls` stops before matmuls are tiled">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

def FuseRows : Pass<"xetile-fuse-rows"> {
  let summary = "Compute reductions and what surrounds them block by block, in one loop";
  let description = [{
    Before, as of a softmax:
    ```mlir
    %max = linalg.generic {... "parallel", "reduction" ...} ins(%x : tensor<64x4096xf32>) ...
    %exp = linalg.generic {...} ins(%x, %max : tensor<64x4096xf32>, tensor<64xf32>) ...
    %sum = linalg.generic {... "parallel", "reduction" ...} ins(%exp : tensor<64x4096xf32>) ...
    %y = linalg.generic {...} ins(%exp, %sum : tensor<64x4096xf32>, tensor<64xf32>) ...
    ```
    After:
    ```mlir
    %y = scf.forall (%m) = (0) to (64) step (16) shared_outs(%all = %any) -> (tensor<64x4096xf32>) {
      %rows = tensor.extract_slice %x[%m, 0] [16, 4096] [1, 1] : tensor<64x4096xf32> to tensor<16x4096xf32>
      // the four ops on 16 rows
    } {xetile.rows}
    ```
    Rows are the loops that all reductions have in common; as many of them are a block as fit half of the second-level
    cache, at least one. An op that is read elsewhere, too, stays outside, and so does one that each block would compute
    again. What the last op reads element by element, as the powers here, is computed in the memory of its results.
    Ops that touch less than that in all stay as they are. With several threads a loop is also made for other ops, which need
    none for the cache; `xetile-share-rows` gives threads their blocks. A sum is one block's: its order depends neither on
    blocks nor on threads.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark the loops and what other ops have none for">,
    Option<"rows", "rows", "int64_t", /*default=*/"0",
           "Rows of a block at most; 0 for as many as half of the second-level cache holds">,
    ListOption<"schedules", "schedules", "std::string",
               "Take only ops whose attribute xetile.schedule is one of these, and those without; by default all but 'none'">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::xetile::XeTileDialect"];
}

def FuseAttention : Pass<"xetile-fuse-attention"> {
  let summary = "Compute attention block by block of its rows, without all of its scores in memory";
  let description = [{
    Before:
    ```mlir
    %s = linalg.batch_matmul ins(%q, %kt : tensor<8x512x64xf32>, tensor<8x64x512xf32>) outs(...)  // scores
    %e, %sum = ...  // their softmax: elementwise ops, and reductions along keys
    %y = linalg.batch_matmul ins(%p, %v : tensor<8x512x512xf32>, tensor<8x512x64xf32>) outs(...)
    ```
    After:
    ```mlir
    %y = scf.forall (%head, %part) in (8, 1) shared_outs(%all = %any) -> (tensor<8x512x64xf32>) {
      %rows = scf.for %block = %c0 to %c2 step %c1 iter_args(...) {
        %s = linalg.generic {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, ...>, xetile.matmul_pack_before_loop}
            ins(%q_rows, %k_head : tensor<256x64xf32>, tensor<512x64xf32>) outs(... : tensor<256x512xf32>)
        // the softmax on 256 x 512
        %y = linalg.generic {...} ins(%p, %v_head : tensor<256x512xf32>, tensor<512x64xf32>) ...
      }
      ...
    } {xetile.rows}
    ```
    An attention is what its structure tells: a contraction, elementwise ops and reductions of its result, at least one,
    and a contraction of what these lead to along the dimension that they reduce. Reshapes, transposes, copies and
    arithmetic that nothing else uses may be anywhere, also before: a mask that is computed so is computed block by block,
    heads that share keys read the same. Where powers are multiplied by a factor of their row or divided by one, as their
    sum, the output is instead, in f32: it has fewer elements.

    A block has as many rows as have their scores in half of the second-level cache, but some 64 at least, which overflow
    it for more than some thousands of keys: there are no blocks of keys. All blocks have one size, the last one computes
    some rows again. The contractions are left to `deep-tile-matmul`, for one thread, which copies keys and values to
    packed blocks once for each head; `xetile-share-rows` gives threads heads, and parts of the rows where heads cannot
    be shared evenly.

    Left alone: scores that all stay in the first-level cache; scores or powers that something else reads, as
    gradients do; sizes that only the run knows; matmuls with a configuration of their own; contractions over so many
    elements that scores are no matter.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">,
    Option<"enabled", "enabled", "bool", "true", "False leaves all of them alone">,
    Option<"config", "config", "std::string", "\"\"",
           "What deep-tile-matmul is given for all matmuls: if it has fields attention is left alone, they are for matmuls that the user wrote">,
    Option<"explain", "explain", "bool", "false", "Change nothing; remark each attention, and why it is left alone">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect", "::xetile::XeTileDialect"];
}

def ShareRows : Pass<"xetile-share-rows"> {
  let summary = "Give each thread its share of a loop over blocks of rows";
  let description = [{
    Before, with a buffer for each block:
    ```mlir
    scf.forall (%m) = (0) to (64) step (16) {
      %scratch = memref.alloc() : memref<16x4096xf32>
      ...
      memref.dealloc %scratch : memref<16x4096xf32>
    } {xetile.rows}
    ```
    After, for two threads, with a buffer for each thread:
    ```mlir
    scf.forall (%thread) in (2) {
      %scratch = memref.alloc() : memref<16x4096xf32>
      scf.for %block = %first to %last step %c1 { ... }
      memref.dealloc %scratch : memref<16x4096xf32>
    }
    ```
    One thread has no `scf.forall`.
  }];
  let options = [Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def ScansToLoops : Pass<"xetile-scans-to-loops"> {
  let summary = "Compute scans one element, or one row of them, after the other";
  let description = [{
    A scan is a `linalg.generic` whose only loop that is no parallel one walks over its first result, too, as
    `convert-tm-tensor-to-linalg` writes it.

    Before:
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
    After:
    ```mlir
    %y = scf.for %m = %c0 to %c4 step %c1 iter_args(%all = %empty) -> (tensor<4x60xf32>) {
      %row:2 = scf.for %n = %c0 to %c60 step %c1 iter_args(%out = %all, %before = %zero) -> (tensor<4x60xf32>, f64) {
        %element = tensor.extract %x[%m, %n] : tensor<4x60xf32>
        %wide = arith.extf %element : f32 to f64
        %sum = arith.addf %before, %wide : f64
        %rounded = arith.truncf %sum : f64 to f32
        %next = tensor.insert %rounded into %out[%m, %n] : tensor<4x60xf32>
        scf.yield %next, %sum : tensor<4x60xf32>, f64
      }
      scf.yield %row#0 : tensor<4x60xf32>
    }
    ```
    A scan along another dimension than the last combines rows of the last one, by `linalg.generic`. Scans of several tensors, of
    transposed ones, and those that start from other than the neutral element, stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect"];
}

def ScattersToLoops : Pass<"xetile-scatters-to-loops"> {
  let summary = "Combine updates with the rows that they are for, one after the other";
  let description = [{
    A scatter is a `linalg.generic` that combines each row of its result with the updates whose number is this row's, as
    `convert-tm-tensor-to-linalg` writes it. As it stands it is a reduction over all updates for each row.

    Before:
    ```mlir
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
    After:
    ```mlir
    %y = scf.for %n = %c0 to %c9 step %c1 iter_args(%all = %x) -> (tensor<7x5xf32>) {
      %row = tensor.extract %rows[%n] : tensor<9xi64>
      %exists = arith.cmpi ult, (arith.index_cast %row), %c7 : index
      %next = scf.if %exists -> (tensor<7x5xf32>) {
        %sums = scf.for %w = %c0 to %c5 step %c1 iter_args(%out = %all) -> (tensor<7x5xf32>) { ... tensor.insert ... }
        scf.yield %sums : tensor<7x5xf32>
      } else {
        scf.yield %all : tensor<7x5xf32>
      }
      scf.yield %next : tensor<7x5xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
      "::mlir::tensor::TensorDialect"];
}

def VectorizeScans : Pass<"xetile-vectorize-scans"> {
  let summary = "Compute scans along rows a vector at a time, rows shared by threads";
  let description = [{
    A scan is a loop on tensors that combines each element with all before it, by one commutative op of `arith` that has a neutral
    element; elements may be converted before and after.

    Before:
    ```mlir
    %row:2 = scf.for %n = %c0 to %c1024 step %c1 iter_args(%out = %all, %before = %zero) -> (tensor<4x1024xf32>, f64) {
      %element = tensor.extract %x[%m, %n] : tensor<4x1024xf32>
      %wide = arith.extf %element : f32 to f64
      %sum = arith.addf %before, %wide : f64
      %rounded = arith.truncf %sum : f64 to f32
      %next = tensor.insert %rounded into %out[%m, %n] : tensor<4x1024xf32>
      scf.yield %next, %sum : tensor<4x1024xf32>, f64
    }
    ```
    After, for registers of 512 bits, and a second such loop for the elements that are left:
    ```mlir
    %row:2 = scf.for %n = %c0 to %c1024 step %c8 iter_args(%out = %all, %before = %zeros) -> (tensor<4x1024xf32>, vector<8xf64>) {
      %elements = vector.transfer_read %x[%m, %n], %zero {in_bounds = [true]} : tensor<4x1024xf32>, vector<8xf32>
      %wide = arith.extf %elements : vector<8xf32> to vector<8xf64>
      // three times, for groups of 1, 2 and 4 lanes: the last one of a group goes to all of the next
      %moved = vector.shuffle %none, %wide [0, 8, 2, 10, 4, 12, 6, 14] : vector<8xf64>, vector<8xf64>
      %pairs = arith.addf %moved, %wide : vector<8xf64>
      ...
      %sums = arith.addf %before, %own : vector<8xf64>
      %rounded = arith.truncf %sums : vector<8xf64> to vector<8xf32>
      %next = vector.transfer_write %rounded, %out[%m, %n] {in_bounds = [true]} : vector<8xf32>, tensor<4x1024xf32>
      ...
    }
    ```
    Floats are added in another order, in each vector as a tree. With several threads, and more than half of the second-level cache
    to read and write, loops around it that do nothing else become an `scf.forall` for `xetile-share-rows`.
  }];
  let options = [Option<"threads", "threads", "int64_t", /*default=*/"1", "Threads to use; 0 for the machine's cores">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
      "::mlir::vector::VectorDialect"];
}

def TellOps : Pass<"xetile-tell-ops", "::mlir::ModuleOp"> {
  let summary = "Remark what became of numbered linalg ops";
  let description = [{
    Changes nothing. For each number that `xetile-number-ops` wrote, one remark at the module says where its computation is:
    `7: in the loops of matmul 5`, `7: in blocks of rows with 3, 4`, `7: in one loop nest with 8`, `7: a loop nest of its own`.
    Numbers that are nowhere have none.
  }];
}

#endif // XETILE_TARGET_CPU_TENSORPASSES_TD

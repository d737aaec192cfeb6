// What sizes must fit together is computed by a function beside the one that is called.
// RUN: xetile-opt %s --split-input-file --xetile-check-sizes --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %s --split-input-file --xetile-check-sizes | FileCheck %s --check-prefix=TEXT

// Each of m, n, k once, and no more; none of the outputs' sizes twice.
// CHECK-LABEL: func @matmul_check(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?xf32, strided<[?, ?], offset: ?>>, %{{.*}}: memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME: -> (i64, i64, i64)
// CHECK: %sizes:2, {{.*}} = memref.extract_strided_metadata %[[A]]
// CHECK-DAG: arith.cmpi {{eq|ne}}, %sizes#1, %sizes_{{[0-9]+}}#0
// CHECK-DAG: arith.cmpi {{eq|ne}}, %sizes#0, %sizes_{{[0-9]+}}#0
// CHECK-DAG: arith.cmpi {{eq|ne}}, %sizes_{{[0-9]+}}#1, %sizes_{{[0-9]+}}#1
// CHECK: return
// TEXT-LABEL: func @matmul_check(
// TEXT-SAME: xetile.conditions = {{\[}}["argument 0, dimension 1", "==", "argument 1, dimension 0", "linalg.matmul in line {{[0-9]+}}"],
// TEXT-SAME: ["argument 0, dimension 0", "==", "argument 2, dimension 0", "linalg.matmul in line {{[0-9]+}}"],
// TEXT-SAME: ["argument 1, dimension 1", "==", "argument 2, dimension 1", "linalg.matmul in line {{[0-9]+}}"]]}
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // The result has the size of its destination.
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = arith.addf %d, %c : tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}

// -----

// Static sizes need no check of this kind.
// TEXT-LABEL: func @static(
// TEXT-NOT: func @static_check
func.func @static(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.addf %a, %a : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Bounds of slices in loops that are known to hold need no loop.
// TEXT-LABEL: func @tiles(
// TEXT-NOT: func @tiles_check(
func.func @tiles(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c4 iter_args(%t = %a) -> (tensor<?xf32>) {
    %s = affine.min affine_map<(i)[n] -> (4, n - i)>(%i)[%n]
    %x = tensor.extract_slice %t[%i] [%s] [1] : tensor<?xf32> to tensor<?xf32>
    %y = arith.addf %x, %x : tensor<?xf32>
    %u = tensor.insert_slice %y into %t[%i] [%s] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Others are computed for each step.
// TEXT-LABEL: func @steps_check(
// TEXT-SAME: ["a loop's index + 4", "<=", "argument 0, dimension 0", "tensor.extract_slice in line {{[0-9]+}}"]
// TEXT: scf.for
func.func @steps(%a: tensor<?xf32>, %n: tensor<index>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %m = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %m step %c4 iter_args(%t = %z) -> (tensor<4xf32>) {
    %x = tensor.extract_slice %a[%i] [4] [1] : tensor<?xf32> to tensor<4xf32>
    %u = arith.addf %t, %x : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Upstream has no bounds of the dimensions of arith.muli, whose operands have the same sizes: one column less is inside.
// TEXT-LABEL: func @columns_check(
// TEXT-SAME: conditions = {{\[}}["argument 1, dimension 1", "==", "argument 0, dimension 1", "arith.muli in line {{[0-9]+}}"],
// TEXT-SAME: ["0", "<=", "-1 + argument 0, dimension 1", "tensor.extract_slice in line {{[0-9]+}}"]]
func.func @columns(%a: tensor<1x?xi32>, %b: tensor<1x?xi32>) -> tensor<1x?xi32> {
  %c1 = arith.constant 1 : index
  %minus = arith.constant -1 : index
  %0 = arith.muli %b, %a : tensor<1x?xi32>
  %n = tensor.dim %a, %c1 : tensor<1x?xi32>
  %less = arith.addi %minus, %n : index
  %1 = tensor.extract_slice %0[0, 0] [1, %less] [1, 1] : tensor<1x?xi32> to tensor<1x?xi32>
  return %1 : tensor<1x?xi32>
}

// -----

// What the function expects is a condition where it follows from arguments, and where it is known to be asked.
// TEXT-LABEL: func @expects_check(
// TEXT-SAME: conditions = {{\[\[}}"cf.assert in line 3", "a"], ["cf.assert in line 4", "b"]]}
// TEXT: arith.cmpi slt
// TEXT: scf.if
func.func @expects(%n: tensor<i64>, %x: tensor<f32>) {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c9 = arith.constant 9 : i64
  %none = arith.constant -1 : i64
  %m = tensor.extract %n[] : tensor<i64>
  %holds = arith.cmpi slt, %m, %c9 : i64
  call @xetile_expect(%c1, %holds, %none, %none) : (i64, i1, i64, i64) -> ()
  %taken = arith.cmpi eq, %m, %c3 : i64
  scf.if %taken {
    func.call @xetile_expect(%c2, %holds, %none, %none) : (i64, i1, i64, i64) -> ()
  }
  %f = tensor.extract %x[] : tensor<f32>
  %zero = arith.constant 0.0 : f32
  %unknown = arith.cmpf ogt, %f, %zero : f32
  scf.if %unknown {
    func.call @xetile_expect(%c3, %holds, %none, %none) : (i64, i1, i64, i64) -> ()
  }
  call @xetile_expect(%c3, %unknown, %none, %none) : (i64, i1, i64, i64) -> ()
  return
}
func.func private @xetile_expect(i64, i1, i64, i64)
  attributes {xetile.expectations = [["cf.assert in line 3", "a"], ["cf.assert in line 4", "b"], ["cf.assert in line 5", "c"]]}

// -----

// Loops without rounds read nothing: it does not matter that the last index is in no tensor.
// TEXT-LABEL: func @no_rounds(
// TEXT-NOT: func @no_rounds_check
func.func @no_rounds(%x: tensor<0xf32>, %e: tensor<0xf32>) -> tensor<0xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (-i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<0xf32>) outs(%e : tensor<0xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<0xf32>
  return %y : tensor<0xf32>
}

// -----

// Computed sizes are told as they were written.
// TEXT-LABEL: func @product_check(
// TEXT-SAME: "argument 0, dimension 0 * argument 0, dimension 1"
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %all = arith.muli %m, %n : index
  %x = tensor.extract_slice %b[0] [%all] [1] : tensor<?xf32> to tensor<?xf32>
  return %x : tensor<?xf32>
}

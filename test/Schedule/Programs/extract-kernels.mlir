// Kernels of a program become modules of their own.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Numbers need not be in order; a function calls its kernels in the order in which they need one another. Constants go
// along, memory that one kernel wrote is an argument of the next, which the caller reshapes.
// CHECK: func.func private @f_0_rows(tensor<8x16xf32> {bufferization.access = "read"}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: func.func private @f_1_elementwise(tensor<2x4xf32> {bufferization.access = "read"}) -> tensor<2x4xf32>
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>
// CHECK-NEXT: %[[ROWS:.*]]:2 = call @f_0_rows(%[[X]])
// CHECK-NEXT: %[[VIEW:.*]] = tensor.expand_shape %[[ROWS]]#0
// CHECK-NEXT: %[[CHAIN:.*]] = call @f_1_elementwise(%[[VIEW]])
// CHECK-NEXT: %[[FLAT:.*]] = tensor.collapse_shape %[[CHAIN]]
// CHECK-NEXT: return %[[FLAT]], %[[ROWS]]#1
func.func @f(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
      {xetile.kernel = 5, xetile.schedule = "rows"}
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<8x16xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
      {xetile.kernel = 5, xetile.schedule = "rows"}
  %t = tensor.expand_shape %s [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %e2 = tensor.empty() : tensor<2x4xf32>
  %a = linalg.exp {xetile.kernel = 2, xetile.schedule = "elementwise"} ins(%t : tensor<2x4xf32>)
      outs(%e2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  return %r, %m : tensor<8xf32>, tensor<8xf32>
}
// CHECK: module attributes {xetile.schedule = "rows"} {
// CHECK: func.func @f_0_rows(%{{.*}}: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: arith.constant
// CHECK: linalg.fill
// CHECK: linalg.reduce
// CHECK-NOT: xetile.kernel
// CHECK: module attributes {xetile.schedule = "elementwise"} {
// CHECK: func.func @f_1_elementwise(%[[S:.*]]: tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.exp {{.*}}ins(%[[S]]
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Between kernels i1 is i8.
#id = affine_map<(i) -> (i)>
// CHECK: func.func private @bits_0_elementwise({{.*}}) -> tensor<8xi8>
// CHECK: func.func private @bits_1_elementwise(tensor<8xi8> {{.*}}, tensor<8xf32> {{.*}}) -> tensor<8xf32>
func.func @bits(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xi1>
  %e = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>)
      outs(%e1 : tensor<8xi1>) attrs = {xetile.kernel = 0, xetile.schedule = "elementwise"} {
  ^bb0(%a: f32, %o: i1):
    %c = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %c : i1
  } -> tensor<8xi1>
  %y = linalg.select {xetile.kernel = 1, xetile.schedule = "elementwise"} ins(%m, %x, %e : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>)
      outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
// CHECK: func.func @bits_0_elementwise
// CHECK: arith.cmpf
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: func.func @bits_1_elementwise(%[[BYTES:.*]]: tensor<8xi8>
// CHECK: linalg.generic {{.*}} ins(%[[BYTES]]
// CHECK: arith.cmpi ne
// CHECK: linalg.select
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Calls are in the loops and branches that their ops were in; the host's own ops come between them, and what is computed
// anywhere is where it is needed.
// CHECK-LABEL: func.func @control(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[N:.*]]: index
// CHECK: %[[A:.*]] = call @control_0_elementwise(%[[X]])
// CHECK: scf.while (%[[T:.*]] = %[[A]])
// CHECK-NEXT: %[[S:.*]] = func.call @control_1_rows(%[[T]])
// CHECK-NEXT: %[[V:.*]] = tensor.extract %[[S]]
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[V]]
// CHECK-NEXT: scf.condition(%[[C]]) %[[T]]
// CHECK: ^bb0(%[[U:.*]]: tensor<8xf32>):
// CHECK-NEXT: %[[B:.*]] = func.call @control_2_elementwise(%[[U]], %[[A]], %[[N]])
// CHECK-NEXT: scf.yield %[[B]]
func.func @control(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp {xetile.kernel = 0, xetile.schedule = "elementwise"} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.while (%t = %a) : (tensor<8xf32>) -> tensor<8xf32> {
    %e1 = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce {arith.addf} ins(%t : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
        {xetile.kernel = 1, xetile.schedule = "rows"}
    %v = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%c) %t : tensor<8xf32>
  } do {
  ^bb0(%u: tensor<8xf32>):
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%u, %a : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) attrs = {xetile.kernel = 2, xetile.schedule = "elementwise"} {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.mulf %p, %f : f32
      %d = arith.subf %m, %q : f32
      linalg.yield %d : f32
    } -> tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK: func.func @control_2_elementwise(%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>, %[[NUMBER:.*]]: index)
// CHECK: arith.index_cast %[[NUMBER]]
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// A bit that the host reads is a byte between kernels.
// CHECK-LABEL: func.func @bit(
// CHECK: %[[M:.*]] = call @bit_0_elementwise
// CHECK: %[[BYTE:.*]] = tensor.extract %[[M]][%{{.*}}] : tensor<8xi8>
// CHECK: %[[C:.*]] = arith.cmpi ne, %[[BYTE]]
// CHECK: scf.if %[[C]]
func.func @bit(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xi1>
  %e = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>)
      outs(%e1 : tensor<8xi1>) attrs = {xetile.kernel = 0, xetile.schedule = "elementwise"} {
  ^bb0(%a: f32, %o: i1):
    %c = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %c : i1
  } -> tensor<8xi1>
  %c = tensor.extract %m[%c3] : tensor<8xi1>
  %y = scf.if %c -> tensor<8xf32> {
    %a = linalg.exp {xetile.kernel = 1, xetile.schedule = "elementwise"} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.extract_kernels %root : !transform.any_op
    transform.yield
  }
}

// RUN: xetile-opt %s --xetile-split-argmax | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @argmax(
// CHECK: %[[FAR:.*]] = linalg.fill
// CHECK-NOT: linalg.generic
// CHECK: %[[LOW:.*]] = linalg.fill
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%arg0 : {{.*}}) outs(%[[LOW]]
// CHECK: arith.maximumf
// CHECK: %[[AT:.*]] = linalg.generic {{.*}} ins(%arg0, %[[MAX]]
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: linalg.index 1
// CHECK: arith.minsi
// CHECK: return %[[MAX]], %[[AT]]
func.func @argmax(%x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zero = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %ie = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %me = tensor.empty() : tensor<4xf32>
  %m = linalg.fill ins(%low : f32) outs(%me : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%m, %i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %index = linalg.index 1 : index
    %here = arith.index_cast %index : index to i64
    %larger = arith.maximumf %in, %best : f32
    %is = arith.cmpf ogt, %in, %best : f32
    %next = arith.select %is, %here, %at : i64
    linalg.yield %larger, %next : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// What starts from other values stays: an element may be worse than all of them.
// CHECK-LABEL: func.func @given(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @given(%x: tensor<4x5xf32>, %m: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%m, %i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %index = linalg.index 1 : index
    %here = arith.index_cast %index : index to i64
    %larger = arith.maximumf %in, %best : f32
    %is = arith.cmpf ogt, %in, %best : f32
    %next = arith.select %is, %here, %at : i64
    linalg.yield %larger, %next : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// Indices of 8 bits may wrap around: the least of them is not the first.
// CHECK-LABEL: func.func @narrow_indices(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @narrow_indices(%x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xi8>) {
  %zero = arith.constant 0 : i8
  %low = arith.constant 0xFF800000 : f32
  %ie = tensor.empty() : tensor<4xi8>
  %i = linalg.fill ins(%zero : i8) outs(%ie : tensor<4xi8>) -> tensor<4xi8>
  %me = tensor.empty() : tensor<4xf32>
  %m = linalg.fill ins(%low : f32) outs(%me : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%m, %i : tensor<4xf32>, tensor<4xi8>) {
  ^bb0(%in: f32, %best: f32, %at: i8):
    %index = linalg.index 1 : index
    %here = arith.index_cast %index : index to i8
    %larger = arith.maximumf %in, %best : f32
    %is = arith.cmpf ogt, %in, %best : f32
    %next = arith.select %is, %here, %at : i8
    linalg.yield %larger, %next : f32, i8
  } -> (tensor<4xf32>, tensor<4xi8>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi8>
}

// The largest element with the place of another one.
// CHECK-LABEL: func.func @other_way_around(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @other_way_around(%x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zero = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %ie = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %me = tensor.empty() : tensor<4xf32>
  %m = linalg.fill ins(%low : f32) outs(%me : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%m, %i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %best: f32, %at: i64):
    %index = linalg.index 1 : index
    %here = arith.index_cast %index : index to i64
    %larger = arith.maximumf %in, %best : f32
    %is = arith.cmpf olt, %in, %best : f32
    %next = arith.select %is, %here, %at : i64
    linalg.yield %larger, %next : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi64>
}

// A loop of one step has no index but 0; bits compare without signs.
// CHECK-LABEL: func.func @single(
// CHECK: linalg.generic
// CHECK: arith.maxui
// CHECK: linalg.generic
// CHECK: arith.minsi
func.func @single(%x: tensor<4x1xi1>) -> tensor<4xi64> {
  %zero = arith.constant 0 : i64
  %low = arith.constant false
  %ie = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %me = tensor.empty() : tensor<4xi1>
  %m = linalg.fill ins(%low : i1) outs(%me : tensor<4xi1>) -> tensor<4xi1>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x1xi1>) outs(%m, %i : tensor<4xi1>, tensor<4xi64>) {
  ^bb0(%in: i1, %best: i1, %at: i64):
    %larger = arith.maxui %in, %best : i1
    %is = arith.cmpi ugt, %in, %best : i1
    %next = arith.select %is, %zero, %at : i64
    linalg.yield %larger, %next : i1, i64
  } -> (tensor<4xi1>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

// Of a longer loop, 0 is not the index.
// CHECK-LABEL: func.func @first(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @first(%x: tensor<4x5xi32>) -> tensor<4xi64> {
  %zero = arith.constant 0 : i64
  %low = arith.constant -2147483648 : i32
  %ie = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ie : tensor<4xi64>) -> tensor<4xi64>
  %me = tensor.empty() : tensor<4xi32>
  %m = linalg.fill ins(%low : i32) outs(%me : tensor<4xi32>) -> tensor<4xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xi32>) outs(%m, %i : tensor<4xi32>, tensor<4xi64>) {
  ^bb0(%in: i32, %best: i32, %at: i64):
    %larger = arith.maxsi %in, %best : i32
    %is = arith.cmpi sgt, %in, %best : i32
    %next = arith.select %is, %zero, %at : i64
    linalg.yield %larger, %next : i32, i64
  } -> (tensor<4xi32>, tensor<4xi64>)
  return %r#1 : tensor<4xi64>
}

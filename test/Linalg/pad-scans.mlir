// RUN: xetile-opt %s --xetile-pad-scans | FileCheck %s

#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func @exclusive(
// CHECK-SAME: %[[X:.*]]: tensor<8x99xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 1] high[0, 0]
// CHECK: tensor.yield %{{.*}} : f32
// CHECK: %[[Y:.*]]:2 = linalg.generic {{.*}} ins(%[[PADDED]] : tensor<8x100xf32>) outs(%{{.*}}, %{{.*}} : tensor<8x100xf32>, tensor<8xf64>)
// CHECK-NOT: tensor.concat
// CHECK: return %[[Y]]#0
func.func @exclusive(%x: tensor<8x99xf32>) -> tensor<8x100xf32> {
  %zero = arith.constant 0.0 : f64
  %first = arith.constant dense<0.0> : tensor<8x1xf32>
  %any = tensor.empty() : tensor<8x99xf32>
  %last = tensor.empty() : tensor<8xf64>
  %from = linalg.fill ins(%zero : f64) outs(%last : tensor<8xf64>) -> tensor<8xf64>
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x99xf32>) outs(%any, %from : tensor<8x99xf32>, tensor<8xf64>) {
  ^bb0(%e: f32, %_: f32, %before: f64):
    %wide = arith.extf %e : f32 to f64
    %sum = arith.addf %before, %wide : f64
    %rounded = arith.truncf %sum : f64 to f32
    linalg.yield %rounded, %sum : f32, f64
  } -> (tensor<8x99xf32>, tensor<8xf64>)
  %z = tensor.concat dim(1) %first, %y#0 : (tensor<8x1xf32>, tensor<8x99xf32>) -> tensor<8x100xf32>
  return %z : tensor<8x100xf32>
}

// Products begin with ones.
// CHECK-LABEL: func @products(
// CHECK: tensor.pad %{{.*}} low[0, 2] high[0, 0]
// CHECK-NOT: tensor.concat
// CHECK-LABEL: func @of_zeros(
// CHECK-NOT: tensor.pad
// CHECK: tensor.concat
func.func @products(%x: tensor<8x98xi32>) -> tensor<8x100xi32> {
  %one = arith.constant 1 : i32
  %first = arith.constant dense<1> : tensor<8x2xi32>
  %any = tensor.empty() : tensor<8x98xi32>
  %last = tensor.empty() : tensor<8xi32>
  %from = linalg.fill ins(%one : i32) outs(%last : tensor<8xi32>) -> tensor<8xi32>
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x98xi32>) outs(%any, %from : tensor<8x98xi32>, tensor<8xi32>) {
  ^bb0(%e: i32, %_: i32, %before: i32):
    %product = arith.muli %before, %e : i32
    linalg.yield %product, %product : i32, i32
  } -> (tensor<8x98xi32>, tensor<8xi32>)
  %z = tensor.concat dim(1) %first, %y#0 : (tensor<8x2xi32>, tensor<8x98xi32>) -> tensor<8x100xi32>
  return %z : tensor<8x100xi32>
}
func.func @of_zeros(%x: tensor<8x98xi32>) -> tensor<8x100xi32> {
  %one = arith.constant 1 : i32
  %first = arith.constant dense<0> : tensor<8x2xi32>
  %any = tensor.empty() : tensor<8x98xi32>
  %last = tensor.empty() : tensor<8xi32>
  %from = linalg.fill ins(%one : i32) outs(%last : tensor<8xi32>) -> tensor<8xi32>
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x98xi32>) outs(%any, %from : tensor<8x98xi32>, tensor<8xi32>) {
  ^bb0(%e: i32, %_: i32, %before: i32):
    %product = arith.muli %before, %e : i32
    linalg.yield %product, %product : i32, i32
  } -> (tensor<8x98xi32>, tensor<8xi32>)
  %z = tensor.concat dim(1) %first, %y#0 : (tensor<8x2xi32>, tensor<8x98xi32>) -> tensor<8x100xi32>
  return %z : tensor<8x100xi32>
}

// Along another dimension, and a scan that somebody else reads.
// CHECK-LABEL: func @others(
// CHECK-NOT: tensor.pad
// CHECK-COUNT-2: tensor.concat
func.func @others(%x: tensor<8x99xi32>) -> (tensor<9x99xi32>, tensor<8x100xi32>, tensor<8x99xi32>) {
  %zero = arith.constant 0 : i32
  %above = arith.constant dense<0> : tensor<1x99xi32>
  %first = arith.constant dense<0> : tensor<8x1xi32>
  %any = tensor.empty() : tensor<8x99xi32>
  %last = tensor.empty() : tensor<8xi32>
  %from = linalg.fill ins(%zero : i32) outs(%last : tensor<8xi32>) -> tensor<8xi32>
  %y:2 = linalg.generic {indexing_maps = [#all, #all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x99xi32>) outs(%any, %from : tensor<8x99xi32>, tensor<8xi32>) {
  ^bb0(%e: i32, %_: i32, %before: i32):
    %sum = arith.addi %before, %e : i32
    linalg.yield %sum, %sum : i32, i32
  } -> (tensor<8x99xi32>, tensor<8xi32>)
  %p = tensor.concat dim(0) %above, %y#0 : (tensor<1x99xi32>, tensor<8x99xi32>) -> tensor<9x99xi32>
  %q = tensor.concat dim(1) %first, %y#0 : (tensor<8x1xi32>, tensor<8x99xi32>) -> tensor<8x100xi32>
  return %p, %q, %y#0 : tensor<9x99xi32>, tensor<8x100xi32>, tensor<8x99xi32>
}

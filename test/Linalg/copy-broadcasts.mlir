// RUN: xetile-opt %s --xetile-copy-broadcasts | FileCheck %s

// Each of two matmuls has a bias of its own, a second use by one op none.
// CHECK-LABEL: func @bias(
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<16xf32>)
// CHECK-COUNT-2: linalg.broadcast ins(%[[BIAS]] :
// CHECK-NOT: linalg.broadcast
// CHECK: return
func.func @bias(%x: tensor<64x8xf32>, %v: tensor<8x16xf32>, %bias: tensor<16xf32>)
    -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %any = tensor.empty() : tensor<64x16xf32>
  %b = linalg.broadcast ins(%bias : tensor<16xf32>) outs(%any : tensor<64x16xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %v : tensor<64x8xf32>, tensor<8x16xf32>) outs(%b : tensor<64x16xf32>) -> tensor<64x16xf32>
  %q = linalg.add ins(%b, %b : tensor<64x16xf32>, tensor<64x16xf32>) outs(%any : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %p, %q : tensor<64x16xf32>, tensor<64x16xf32>
}

// What computes, and what is not much larger than its input, stays one for all.
// CHECK-LABEL: func @one(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @one(%x: tensor<16xf32>, %y: tensor<2x4xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %any = tensor.empty() : tensor<64x16xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16xf32>) outs(%any : tensor<64x16xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<64x16xf32>
  %p = linalg.exp ins(%b : tensor<64x16xf32>) outs(%any : tensor<64x16xf32>) -> tensor<64x16xf32>
  %q = linalg.abs ins(%b : tensor<64x16xf32>) outs(%any : tensor<64x16xf32>) -> tensor<64x16xf32>
  %few = tensor.empty() : tensor<4x2x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%y : tensor<2x4xf32>) outs(%few : tensor<4x2x4xf32>) {
  ^bb0(%a: f32, %unused: f32):
    linalg.yield %a : f32
  } -> tensor<4x2x4xf32>
  %r = tensor.extract_slice %c[0, 0, 0] [4, 1, 4] [1, 1, 1] : tensor<4x2x4xf32> to tensor<4x4xf32>
  %s = tensor.extract_slice %c[0, 1, 0] [4, 1, 4] [1, 1, 1] : tensor<4x2x4xf32> to tensor<4x4xf32>
  return %p, %q, %r, %s : tensor<64x16xf32>, tensor<64x16xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

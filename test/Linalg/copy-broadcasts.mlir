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

// A compare of few numbers is made anew for each reader, maybe of another shape; of many it is not, nor for a matmul.
// CHECK-LABEL: func @little(
// CHECK-COUNT-2: arith.cmpi eq
// CHECK-NOT: arith.cmpi eq
// CHECK: arith.cmpi ne
// CHECK-NOT: arith.cmpi ne
// CHECK: arith.addi
// CHECK-NOT: arith.addi
// CHECK: return
func.func @little(%x: tensor<8xi64>, %many: tensor<8192xi64>, %k: tensor<8x8xi64>, %c: tensor<8x8xi64>)
    -> (tensor<8xi64>, tensor<8x1xi64>, tensor<8192xi64>, tensor<8192xi64>, tensor<8x8xi64>, tensor<8x8xi64>) {
  %seven = arith.constant 7 : i64
  %bits = tensor.empty() : tensor<8xi1>
  %is = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi64>) outs(%bits : tensor<8xi1>) {
  ^bb0(%a: i64, %unused: i1):
    %e = arith.cmpi eq, %a, %seven : i64
    linalg.yield %e : i1
  } -> tensor<8xi1>
  %any = tensor.empty() : tensor<8xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%is : tensor<8xi1>) outs(%any : tensor<8xi64>) {
  ^bb0(%a: i1, %unused: i64):
    %e = arith.extui %a : i1 to i64
    linalg.yield %e : i64
  } -> tensor<8xi64>
  %column = tensor.expand_shape %is [[0, 1]] output_shape [8, 1] : tensor<8xi1> into tensor<8x1xi1>
  %columns = tensor.empty() : tensor<8x1xi64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%column : tensor<8x1xi1>) outs(%columns : tensor<8x1xi64>) {
  ^bb0(%a: i1, %unused: i64):
    %e = arith.extsi %a : i1 to i64
    linalg.yield %e : i64
  } -> tensor<8x1xi64>
  %manyBits = tensor.empty() : tensor<8192xi1>
  %are = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%many : tensor<8192xi64>) outs(%manyBits : tensor<8192xi1>) {
  ^bb0(%a: i64, %unused: i1):
    %e = arith.cmpi ne, %a, %seven : i64
    linalg.yield %e : i1
  } -> tensor<8192xi1>
  %long = tensor.empty() : tensor<8192xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%are : tensor<8192xi1>) outs(%long : tensor<8192xi64>) {
  ^bb0(%a: i1, %unused: i64):
    %e = arith.extui %a : i1 to i64
    linalg.yield %e : i64
  } -> tensor<8192xi64>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%are : tensor<8192xi1>) outs(%long : tensor<8192xi64>) {
  ^bb0(%a: i1, %unused: i64):
    %e = arith.extsi %a : i1 to i64
    linalg.yield %e : i64
  } -> tensor<8192xi64>
  %square = tensor.empty() : tensor<8x8xi64>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<8x8xi64>) outs(%square : tensor<8x8xi64>) {
  ^bb0(%a: i64, %unused: i64):
    %e = arith.addi %a, %seven : i64
    linalg.yield %e : i64
  } -> tensor<8x8xi64>
  %t = linalg.matmul ins(%w, %c : tensor<8x8xi64>, tensor<8x8xi64>) outs(%c : tensor<8x8xi64>) -> tensor<8x8xi64>
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<8x8xi64>) outs(%square : tensor<8x8xi64>) {
  ^bb0(%a: i64, %unused: i64):
    %e = arith.muli %a, %a : i64
    linalg.yield %e : i64
  } -> tensor<8x8xi64>
  return %p, %q, %r, %s, %t, %u : tensor<8xi64>, tensor<8x1xi64>, tensor<8192xi64>, tensor<8192xi64>, tensor<8x8xi64>, tensor<8x8xi64>
}

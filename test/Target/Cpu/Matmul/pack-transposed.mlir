// RUN: xetile-opt %s --deep-tile-matmul="threads=1 pack=always" | FileCheck %s
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {
// Squares of 16 x 16 of a B of n x k are transposed where panels are made: fours of elements are read to the quarter of a
// register where they belong, from rows 0, 4, 8 and 12 into the first.
// CHECK-LABEL: func @squares
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[ROW0:.*]] = vector.transfer_read {{.*}} {in_bounds = [true]} : tensor<64x40xf32>, vector<4xf32>
// CHECK: %[[ONE:.*]] = vector.insert_strided_slice %[[ROW0]], %[[ZEROS]] {offsets = [0], strides = [1]}
// CHECK: %[[ROW4:.*]] = vector.transfer_read {{.*}} vector<4xf32>
// CHECK: vector.insert_strided_slice %[[ROW4]], %[[ONE]] {offsets = [4], strides = [1]}
// CHECK: %[[UPPER:.*]] = vector.shuffle {{.*}} [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29]
// CHECK: %[[LOWER:.*]] = vector.shuffle {{.*}} [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29]
// CHECK: vector.shuffle %[[UPPER]], %[[LOWER]] [0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29]
// CHECK: vector.shuffle %[[UPPER]], %[[LOWER]] [2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31]
// CHECK-COUNT-16: vector.transfer_write
//
// The last 8 of k, whole rows with zeros behind.
// CHECK-COUNT-16: vector.transfer_read {{.*}} : tensor<64x40xf32>, vector<16xf32>
// CHECK: vector.transpose {{.*}} vector<16x16xf32>
// CHECK-COUNT-16: vector.transfer_write
func.func @squares(%a: tensor<64x40xf32>, %b: tensor<64x40xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul indexing_maps = [#a, #b, #c]
      {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8, innermostNBlock = 32, NBlock = 64, KBlock = 40>}
      ins(%a, %b : tensor<64x40xf32>, tensor<64x40xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}

// RUN: xetile-opt %s --deep-tile-matmul="threads=1 pack=always" --canonicalize --cse --split-input-file | FileCheck %s

// An A of k x m whose pairs become rows: squares of 16 pairs are read, of 32 elements of k. 48 are one and a half: pairs past
// the end are zeros, and read a row that is there.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @half_a_square
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %{{.*}}, %c48
// CHECK: arith.select %{{.*}}, %{{.*}} : vector<32xbf16>
// CHECK: linalg.generic
func.func @half_a_square(%a: tensor<48x32xbf16>, %b: tensor<48x64xbf16>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %d = linalg.contract indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<48x32xbf16>, tensor<48x64xbf16>) outs(%c : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %d : tensor<32x64xf32>
}
}

// -----

// 64 are two squares.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @whole_squares
// CHECK-NOT: arith.cmpi ult
// CHECK-NOT: arith.select %{{.*}} : vector<32xbf16>
// CHECK: linalg.generic
func.func @whole_squares(%a: tensor<64x32xbf16>, %b: tensor<64x64xbf16>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %d = linalg.contract indexing_maps = [#a, #b, #c]
      ins(%a, %b : tensor<64x32xbf16>, tensor<64x64xbf16>) outs(%c : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %d : tensor<32x64xf32>
}
}

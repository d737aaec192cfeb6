// RUN: xetile-opt %s --xetile-fuse-rows --canonicalize | FileCheck %s

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 49152 : i32,
  "L2_cache_size_in_bytes" = 2097152 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>

module attributes {dlti.target_system_spec = #machine} {
// Rows of 6 KiB, read and written: four are what three quarters of the first level hold.
// CHECK-LABEL: func @short
// CHECK: scf.forall (%{{.*}}) = (0) to (1024) step (4)
func.func @short(%x: tensor<1024x768xf32>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<1024xf32>) -> tensor<1024xf32>
  %all = tensor.empty() : tensor<1024x768xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x768xf32>) outs(%zeros : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<1024x768xf32>, tensor<1024xf32>) outs(%all : tensor<1024x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024x768xf32>
  return %y : tensor<1024x768xf32>
}

// A row of 256 KiB is too long for it: blocks are those of the second level.
// CHECK-LABEL: func @long
// CHECK: scf.forall (%{{.*}}) = (0) to (1024) step (2)
func.func @long(%x: tensor<1024x32768xf32>) -> tensor<1024x32768xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<1024xf32>) -> tensor<1024xf32>
  %all = tensor.empty() : tensor<1024x32768xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x32768xf32>) outs(%zeros : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<1024x32768xf32>, tensor<1024xf32>) outs(%all : tensor<1024x32768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024x32768xf32>
  return %y : tensor<1024x32768xf32>
}
}

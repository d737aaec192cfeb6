// RUN: xetile-opt %s --split-input-file --xetile-share-ops=threads=16 --canonicalize --cse | FileCheck %s

// 16 KiB are read in 139 ns and written in 208: 3.5 times as long as a fork. Parts take a quarter of one, at least.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "fork_ns" = 100.0 : f64,
  "read_l2_ns" = 8.7 : f64, "write_l2_ns" = 13.0 : f64>>
#same = affine_map<(m, n) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @most_of_a_team
// CHECK: scf.forall (%{{.*}}) in (13)
func.func @most_of_a_team(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "fork_ns" = 120.0 : f64,
  "read_l2_ns" = 8.7 : f64, "write_l2_ns" = 13.0 : f64>>
#same = affine_map<(m, n) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @too_short
// CHECK-NOT: scf.forall
// CHECK-LABEL: func @short_rows
// CHECK: scf.forall (%{{.*}}) in (16)
func.func @too_short(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
// As many elements in rows of two, one of which is a step of vectors.
func.func @short_rows(%x: memref<2048x2xf32>, %y: memref<2048x2xf32>) {
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<2048x2xf32>) outs(%y : memref<2048x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
}

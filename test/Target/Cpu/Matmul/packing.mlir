// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=always" | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1" | FileCheck %s --check-prefix=AUTO

// B is copied to panels outside of the loop over m, A inside of it; rows of A are an odd number of cache lines apart.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @order_nkm
// CHECK-DAG: %[[ROWS:.*]] = tensor.empty() : tensor<128x272xf32>
// CHECK-DAG: %[[PANELS:.*]] = tensor.empty() : tensor<8x256x32xf32>
// CHECK: scf.for {{.*}} -> (tensor<512x256xf32>) {
// CHECK: vector.transfer_write {{.*}} tensor<8x256x32xf32>
// CHECK: scf.for {{.*}} -> (tensor<512x256xf32>) {
// CHECK: vector.transfer_write {{.*}} tensor<128x272xf32>
// CHECK: linalg.batch_reduce_matmul
func.func @order_nkm(%a: tensor<512x1024xf32>, %b: tensor<1024x256xf32>, %c: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 128, NBlock = 256, KBlock = 256,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<512x1024xf32>, tensor<1024x256xf32>) outs(%c : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %d : tensor<512x256xf32>
}
}

// -----

// Pairs of k are read from rows of A where these are; B is copied in pairs.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// AUTO-LABEL: func @in_place
// AUTO-SAME: %[[A:.*]]: tensor<8x256xbf16>, %[[B:[^:]*]]:
// AUTO: %[[PANELS:.*]] = tensor.empty() : tensor<2x128x64xbf16>
// AUTO-NOT: tensor.empty
// AUTO: vector.interleave
// AUTO: %[[ROWS:.*]] = tensor.extract_slice %[[A]][0, 0] [8, 256]
// AUTO: %[[PAIRS:.*]] = tensor.expand_shape %[[ROWS]] {{.*}} tensor<8x256xbf16> into tensor<8x128x2xbf16>
// AUTO: linalg.generic {{.*}} ins(%[[PAIRS]], %{{.*}} : tensor<8x128x2xbf16>, tensor<128x32x2xbf16>)
func.func @in_place(%a: tensor<8x256xbf16>, %b: tensor<256x64xbf16>, %c: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8, innermostNBlock = 32>}
      ins(%a, %b : tensor<8x256xbf16>, tensor<256x64xbf16>) outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %d : tensor<8x64xf32>
}
}

// -----

// What is computed from the zeros past the edge of k is no zero: it is masked, in A, and in B that is transposed.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "bf16_dot" = 1 : i32>>
#id = affine_map<(i, j) -> (i, j)>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @computed_edge
// CHECK: %[[A:.*]] = math.log %{{.*}} : vector<32xbf16>
// CHECK: %[[INSIDE:.*]] = vector.create_mask %{{.*}} : vector<32xi1>
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<32xbf16>
// CHECK: %[[MASKED:.*]] = arith.select %[[INSIDE]], %[[A]], %[[ZEROS]]
// CHECK: vector.transfer_write %[[MASKED]]
// CHECK: %[[B:.*]] = math.exp %{{.*}} : vector<32xbf16>
// CHECK: %[[COLUMNS:.*]] = vector.create_mask %{{.*}} : vector<32xi1>
// CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<32xbf16>
// CHECK: %[[ROW:.*]] = arith.select %[[COLUMNS]], %[[B]], %[[NONE]]
// CHECK: vector.bitcast %[[ROW]] : vector<32xbf16> to vector<16xi32>
func.func @computed_edge(%a: tensor<40x31xbf16>, %b: tensor<64x31xbf16>, %c: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %ea = tensor.empty() : tensor<40x31xbf16>
  %eb = tensor.empty() : tensor<64x31xbf16>
  %la = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x31xbf16>) outs(%ea : tensor<40x31xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = math.log %x : bf16
    linalg.yield %y : bf16
  } -> tensor<40x31xbf16>
  %lb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<64x31xbf16>) outs(%eb : tensor<64x31xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %y = math.exp %x : bf16
    linalg.yield %y : bf16
  } -> tensor<64x31xbf16>
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%la, %lb : tensor<40x31xbf16>, tensor<64x31xbf16>) outs(%c : tensor<40x64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}
}

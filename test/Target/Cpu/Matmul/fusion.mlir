// Elementwise ops around a matmul become part of its loops, one op on each tile.
// RUN: xetile-opt %s --deep-tile-matmul="threads=2 pack=never" --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %s --deep-tile-matmul="threads=2 pack=never fuse=false" | FileCheck %s --check-prefix=APART

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
#config = #xetile.matmul_config<MThreads = 2, NThreads = 1, KThreads = 1, MBlock = 32, NBlock = 64, KBlock = 64,
    innermostMBlock = 8, innermostNBlock = 64, innermostKBlock = 64>
#steps = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 1, MBlock = 32, NBlock = 64, KBlock = 16,
    innermostMBlock = 8, innermostNBlock = 64, innermostKBlock = 16, loopOrder = 0>
#k_threads = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 2>
#t = affine_map<(m, n) -> (m, n)>
module attributes {dlti.target_system_spec = #machine} {

// relu(a @ b + bias): the broadcast, the addition and the maximum on the tile that the microkernel leaves.
// CHECK-LABEL: func @bias_relu
// CHECK-SAME: (%{{.*}}, %{{.*}}, %[[BIAS:.*]]: tensor<64xf32>)
// CHECK-NOT: linalg.generic
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = linalg.batch_reduce_matmul
// CHECK-NEXT: %[[DONE:.*]] = linalg.generic
// CHECK-SAME: ins(%[[BIAS]] : tensor<64xf32>) outs(%[[SUM]] : tensor<8x64xf32>)
// CHECK: arith.addf
// CHECK-NEXT: arith.maximumf
// CHECK: tensor.insert_slice %[[DONE]]
// CHECK: scf.forall.in_parallel
// CHECK-NOT: linalg
// CHECK: return
// APART-LABEL: func @bias_relu
// APART: scf.forall.in_parallel
// APART: arith.addf {{.*}} : tensor<64x64xf32>
// APART: arith.maximumf {{.*}} : tensor<64x64xf32>
func.func @bias_relu(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %bias: tensor<64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul {xetile.matmul_config = #config}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = linalg.broadcast ins(%bias : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
  %s = arith.addf %d, %v : tensor<64x64xf32>
  %r = arith.maximumf %s, %zeros : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A narrow result: sums of several steps of k stay in f32, as many as the loop over k goes through, and are cast in
// the last step.
// CHECK-LABEL: func @cast
// CHECK: %[[SUMS:.*]] = tensor.empty() : tensor<32x64xf32>
// CHECK: scf.for {{.*}} -> (tensor<64x64xbf16>) {
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c16 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[SUMS]]) -> (tensor<64x64xbf16>, tensor<32x64xf32>) {
// CHECK: linalg.batch_reduce_matmul
// CHECK: %[[END:.*]] = affine.apply #{{.*}}()[%[[K]]]
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[END]], %c64
// CHECK: %[[TIMES:.*]] = arith.select %[[LAST]], %c1, %c0
// CHECK: scf.for %{{.*}} = %c0 to %[[TIMES]] step %c1
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x64xf32>) outs(%{{.*}} : tensor<8x64xbf16>)
// CHECK: arith.truncf
func.func @cast(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %d = linalg.matmul {xetile.matmul_config = #steps}
      ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %d : tensor<64x64xbf16>
}

// With threads of k the reduction does what follows.
// CHECK-LABEL: func @k_threads
// CHECK: scf.forall
// CHECK-NOT: linalg.generic
// CHECK: scf.forall.in_parallel
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: math.absf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @k_threads(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul {xetile.matmul_config = #k_threads}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = math.absf %d : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// What comes before is computed on vectors where blocks are copied, even if blocks are not copied otherwise.
// CHECK-LABEL: func @producer
// CHECK-SAME: (%[[A:.*]]: tensor<64x64xbf16>
// CHECK-NOT: linalg.generic
// CHECK: %[[X:.*]] = vector.transfer_read %{{.*}} : tensor<32x64xbf16>, vector<16xbf16>
// CHECK-NEXT: %[[Y:.*]] = arith.extf %[[X]] : vector<16xbf16> to vector<16xf32>
// CHECK-NEXT: %[[Z:.*]] = math.absf %[[Y]] : vector<16xf32>
// CHECK-NEXT: vector.transfer_write %[[Z]]
// CHECK: linalg.batch_reduce_matmul
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @producer(%a: tensor<64x64xbf16>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = arith.extf %a : tensor<64x64xbf16> to tensor<64x64xf32>
  %y = math.absf %x : tensor<64x64xf32>
  %d = linalg.matmul {xetile.matmul_config = #config}
      ins(%y, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// A result with another use is kept, and what follows stays outside.
// CHECK-LABEL: func @two_uses
// CHECK: %[[D:.*]] = scf.forall
// CHECK: math.absf %[[D]] : tensor<64x64xf32>
func.func @two_uses(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %d = linalg.matmul {xetile.matmul_config = #config}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = math.absf %d : tensor<64x64xf32>
  return %d, %r : tensor<64x64xf32>, tensor<64x64xf32>
}
}

// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=always" | FileCheck %s
// What is printed can be read again.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=always" | xetile-opt --split-input-file | FileCheck %s
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=1 pack=always" \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --cse --xetile-lower-microkernels="vector-bits=512" \
// RUN:   --canonicalize | FileCheck %s --check-prefix=LOWERED

// All of m is one block, and B is larger than half of the second level. A block of B is 64 rows of 32 columns, of two lines
// each, and the microkernel is called 4 times for it: each call fetches 16 rows of the block that is packed next.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 8192 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @columns
// CHECK-SAME: %[[B:[^:]*]]: tensor<64x96xf32>
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c96{{.*}} step %c32
// CHECK: scf.for %[[M:.*]] = %{{.*}} to %c32{{.*}} step %c8
// CHECK: %[[MEMORY:.*]] = bufferization.to_buffer %[[B]] read_only : tensor<64x96xf32> to memref<64x96xf32, strided<[?, ?], offset: ?>>
// CHECK: memref.prefetch %[[MEMORY]][%{{.*}}, %{{.*}}], read, locality<2>, data : memref<64x96xf32
// CHECK: linalg.batch_reduce_matmul {{{.*}}xetile.fetched = array<i64: 32, 2, 1>{{.*}}}

// 32 lines in 64 steps: one in every second.
// LOWERED-LABEL: func.func @columns
// LOWERED: scf.for %[[FROM:.*]] = %c0 to %c64 step %c2 iter_args
// LOWERED: %[[LINE:.*]] = affine.apply {{.*}}[%[[FROM]]]
// LOWERED: memref.prefetch %{{.*}}, read, locality<2>, data :
// LOWERED-NEXT: %[[TO:.*]] = affine.apply {{.*}}[%[[FROM]]]
// LOWERED-NEXT: scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1 iter_args
// LOWERED-NOT: xetile.fetched
func.func @columns(%a: tensor<32x64xf32>, %b: tensor<64x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 32, NBlock = 32, KBlock = 64,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<32x64xf32>, tensor<64x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}
}

// -----

// Rows of a transposed B are those of n; the last 32 of 40 calls fetch one each.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32,
  "L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 8192 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @rows
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c96{{.*}} step %c32
// CHECK: scf.for %[[M:.*]] = %{{.*}} to %c80{{.*}} step %c2
// CHECK: affine.max {{.*}}[%[[M]]]
// CHECK: memref.prefetch
// CHECK: xetile.fetched = array<i64: 64, 16, 1>
func.func @rows(%a: tensor<80x64xf32>, %b: tensor<96x64xf32>, %c: tensor<80x96xf32>) -> tensor<80x96xf32> {
  %d = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {xetile.matmul_config = #xetile.matmul_config<MBlock = 80, NBlock = 32, KBlock = 64,
      innermostMBlock = 2, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<80x64xf32>, tensor<96x64xf32>) outs(%c : tensor<80x96xf32>) -> tensor<80x96xf32>
  return %d : tensor<80x96xf32>
}

// Several blocks of k: the first one of the next n follows the last.
// CHECK-LABEL: func @steps
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c96
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c64
// CHECK: %[[ENDS:.*]] = arith.cmpi uge, %{{.*}}, %c64
// CHECK: arith.select %[[ENDS]], %c0
// CHECK: arith.select %[[ENDS]], %{{.*}}, %[[N]]
// CHECK: memref.prefetch
func.func @steps(%a: tensor<32x64xf32>, %b: tensor<64x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 32, NBlock = 32, KBlock = 32,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<32x64xf32>, tensor<64x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}

// One block, several blocks of m, sizes that are not known, a B that is near: nothing is fetched.
// CHECK-LABEL: func @one_block
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @one_block(%a: tensor<32x64xf32>, %b: tensor<64x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 32, NBlock = 96, KBlock = 64,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<32x64xf32>, tensor<64x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}

// CHECK-LABEL: func @blocks_of_m
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @blocks_of_m(%a: tensor<32x64xf32>, %b: tensor<64x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 16, NBlock = 32, KBlock = 64,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<32x64xf32>, tensor<64x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}

// CHECK-LABEL: func @dynamic
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @dynamic(%a: tensor<32x?xf32>, %b: tensor<?x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 32, NBlock = 32, KBlock = 64,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 16, loopOrder = 3>}
      ins(%a, %b : tensor<32x?xf32>, tensor<?x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}

// CHECK-LABEL: func @near
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @near(%a: tensor<32x8xf32>, %b: tensor<8x96xf32>, %c: tensor<32x96xf32>) -> tensor<32x96xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 32, NBlock = 32, KBlock = 8,
      innermostMBlock = 8, innermostNBlock = 32, innermostKBlock = 8, loopOrder = 3>}
      ins(%a, %b : tensor<32x8xf32>, tensor<8x96xf32>) outs(%c : tensor<32x96xf32>) -> tensor<32x96xf32>
  return %d : tensor<32x96xf32>
}
}

// The document's examples: threads of m and n; then threads of k with partial results in a leading dimension.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="pack=never" --canonicalize | FileCheck %s

// CHECK-LABEL: func @mn_threads
// CHECK-SAME: (%[[A:.*]]: tensor<256x128xf32>, %[[B:.*]]: tensor<128x512xf32>, %[[C:.*]]: tensor<256x512xf32>)
// CHECK: %[[R:.*]] = scf.forall (%[[MT:.*]], %[[NT:.*]]) in (2, 2) shared_outs(%[[S:.*]] = %[[C]])
// CHECK-DAG: %[[M:.*]] = affine.apply #{{.*}}(){{\[}}%[[MT]]]
// CHECK-DAG: %[[N:.*]] = affine.apply #{{.*}}(){{\[}}%[[NT]]]
// CHECK-DAG: tensor.extract_slice %[[A]][%{{.*}}, 0] [128, 128]
// CHECK-DAG: tensor.extract_slice %[[B]][0, %{{.*}}] [128, 256]
// CHECK-DAG: tensor.extract_slice %[[S]][%{{.*}}, %{{.*}}] [128, 256]
// The loops over blocks run once and are gone; m goes around n, as in the loop order mnk.
// CHECK: scf.for %[[IM:.*]] = %c0 to %c128 step %c32
// CHECK-NEXT: scf.for %[[IN:.*]] = %c0 to %c256 step %c32
// CHECK: linalg.batch_reduce_matmul
// CHECK-SAME: ins({{.*}} : tensor<1x32x128xf32>, tensor<1x128x32xf32>) outs({{.*}} : tensor<32x32xf32>)
// CHECK: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice %{{.*}} into %[[S]][%{{.*}}, %{{.*}}] [128, 256]
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 8 : i32>>
module attributes {dlti.target_system_spec = #machine} {
  func.func @mn_threads(%a: tensor<256x128xf32>, %b: tensor<128x512xf32>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
    %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, NThreads = 2, KThreads = 1,
        MBlock = 128, NBlock = 256, KBlock = 128, innermostMBlock = 32, innermostNBlock = 32, innermostKBlock = 32,
        loopOrder = 0>}
        ins(%a, %b : tensor<256x128xf32>, tensor<128x512xf32>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
    return %d : tensor<256x512xf32>
  }
}

// -----

// CHECK-LABEL: func @k_threads
// CHECK-SAME: (%[[A:.*]]: tensor<256x128xbf16>, %[[B:.*]]: tensor<128x512xbf16>, %[[C:.*]]: tensor<256x512xbf16>)
// Partial results are f32, whatever the result is.
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x256x512xf32>
// CHECK: %[[P:.*]] = scf.forall (%{{.*}}, %{{.*}}, %[[KT:.*]]) in (2, 2, 2) shared_outs(%[[S:.*]] = %[[E]])
// Each thread of k reads its own half of k.
// CHECK-DAG: tensor.extract_slice %[[A]][%{{.*}}, %{{.*}}] [128, 64]
// CHECK-DAG: tensor.extract_slice %[[B]][%{{.*}}, %{{.*}}] [64, 256]
// CHECK-DAG: tensor.extract_slice %[[S]][%[[KT]], %{{.*}}, %{{.*}}] [1, 128, 256]
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.batch_reduce_matmul
// CHECK-SAME: tensor<1x32x64xbf16>, tensor<1x64x32xbf16>) outs({{.*}} : tensor<32x32xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[S]][%[[KT]], %{{.*}}, %{{.*}}] [1, 128, 256]
// CHECK: %[[P0:.*]] = tensor.extract_slice %[[P]][0, 0, 0]
// CHECK: %[[P1:.*]] = tensor.extract_slice %[[P]][1, 0, 0]
// CHECK: linalg.generic {{.*}} ins(%[[P0]], %[[P1]] : tensor<256x512xf32>, tensor<256x512xf32>) outs(%[[C]] : tensor<256x512xbf16>)
// CHECK: arith.truncf
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 8 : i32>>
module attributes {dlti.target_system_spec = #machine} {
  func.func @k_threads(%a: tensor<256x128xbf16>, %b: tensor<128x512xbf16>, %c: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
    %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, NThreads = 2, KThreads = 2,
        MBlock = 128, NBlock = 256, KBlock = 64, innermostMBlock = 32, innermostNBlock = 32, innermostKBlock = 32,
        loopOrder = 0>}
        ins(%a, %b : tensor<256x128xbf16>, tensor<128x512xbf16>) outs(%c : tensor<256x512xbf16>) -> tensor<256x512xbf16>
    return %d : tensor<256x512xbf16>
  }
}

// -----

// The other loop order turns the loops around.
// CHECK-LABEL: func @order_knm
// CHECK: scf.for %[[K:.*]] = %c0 to %c128 step %c64
// CHECK: scf.for %[[N:.*]] = %c0 to %c512 step %c256
// CHECK: scf.for %[[M:.*]] = %c0 to %c256 step %c128
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32
// The first step of k starts from zeros.
// CHECK: arith.cmpi eq, %[[K]], %c0
// CHECK-NEXT: scf.if
// CHECK: linalg.fill
func.func @order_knm(%a: tensor<256x128xf32>, %b: tensor<128x512xf32>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 1, NThreads = 1, KThreads = 1,
      MBlock = 128, NBlock = 256, KBlock = 64, innermostMBlock = 32, innermostNBlock = 32, innermostKBlock = 32,
      loopOrder = 5>}
      ins(%a, %b : tensor<256x128xf32>, tensor<128x512xf32>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %d : tensor<256x512xf32>
}

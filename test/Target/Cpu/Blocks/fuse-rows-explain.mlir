// RUN: xetile-opt %s --xetile-fuse-rows=explain --split-input-file --verify-diagnostics
// RUN: xetile-opt %s --xetile-fuse-rows=explain --split-input-file 2>/dev/null | FileCheck %s
// Remarks alone: nothing changes.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L2_cache_size_in_bytes" = 8192 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>

module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @softmax
// CHECK-NOT: scf.forall
func.func @softmax(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-note @+1 {{linalg.exp to 'tensor<64x64xf32>'}}
  %exp = linalg.exp ins(%x : tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-note @+1 {{linalg.reduce to 'tensor<64xf32>'}}
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<64x64xf32>) outs(%z : tensor<64xf32>) dimensions = [1]
  // expected-remark @+2 {{rows: 16 blocks of 4x64, each through 3 ops}}
  // expected-note @+1 {{a block touches 3104 bytes, all of them 49664 bytes; half of the second-level cache has 4096}}
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x64xf32>, tensor<64xf32>) outs(%f : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

func.func @others(%x: tensor<64x64xf32>, %n: tensor<0x4xf32>, %f: tensor<64x64xf32>) {
  %z = arith.constant dense<0.0> : tensor<f32>
  %s = arith.constant dense<0.0> : tensor<4xf32>
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{no op before it could share its rows}}
  %exp = linalg.exp ins(%x : tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{it has no rows, all of it becomes one number}}
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<64x64xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{it has no elements}}
  %none = linalg.reduce { arith.addf } ins(%n : tensor<0x4xf32>) outs(%s : tensor<4xf32>) dimensions = [0]
  return
}

// Nothing is tried for each of so many rows, be they none of any memory or a prime.
func.func @huge(%x: tensor<9223372036854775807x9223372036854775807xf32>, %p: tensor<2147483647x4xf32>)
    -> (tensor<9223372036854775807x9223372036854775807xf32>, tensor<2147483647x4xf32>) {
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{no op before it could share its rows}}
  %0 = linalg.exp ins(%x : tensor<9223372036854775807x9223372036854775807xf32>) outs(%x : tensor<9223372036854775807x9223372036854775807xf32>) -> tensor<9223372036854775807x9223372036854775807xf32>
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{its rows cannot be cut into equal blocks}}
  %1 = linalg.sqrt ins(%0 : tensor<9223372036854775807x9223372036854775807xf32>) outs(%x : tensor<9223372036854775807x9223372036854775807xf32>) -> tensor<9223372036854775807x9223372036854775807xf32>
  // expected-note @+1 {{linalg.exp}}
  %2 = linalg.exp ins(%p : tensor<2147483647x4xf32>) outs(%p : tensor<2147483647x4xf32>) -> tensor<2147483647x4xf32>
  // expected-remark @+2 {{rows: 2147483647 blocks of 1x4, each through 2 ops}}
  // expected-note @+1 {{a block touches}}
  %3 = linalg.sqrt ins(%2 : tensor<2147483647x4xf32>) outs(%p : tensor<2147483647x4xf32>) -> tensor<2147483647x4xf32>
  return %1, %3 : tensor<9223372036854775807x9223372036854775807xf32>, tensor<2147483647x4xf32>
}

func.func @small(%x: tensor<8x8xf32>, %f: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{no op before it could share its rows}}
  %exp = linalg.exp ins(%x : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+2 {{a loop nest of its own}}
  // expected-note @+1 {{all that it touches, 768 bytes, stays in a cache}}
  %y = linalg.sqrt ins(%exp : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

func.func @sizes(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-note @+1 {{linalg.exp}}
  %exp = linalg.exp ins(%x : tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  // expected-remark @+2 {{rows: an unknown number of blocks of 1x?, each through 2 ops}}
  // expected-note @+1 {{a block touches an unknown number of bytes, all of them an unknown number of bytes}}
  %y = linalg.sqrt ins(%exp : tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
}

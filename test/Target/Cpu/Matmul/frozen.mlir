// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-prepare-for-cpu,xetile-fold-transposes,deep-tile-matmul{threads=1},xetile-split-frozen)' | FileCheck %s
// A frozen B is packed whole, once for all calls, and loops read slices of it.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<37x65xf32> {xetile.argument = 0 : i64}, %[[P:.*]]: tensor<[[SHAPE:[0-9x]+]]xf32> {xetile.packed = 0 : i64})
// CHECK-NOT: vector.transfer_write
// CHECK: tensor.extract_slice %[[P]]
// CHECK: linalg.batch_reduce_matmul
// CHECK-LABEL: func.func @linear_freeze(
// CHECK-SAME: %[[W:.*]]: tensor<50x65xf32> {xetile.argument = 1 : i64}) -> tensor<[[SHAPE]]xf32>
// CHECK: vector.transfer_read %[[W]]
func.func @linear(%x: tensor<37x65xf32>, %w: tensor<50x65xf32> {xetile.frozen}) -> tensor<37x50xf32> {
  %e = tensor.empty() : tensor<65x50xf32>
  %t = linalg.transpose ins(%w : tensor<50x65xf32>) outs(%e : tensor<65x50xf32>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<37x50xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<37x50xf32>) -> tensor<37x50xf32>
  %r = linalg.matmul ins(%x, %t : tensor<37x65xf32>, tensor<65x50xf32>) outs(%c : tensor<37x50xf32>) -> tensor<37x50xf32>
  return %r : tensor<37x50xf32>
}
}

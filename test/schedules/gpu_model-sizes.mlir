// An op whose result is only asked for its sizes is no kernel's, and not left to the host: neither what a function
// makes of bytes that it takes in place of bits, nor what it would compute.
// RUN: xetile-opt %s --xetile-pass-bits-as-bytes \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK: func.func @program(%[[BITS:.*]]: memref<?xi8>, %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<2x64xf32>)
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @[[KERNEL:.*]]::@[[KERNEL]] {{.*}} args(%[[Y]] : memref<2x64xf32>, %{{.*}} : memref<2xf32>)
// CHECK-NOT: gpu.launch_func
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[BITS]]
// CHECK-DAG: %[[COLUMNS:.*]] = memref.dim %[[X]]
// CHECK: memref.alloc(%[[ROWS]], %[[COLUMNS]])
// CHECK-NOT: linalg
func.func @program(%bits: tensor<?xi1>, %x: tensor<?xf32>, %y: tensor<2x64xf32>)
    -> (tensor<?x?x1xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %bits, %c0 : tensor<?xi1>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %power = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %columns = tensor.dim %power, %c0 : tensor<?xf32>
  %any = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %view = tensor.expand_shape %any [[0], [1, 2]] output_shape [%rows, %columns, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
  %s = tensor.empty() : tensor<2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce { arith.addf } ins(%y : tensor<2x64xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
  return %view, %sum : tensor<?x?x1xf32>, tensor<2xf32>
}

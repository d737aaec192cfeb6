// Long sums are cut into blocks of 256 additions in a row, and these again, 16 at a time.
// RUN: xetile-opt %s --xetile-block-sums="vector-bits=512" --canonicalize | FileCheck %s

// 1000 rows: three blocks, each from -0, and the 232 rows that are left, from -0 as well.
// CHECK-LABEL: func @columns(
// CHECK-SAME: %[[X:.*]]: tensor<1000x2xf32>, %[[Z:.*]]: tensor<2xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-DAG: %[[STEP:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[END:.*]] = arith.constant 768 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]] step %[[STEP]] iter_args(%[[TOTAL:.*]] = %[[Z]])
// CHECK: %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[PART:.*]] = linalg.reduce { arith.addf } ins(%{{.*}} : tensor<256x2xf32>) outs(%[[START]]
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : tensor<2xf32>) outs(%[[TOTAL]]
// CHECK: %[[LAST:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<232x2xf32>) outs(%[[LAST]]
func.func @columns(%x: tensor<1000x2xf32>, %z: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<1000x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  return %r : tensor<2xf32>
}

// 64 elements of a row are added up side by side; of more than 32 blocks blocks are made.
// CHECK-LABEL: func @row(
// CHECK: scf.for {{.*}} step %c4194304
// CHECK: scf.for {{.*}} step %c262144
// CHECK: scf.for {{.*}} step %c16384
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<1x16384xf32>)
func.func @row(%x: tensor<1x67108864xf32>, %z: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<1x67108864xf32>) outs(%z : tensor<1xf32>) dimensions = [1]
  return %r : tensor<1xf32>
}

// Unknown sizes are taken to be long, in two levels.
// CHECK-LABEL: func @unknown(
// CHECK: scf.for {{.*}} step %c65536
// CHECK: scf.for {{.*}} step %c256
// CHECK: linalg.reduce { arith.addf }
func.func @unknown(%x: tensor<?x2xf64>, %z: tensor<2xf64>) -> tensor<2xf64> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x2xf64>) outs(%z : tensor<2xf64>) dimensions = [0]
  return %r : tensor<2xf64>
}

// Short sums, extremes, products, integers stay.
// CHECK-LABEL: func @others(
// CHECK-NOT: scf.for
func.func @others(%s: tensor<512x2xf32>, %x: tensor<1000x2xf32>, %i: tensor<1000x2xi32>, %z: tensor<2xf32>, %j: tensor<2xi32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>) {
  %a = linalg.reduce {arith.addf} ins(%s : tensor<512x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  %b = linalg.reduce {arith.maximumf} ins(%x : tensor<1000x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  %c = linalg.reduce {arith.mulf} ins(%x : tensor<1000x2xf32>) outs(%z : tensor<2xf32>) dimensions = [0]
  %d = linalg.reduce {arith.addi} ins(%i : tensor<1000x2xi32>) outs(%j : tensor<2xi32>) dimensions = [0]
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>
}

// Sums of no elements stay, whatever else is unknown.
// CHECK-LABEL: func @empty(
// CHECK-NOT: scf.for
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<0x?xf32>)
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<?x0xf32>)
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<0x1000xf32>)
func.func @empty(%x: tensor<0x?xf32>, %y: tensor<?x0xf32>, %w: tensor<0x1000xf32>, %s: tensor<f32>, %z: tensor<0xf32>)
    -> (tensor<f32>, tensor<0xf32>, tensor<0xf32>) {
  %a = linalg.reduce {arith.addf} ins(%x : tensor<0x?xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<?x0xf32>) outs(%z : tensor<0xf32>) dimensions = [0]
  %c = linalg.reduce {arith.addf} ins(%w : tensor<0x1000xf32>) outs(%z : tensor<0xf32>) dimensions = [1]
  return %a, %b, %c : tensor<f32>, tensor<0xf32>, tensor<0xf32>
}

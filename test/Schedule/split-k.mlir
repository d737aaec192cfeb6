// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Parts that divide k: the operands are seen in parts; the sum starts from C.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
// CHECK-DAG: #[[P:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
// CHECK-LABEL: func.func @even
// CHECK: %[[A4:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} : tensor<64x8192xf16> into tensor<64x4x2048xf16>
// CHECK: %[[B4:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] {{.*}} : tensor<8192x96xf16> into tensor<4x2048x96xf16>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[P]]], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
// CHECK-SAME: ins(%[[A4]], %[[B4]] {{.*}} outs(%[[ZEROS]] : tensor<4x64x96xf32>)
// CHECK-SAME: xetile.kernel = 0 : i64, xetile.schedule = "matmul"
// CHECK: linalg.generic {indexing_maps = [#[[FROM]], {{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[PARTS]] : tensor<4x64x96xf32>) outs(%arg2 : tensor<64x96xf32>)
func.func @even(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// A rest of k: 4 parts of 1280, the last of which ends with zeros.
// CHECK-LABEL: func.func @rest
// CHECK: tensor.pad %{{.*}} low[0, 0] high[0, 120]
// CHECK: xetile.kernel = 0 : i64, xetile.schedule = "matmul"
// CHECK: tensor<40x5120xf16> into tensor<40x4x1280xf16>
// CHECK: tensor.pad %{{.*}} low[0, 0] high[120, 0]
// CHECK: tensor<5120x72xf16> into tensor<4x1280x72xf16>
func.func @rest(%A: tensor<40x5000xf16>, %B: tensor<5000x72xf16>, %C: tensor<40x72xf32>) -> tensor<40x72xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<40x5000xf16>, tensor<5000x72xf16>) outs(%C : tensor<40x72xf32>) -> tensor<40x72xf32>
  return %D : tensor<40x72xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Left open: one tile of 128 places, but no part of less than 32 steps.
// CHECK-LABEL: func.func @open
// CHECK: tensor<64x16384xf16> into tensor<64x16x1024xf16>
func.func @open(%A: tensor<64x16384xf16>, %B: tensor<16384x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x16384xf16>, tensor<16384x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Left open on a device of 8 cores, each with places for 8 workgroups of 2 x 2 subgroups.
// CHECK-LABEL: func.func @bytes
// CHECK: tensor<64x32768xi8> into tensor<64x16x2048xi8>
func.func @bytes(%A: tensor<64x32768xi8>, %B: tensor<32768x96xi8>, %C: tensor<64x96xi32>) -> tensor<64x96xi32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x32768xi8>, tensor<32768x96xi8>) outs(%C : tensor<64x96xi32>) -> tensor<64x96xi32>
  return %D : tensor<64x96xi32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "lnl" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// k has fewer than 64 steps.
// CHECK-LABEL: func.func @short
// CHECK-NEXT: linalg.matmul
func.func @short(%A: tensor<64x2016xf16>, %B: tensor<2016x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x2016xf16>, tensor<2016x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// The tiles fill the device.
// CHECK-LABEL: func.func @many
// CHECK-NEXT: linalg.matmul
func.func @many(%A: tensor<4096x8192xf16>, %B: tensor<8192x4096xf16>, %C: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<4096x8192xf16>, tensor<8192x4096xf16>) outs(%C : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %D : tensor<4096x4096xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// One part is none.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: linalg.matmul
func.func @none(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// f32 is multiplied on vector units unless somebody allows tf32.
// CHECK-LABEL: func.func @exact
// CHECK-NEXT: linalg.matmul
func.func @exact(%A: tensor<64x8192xf32>, %B: tensor<8192x96xf32>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf32>, tensor<8192x96xf32>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// What a number was given to stays.
// CHECK-LABEL: func.func @numbered
// CHECK-NEXT: linalg.matmul {xetile.kernel = 3 : i64}
func.func @numbered(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul {xetile.kernel = 3 : i64} ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// Sizes of a run stay where nobody asks for parts.
// CHECK-LABEL: func.func @run
// CHECK-NEXT: linalg.matmul
func.func @run(%A: tensor<?x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<?x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %D : tensor<?x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// Of a known grid of 5 x 7, by groups of 2 rows, the last of which has one.
// CHECK-LABEL: gpu.func @groups
// CHECK-NOT:     gpu.grid_dim
// CHECK-DAG:     %[[Y:.*]] = gpu.block_id y
// CHECK-DAG:     %[[X:.*]] = gpu.block_id x
// CHECK-DAG:     %[[ROW:.*]] = arith.index_cast %[[Y]] : index to i32
// CHECK-DAG:     %[[COLUMN:.*]] = arith.index_cast %[[X]] : index to i32
// CHECK-DAG:     %[[BEFORE:.*]] = arith.muli %[[ROW]], %c5_i32
// CHECK:         %[[SERIAL:.*]] = arith.addi %[[BEFORE]], %[[COLUMN]]
// CHECK:         %[[GROUP:.*]] = arith.divui %[[SERIAL]], %c10_i32
// CHECK:         %[[FIRST:.*]] = arith.muli %[[GROUP]], %c2_i32
// CHECK:         %[[INSIDE:.*]] = arith.remui %[[SERIAL]], %c10_i32
// CHECK:         %[[LEFT:.*]] = arith.subi %c7_i32{{.*}}, %[[FIRST]]
// CHECK:         %[[ROWS:.*]] = arith.minui %[[LEFT]], %c2_i32
// CHECK:         %[[NEWX:.*]] = arith.divui %[[INSIDE]], %[[ROWS]]
// CHECK:         %[[IN:.*]] = arith.remui %[[INSIDE]], %[[ROWS]]
// CHECK:         %[[NEWY:.*]] = arith.addi %[[FIRST]], %[[IN]]
// CHECK-DAG:     %[[AX:.*]] = arith.index_castui %[[NEWX]] : i32 to index
// CHECK-DAG:     %[[AY:.*]] = arith.index_castui %[[NEWY]] : i32 to index
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[AY]], %[[AX]]]
gpu.module @m {
  gpu.func @groups(%A: memref<?x?xf32>, %v: f32) kernel attributes {known_grid_size = array<i32: 5, 7, 1>} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %v, %A[%y, %x] : memref<?x?xf32>
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "groups" -> !transform.any_param
    %size = transform.param.constant 2 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// A grid that only a run knows is asked for its sizes; of a square of 4 x 4 two levels of the curve are written.
// CHECK-LABEL: gpu.func @hilbert
// CHECK-DAG:     gpu.grid_dim x
// CHECK-DAG:     gpu.grid_dim y
// CHECK-COUNT-4: arith.xori
// CHECK:         arith.select
// CHECK:         memref.store
gpu.module @m {
  gpu.func @hilbert(%A: memref<?x?xf32>, %v: f32) kernel {
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %v, %A[%y, %x] : memref<?x?xf32>
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "hilbert" -> !transform.any_param
    %size = transform.param.constant 4 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// As they are started.
// CHECK-LABEL: gpu.func @rows
// CHECK-NOT:     arith
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @rows(%A: memref<?x?xf32>, %v: f32) kernel {
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %v, %A[%y, %x] : memref<?x?xf32>
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "rows" -> !transform.any_param
    %size = transform.param.constant 0 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// A grid of one dimension has no order but its own.
// CHECK-LABEL: gpu.func @line
// CHECK-NOT:     arith
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @line(%A: memref<?xf32>, %v: f32) kernel {
    %x = gpu.block_id x
    memref.store %v, %A[%x] : memref<?xf32>
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %order = transform.param.constant "groups" -> !transform.any_param
    %size = transform.param.constant 4 : i64 -> !transform.param<i64>
    %kernels = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.order %kernels by = %order size = %size
        : !transform.any_op, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// CHECK: xetile.tiling = {k_step = 32 : i64, prefetch = 3 : i64, subgroups = array<i64: 8, 4>, workgroup = array<i64: 256, 256>}
// A large problem: 8 x 4 subgroups of 32 x 64, steps of a cache line.
func.func @large(%A: tensor<4096x4096xf16>, %B: tensor<4096x4096xf16>, %C: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%C : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %D : tensor<4096x4096xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 32 : i64, prefetch = 3 : i64, subgroups = array<i64: 1, 4>, workgroup = array<i64: 8, 256>}
// Few rows: one row of subgroups, with the fewest rows that dpas takes.
func.func @flat(%A: tensor<8x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<8x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<8x1024xf32>) -> tensor<8x1024xf32>
  return %D : tensor<8x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 16 : i64, prefetch = 0 : i64, subgroups = array<i64: 1, 1>, workgroup = array<i64: 8, 16>}
// The smallest: accesses to single elements, no prefetch.
func.func @one(%A: tensor<1x1xf16>, %B: tensor<1x1xf16>, %C: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1x1xf16>, tensor<1x1xf16>) outs(%C : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %D : tensor<1x1xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 16 : i64, prefetch = 0 : i64, subgroups = array<i64: 4, 4>, workgroup = array<i64: 64, 64>}
// A pitch that the 2D unit does not take: smaller tiles, no prefetch.
func.func @unaligned(%A: tensor<1001x1003xbf16>, %B: tensor<1003x999xbf16>, %C: tensor<1001x999xf32>) -> tensor<1001x999xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1001x1003xbf16>, tensor<1003x999xbf16>) outs(%C : tensor<1001x999xf32>) -> tensor<1001x999xf32>
  return %D : tensor<1001x999xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 16 : i64, prefetch = 0 : i64, subgroups = array<i64: 4, 4>, workgroup = array<i64: 64, 64>}
// Nor is it known to take what only a run knows.
func.func @dynamic(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>, %C: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<?x?xf16>, tensor<?x?xf16>) outs(%C : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %D : tensor<?x?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 64 : i64, prefetch = 3 : i64, subgroups = array<i64: 8, 4>, workgroup = array<i64: 256, 256>}
// 64 bytes are 64 columns.
func.func @bytes(%A: tensor<1024x1024xi8>, %B: tensor<1024x1024xi8>, %C: tensor<1024x1024xi32>) -> tensor<1024x1024xi32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xi8>, tensor<1024x1024xi8>) outs(%C : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  return %D : tensor<1024x1024xi32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 16 : i64, prefetch = 3 : i64, subgroups = array<i64: 8, 4>, workgroup = array<i64: 256, 256>}
// And 16 columns of f32.
func.func @tf32(%A: tensor<1024x1024xf32>, %B: tensor<1024x1024xf32>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "tf32" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 16 : i64, prefetch = 3 : i64, subgroups = array<i64: 4, 1>, workgroup = array<i64: 128, 64>}
// What is given stays; the layout follows from the tile.
func.func @given(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 128 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 64 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 16 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// CHECK: xetile.tiling = {k_step = 32 : i64, prefetch = 0 : i64, subgroups = array<i64: 4, 2>, workgroup = array<i64: 128, 128>}
// The tile follows from the layout.
func.func @layout(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 4 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 2 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant 0 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

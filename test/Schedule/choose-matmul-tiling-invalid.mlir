// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// choose_tiling_c1
func.func @negative(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant -1 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{workgroup_m = -1: expected at least 0}}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// choose_tiling_c1
func.func @prefetch(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -2 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "exact" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{prefetch = -2: expected at least -1}}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// choose_tiling_c2
func.func @chip(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
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
    %target = transform.param.constant "xyz" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{target: unknown chip 'xyz'; known: }}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// choose_tiling_c3
func.func @f64(%A: tensor<64x64xf64>, %B: tensor<64x64xf64>, %C: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-error @below {{or (i8, i8) -> i32, got f64 x f64 -> f64}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf64>, tensor<64x64xf64>) outs(%C : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %D : tensor<64x64xf64>
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
    // expected-note @below {{required by this step of the schedule}}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// choose_tiling_c4
func.func @f32(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{the matrix unit multiplies f32 as tf32, with 10 bits of mantissa; allow it with precision=tf32}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf32>, tensor<64x64xf32>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
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
    // expected-note @below {{required by this step of the schedule}}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// choose_tiling_c4
func.func @words(%A: tensor<64x64xf16>, %B: tensor<64x64xf16>, %C: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf16>, tensor<64x64xf16>) outs(%C : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %D : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given_m = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_n = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_rows = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_columns = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_k = transform.param.constant 0 : i64 -> !transform.param<i64>
    %given_ahead = transform.param.constant -1 : i64 -> !transform.param<i64>
    %precision = transform.param.constant "half" -> !transform.any_param
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{precision = half: expected exact or tf32}}
    %m, %n, %rows, %columns, %k, %ahead, %tile = transform.xetile.choose_matmul_tiling %matmul
        workgroup_tile = [%given_m, %given_n] subgroup_layout = [%given_rows, %given_columns]
        k_step = %given_k prefetch = %given_ahead precision = %precision target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// check_tiling_c1: not positive.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 0 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{k_step = 0: expected at least 1}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c1: negative.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant -1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{prefetch = -1: expected at least 0}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c1: too far ahead.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 65 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{prefetch = 65: expected at most 64}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c1: out of any range.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 2097152 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{workgroup_m = 2097152: expected at most 1048576}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c1: a target that is not a name.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant 3 : i64 -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected a string for 'target', got 3 : i64}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c2: unknown.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "xyz" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{target: unknown chip 'xyz'; known: }}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c2: no 2D block messages.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "dg2" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c3: m.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 7 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{subgroups_m = 7 does not divide workgroup_m = 256; expected a divisor of 256, the nearest is 8}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c3: n.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 3 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{subgroups_n = 3 does not divide workgroup_n = 256; expected a divisor of 256, the nearest is 2}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

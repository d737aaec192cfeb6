// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// check_tiling_c8: one buffer.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{slm_buffers = 1: expected 0 to stage nothing, or 2 to 8, one of which is read while the next one is filled: the nearest is 2}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// check_tiling_c8: too many buffers for any tile.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 9 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{slm_buffers = 9: expected 0 to stage nothing, or 2 to 8, one of which is read while the next one is filled: the nearest is 8}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// check_tiling_c8: fewer buffers fit.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 5 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{slm_buffers = 5: a step's tiles need k_step * (workgroup_m * 2 + workgroup_n * 2) = 32 * (256 * 2 + 256 * 2) = 32768 bytes, 5 x 32768 = 163840, more than the 131072 bytes of shared local memory of a workgroup on pvc; the most buffers are 4}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// check_tiling_c8: two fit with a smaller step.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 128 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{2 x 131072 = 262144, more than the 131072 bytes of shared local memory of a workgroup on pvc; two buffers need k_step of at most 64}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// check_tiling_c8: what A is computed from is loaded, a row for all is not.
func.func @matmul(%A: tensor<1024x1024xf16>, %F: tensor<1024x1024xf16>, %G: tensor<1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %E = tensor.empty() : tensor<1024x1024xf16>
  %X = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%A, %F, %G : tensor<1024x1024xf16>, tensor<1024x1024xf16>, tensor<1024xf16>) outs(%E : tensor<1024x1024xf16>) {
  ^bb0(%a: f16, %f: f16, %g: f16, %o: f16):
    %s = arith.addf %a, %f : f16
    %t = arith.mulf %s, %g : f16
    linalg.yield %t : f16
  } -> tensor<1024x1024xf16>
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%X, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{a step's tiles need k_step * (workgroup_m * 4 + workgroup_n * 2) = 32 * (256 * 4 + 256 * 2) = 49152 bytes, 3 x 49152 = 147456, more than the 131072 bytes of shared local memory of a workgroup on pvc; the most buffers are 2}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// check_tiling_c8: three subgroups cannot share 4 x 2 blocks of A.
func.func @matmul(%A: tensor<96x1024xf16>, %B: tensor<1024x48xf16>, %C: tensor<96x48xf32>) -> tensor<96x48xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<96x1024xf16>, tensor<1024x48xf16>) outs(%C : tensor<96x48xf32>) -> tensor<96x48xf32>
  return %D : tensor<96x48xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 32 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 48 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 1 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 3 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{slm_buffers = 2: 3 subgroups cannot share the 4 x 2 blocks of a step's tile of A evenly; expected counts that divide one another: k_step = 16 is always legal}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// With one step there is no loop, and nothing is staged.
func.func @matmul(%A: tensor<1024x32xf16>, %B: tensor<32x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x32xf16>, tensor<32x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 8 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// As many as fit.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

// -----

// None.
func.func @matmul(%A: tensor<1024x1024xf16>, %B: tensor<1024x1024xf16>, %C: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%C : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %D : tensor<1024x1024xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %slm_buffers = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target slm_buffers = %slm_buffers
        : !transform.any_op, !transform.param<i64>, !transform.any_param, !transform.param<i64>
    transform.yield
  }
}

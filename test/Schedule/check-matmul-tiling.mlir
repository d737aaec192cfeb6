// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// None of these is refused.

// The defaults on the smallest matrices for them: one workgroup, one step along k.
func.func @matmul(%A: tensor<256x32xf16>, %B: tensor<32x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x32xf16>, tensor<32x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
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
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// The smallest tile there is, one DPAS.
func.func @matmul(%A: tensor<8x32xbf16>, %B: tensor<32x32xbf16>, %C: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<8x32xbf16>, tensor<32x32xbf16>) outs(%C : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %D : tensor<8x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 16 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 1 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 1 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 16 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 0 : i64 -> !transform.param<i64>
    %target = transform.param.constant "bmg" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// 64 subgroups, while each gets along with 128 registers.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 8 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// One step of 256 along k: operands of 48 KB per subgroup, which the lowering loads in slices.
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
    %k_step = transform.param.constant 256 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

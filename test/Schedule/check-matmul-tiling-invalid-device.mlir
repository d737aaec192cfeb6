// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// check_tiling_c4: m.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 32 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{workgroup_m = 32 over subgroups_m = 8 gives each subgroup 4 of m; expected a multiple of 8, the m of DPAS for f16 on pvc: the nearest workgroup_m is 64}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c4: n.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 64 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 8 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{workgroup_n = 64 over subgroups_n = 8 gives each subgroup 8 of n; expected a multiple of 16, the n of DPAS for f16 on pvc: the nearest workgroup_n is 128}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c4: k.
func.func @matmul(%A: tensor<256x256xbf16>, %B: tensor<256x256xbf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 8 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{k_step = 8 gives each subgroup 8 of k; expected a multiple of 16, the k of DPAS for bf16 on pvc: the nearest k_step is 16}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c5: 128 registers each.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 16 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 8 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{subgroups_m * subgroups_n = 16 * 8 = 128; expected at most 64 subgroups in a workgroup on pvc with 128 registers each: the nearest layout of subgroups is 8 x 8}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c5: 256 registers each.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x512xf16>, %C: tensor<256x512xf32>) -> tensor<256x512xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x512xf16>) outs(%C : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %D : tensor<256x512xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 512 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 8 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 8 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{subgroups_m * subgroups_n = 8 * 8 = 64; expected at most 32 subgroups in a workgroup on pvc with 256 registers each: make workgroup_m or workgroup_n smaller, no layout of subgroups fits 256 x 512}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c6.
func.func @matmul(%A: tensor<256x256xf16>, %B: tensor<256x256xf16>, %C: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<256x256xf16>, tensor<256x256xf16>) outs(%C : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %D : tensor<256x256xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %workgroup_m = transform.param.constant 256 : i64 -> !transform.param<i64>
    %workgroup_n = transform.param.constant 256 : i64 -> !transform.param<i64>
    %subgroups_m = transform.param.constant 4 : i64 -> !transform.param<i64>
    %subgroups_n = transform.param.constant 4 : i64 -> !transform.param<i64>
    %k_step = transform.param.constant 32 : i64 -> !transform.param<i64>
    %prefetch = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{a subgroup's tile of 64 x 64 needs 20480 bytes of registers (16384 of accumulators, 4096 of operands for k = 16); expected at most 16384 on pvc: the nearest layout of subgroups is 4 x 8}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%workgroup_m, %workgroup_n] subgroup_layout = [%subgroups_m, %subgroups_n]
        k_step = %k_step prefetch = %prefetch target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// A target of another kind.
// expected-note @below {{the matmul to tile}}
func.func @not_a_matmul() { return }
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %size = transform.param.constant 16 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected a linalg op, got func.func}}
    transform.xetile.check_matmul_tiling %func
        workgroup_tile = [%size, %size] subgroup_layout = [%size, %size] k_step = %size prefetch = %size target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c7: memrefs.
func.func @matmul(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  // expected-note @below {{the matmul to tile}}
  linalg.matmul ins(%A, %B : memref<64x64xf16>, memref<64x64xf16>) outs(%C : memref<64x64xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %size = transform.param.constant 64 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{expected linalg.matmul on tensors, got memrefs}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%size, %size] subgroup_layout = [%one, %one] k_step = %size prefetch = %one target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// check_tiling_c7: elements that no DPAS takes have no DPAS shape.
func.func @matmul(%A: tensor<64x64xf64>, %B: tensor<64x64xf64>, %C: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-note @below {{the matmul to tile}}
  %D = linalg.matmul ins(%A, %B : tensor<64x64xf64>, tensor<64x64xf64>) outs(%C : tensor<64x64xf64>) -> tensor<64x64xf64>
  return %D : tensor<64x64xf64>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %size = transform.param.constant 64 : i64 -> !transform.param<i64>
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{or (i8, i8) -> i32, got f64 x f64 -> f64}}
    transform.xetile.check_matmul_tiling %matmul
        workgroup_tile = [%size, %size] subgroup_layout = [%one, %one] k_step = %size prefetch = %one target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

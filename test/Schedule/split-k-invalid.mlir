// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// split_k_c1: negative.
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant -1 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-error @below {{split_k = -1: expected at least 0}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c1: an unknown chip.
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "xyz" -> !transform.any_param
    // expected-error @below {{target: unknown chip 'xyz'}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c2: sizes of a run.
func.func @f(%A: tensor<?x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<?x96xf32>) -> tensor<?x96xf32> {
  // expected-error @below {{split_k: expected sizes known when compiled}}
  %D = linalg.matmul ins(%A, %B : tensor<?x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %D : tensor<?x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c3: sums that are rounded at each part.
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf16>) -> tensor<64x96xf16> {
  // expected-error @below {{split_k: expected sums of f32 or i32: run xetile-widen-sums before}}
  %D = linalg.matmul ins(%A, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf16>) -> tensor<64x96xf16>
  return %D : tensor<64x96xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c4: an operand that is computed on the way.
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%A: tensor<64x8192xf16>, %B: tensor<8192x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %E = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%A : tensor<64x8192xf16>) outs(%A : tensor<64x8192xf16>) {
  ^bb0(%a: f16, %o: f16):
    %s = arith.addf %a, %a : f16
    linalg.yield %s : f16
  } -> tensor<64x8192xf16>
  // expected-error @below {{split_k: expected operands in memory, got one that is computed on the way to the product; compute it by itself, or set split_k = 1}}
  %D = linalg.matmul ins(%E, %B : tensor<64x8192xf16>, tensor<8192x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 4 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c5: more parts than steps.
func.func @f(%A: tensor<64x104xf16>, %B: tensor<104x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  // expected-error @below {{split_k = 8: k = 104 in parts of 32, ceil(k / 8) as a multiple of 32 (k_step = 32 and cache lines), is 4 parts; expected split_k = 4}}
  %D = linalg.matmul ins(%A, %B : tensor<64x104xf16>, tensor<104x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 8 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %zero target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

// -----

// split_k_c5: parts that are none, of a given step.
func.func @f(%A: tensor<64x96xf16>, %B: tensor<96x96xf16>, %C: tensor<64x96xf32>) -> tensor<64x96xf32> {
  // expected-error @below {{split_k = 2: k = 96 in parts of 96, ceil(k / 2) as a multiple of 96 (k_step = 48 and cache lines), is 1 parts; expected split_k = 1, which splits nothing}}
  %D = linalg.matmul ins(%A, %B : tensor<64x96xf16>, tensor<96x96xf16>) outs(%C : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %D : tensor<64x96xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %step = transform.param.constant 48 : i64 -> !transform.param<i64>
    %zero = transform.param.constant 0 : i64 -> !transform.param<i64>
    %parts = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.split_k %root parts = %parts workgroup_tile = [%zero, %zero] subgroup_layout = [%zero, %zero]
        k_step = %step target = %target : !transform.any_op, !transform.param<i64>, !transform.any_param
    transform.yield
  }
}

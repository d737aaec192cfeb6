// RUN: xetile-opt %s --split-input-file --transform-interpreter --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @contract
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (2, 2)
// CHECK: linalg.generic
// CHECK-SAME: xetile.microkernel
func.func @contract(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.contract"]} in %module : (!transform.any_op) -> !transform.any_op
    %config = transform.param.constant #xetile.matmul_config<MThreads = 2, NThreads = 2, innermostMBlock = 8,
        innermostNBlock = 16> -> !transform.any_param
    transform.xetile.deep_tile_matmul %matmul config = %config {threads = 4, pack = "never"}
        : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

func.func @no_matmul(%c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-note @below {{target op}}
  %d = linalg.fill ins(%zero : f32) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cannot be tiled: expected two inputs and one output}}
    transform.xetile.deep_tile_matmul %fill : !transform.any_op
    transform.yield
  }
}

// -----

// Values of a schedule's parameters: 0 leaves a field open, others win over the attribute.
// CHECK-LABEL: func @values
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c32{{.*}} -> (tensor<64x64xf32>)
// CHECK: tensor<1x32x64xf32>
func.func @values(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 -> !transform.param<i64>
    %rows = transform.param.constant 32 -> !transform.param<i64>
    %one = transform.param.constant 1 -> !transform.param<i64>
    %never = transform.param.constant "never" -> !transform.any_param
    transform.xetile.deep_tile_matmul %matmul set ["innermostMBlock", "MBlock", "KThreads", "threads", "pack"]
        = (%rows, %open, %one, %one, %never : !transform.param<i64>, !transform.param<i64>, !transform.param<i64>,
           !transform.param<i64>, !transform.any_param)
        : !transform.any_op
    transform.yield
  }
}

// -----

func.func @name(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %rows = transform.param.constant 32 -> !transform.param<i64>
    // expected-error @below {{set: unknown name 'MBlocks': expected threads, pack or one of MThreads, NThreads,}}
    transform.xetile.deep_tile_matmul %matmul set ["MBlocks"] = (%rows : !transform.param<i64>) : !transform.any_op
    transform.yield
  }
}

// -----

// A loop order's name among the values: with k outside, in steps of 32, the first step starts from the fill.
// CHECK-LABEL: func @loop_order
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c32
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c16
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c8
func.func @loop_order(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 8, NBlock = 16, KBlock = 32,
      innermostMBlock = 8, innermostNBlock = 16, innermostKBlock = 8, loopOrder = 0>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %order = transform.param.constant "knm" -> !transform.any_param
    %one = transform.param.constant 1 -> !transform.param<i64>
    transform.xetile.deep_tile_matmul %matmul set ["loopOrder", "threads"]
        = (%order, %one : !transform.any_param, !transform.param<i64>) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @loop_order_name(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %order = transform.param.constant "nn" -> !transform.any_param
    // expected-error @below {{loopOrder = "nn": expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm}}
    transform.xetile.deep_tile_matmul %matmul set ["loopOrder"] = (%order : !transform.any_param) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @text(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %rows = transform.param.constant "mnk" -> !transform.any_param
    // expected-error @below {{MBlock: expected one integer}}
    transform.xetile.deep_tile_matmul %matmul set ["MBlock"] = (%rows : !transform.any_param) : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%matmul: !transform.any_op) {
    %rows = transform.param.constant 32 -> !transform.param<i64>
    // expected-error @below {{set: expected a value for each of 2 names, got 1}}
    transform.xetile.deep_tile_matmul %matmul set ["MBlock", "NBlock"] = (%rows : !transform.param<i64>) : !transform.any_op
    transform.yield
  }
}

// -----

func.func @cores(%c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{NThreads = 5: expected at most 4, as MThreads * NThreads * KThreads may be 4 at most}}
  %d = linalg.matmul ins(%c, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %config = transform.param.constant "{\"NThreads\": 5}" -> !transform.any_param
    transform.xetile.deep_tile_matmul %matmul config = %config {threads = 4} : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

func.func @json(%c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%c, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %config = transform.param.constant "[3]" -> !transform.any_param
    // expected-error @below {{matmul config: expected a JSON object, got {[3]}}}
    transform.xetile.deep_tile_matmul %matmul config = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

func.func @number(%c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%c, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %config = transform.param.constant 3 : i64 -> !transform.any_param
    // expected-error @below {{expected the configuration to be a #xetile.matmul_config or a string of JSON}}
    transform.xetile.deep_tile_matmul %matmul config = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
}

// -----

func.func @threads(%c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{threads = -4: expected 0 to 2147483647}}
  %d = linalg.matmul ins(%c, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.xetile.deep_tile_matmul %matmul {threads = -4} : !transform.any_op
    transform.yield
  }
}

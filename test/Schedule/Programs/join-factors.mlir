// A product is one kernel with what it alone reads, where that is computed at most twice.
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s --transform-interpreter --split-input-file | FileCheck %s

#all = affine_map<(m, n) -> (m, n)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: func.func @narrow
// CHECK: linalg.generic {{.*}}xetile.kernel = 0 : i64, xetile.schedule = "rows"
// CHECK: linalg.matmul {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
func.func @narrow(%x: tensor<24x40xf16>, %w: tensor<40x128xf16>, %init: tensor<24x128xf32>) -> tensor<24x128xf32> {
  %e = tensor.empty() : tensor<24x40xf16>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24x40xf16>) outs(%e : tensor<24x40xf16>) {
  ^bb0(%in: f16, %out: f16):
    %y = math.exp %in : f16
    linalg.yield %y : f16
  } -> tensor<24x40xf16>
  %m = linalg.matmul ins(%t, %w : tensor<24x40xf16>, tensor<40x128xf16>) outs(%init : tensor<24x128xf32>) -> tensor<24x128xf32>
  return %m : tensor<24x128xf32>
}

// Each subgroup has some of the columns: all rows would be computed for each of them.
// CHECK-LABEL: func.func @wide
// CHECK: linalg.generic {{.*}}xetile.kernel = 0 : i64, xetile.schedule = "elementwise"
// CHECK: linalg.matmul {xetile.kernel = 1 : i64, xetile.schedule = "matmul"}
func.func @wide(%x: tensor<24x40xf16>, %w: tensor<40x400xf16>, %init: tensor<24x400xf32>) -> tensor<24x400xf32> {
  %e = tensor.empty() : tensor<24x40xf16>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<24x40xf16>) outs(%e : tensor<24x40xf16>) {
  ^bb0(%in: f16, %out: f16):
    %y = math.exp %in : f16
    linalg.yield %y : f16
  } -> tensor<24x40xf16>
  %m = linalg.matmul ins(%t, %w : tensor<24x40xf16>, tensor<40x400xf16>) outs(%init : tensor<24x400xf32>) -> tensor<24x400xf32>
  return %m : tensor<24x400xf32>
}

// CHECK-LABEL: func.func @few_rows
// CHECK: linalg.generic {{.*}}xetile.kernel = 0 : i64, xetile.schedule = "rows"
// CHECK: linalg.matmul {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
func.func @few_rows(%x: tensor<24x40xf16>, %w: tensor<40x48xf16>, %init: tensor<24x48xf32>) -> tensor<24x48xf32> {
  %e = tensor.empty() : tensor<40x48xf16>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<40x48xf16>) outs(%e : tensor<40x48xf16>) {
  ^bb0(%in: f16, %out: f16):
    %y = math.exp %in : f16
    linalg.yield %y : f16
  } -> tensor<40x48xf16>
  %m = linalg.matmul ins(%x, %t : tensor<24x40xf16>, tensor<40x48xf16>) outs(%init : tensor<24x48xf32>) -> tensor<24x48xf32>
  return %m : tensor<24x48xf32>
}

// Each subgroup has some of the rows.
// CHECK-LABEL: func.func @many_rows
// CHECK: linalg.generic {{.*}}xetile.kernel = 0 : i64, xetile.schedule = "elementwise"
// CHECK: linalg.matmul {xetile.kernel = 1 : i64, xetile.schedule = "matmul"}
func.func @many_rows(%x: tensor<200x40xf16>, %w: tensor<40x48xf16>, %init: tensor<200x48xf32>) -> tensor<200x48xf32> {
  %e = tensor.empty() : tensor<40x48xf16>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<40x48xf16>) outs(%e : tensor<40x48xf16>) {
  ^bb0(%in: f16, %out: f16):
    %y = math.exp %in : f16
    linalg.yield %y : f16
  } -> tensor<40x48xf16>
  %m = linalg.matmul ins(%x, %t : tensor<200x40xf16>, tensor<40x48xf16>) outs(%init : tensor<200x48xf32>) -> tensor<200x48xf32>
  return %m : tensor<200x48xf32>
}

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  transform.xetile.assign_kernels %root : !transform.any_op
  transform.yield
}
}

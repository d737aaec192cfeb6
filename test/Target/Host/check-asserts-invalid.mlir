// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-asserts

func.func @sums(%i: tensor<4xi64>, %z: tensor<i64>) -> tensor<i64> {
  %c5 = arith.constant 5 : i64
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%i : tensor<4xi64>) outs(%z : tensor<i64>) {
  ^bb0(%a: i64, %o: i64):
    %holds = arith.cmpi slt, %o, %c5 : i64
    // expected-error@+1 {{'cf.assert' op depends on what the operation around it sums up, so that it cannot be checked}}
    cf.assert %holds, "the sum is small"
    %s = arith.addi %a, %o : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  return %r : tensor<i64>
}

// -----

// expected-error@+1 {{has the name @xetile_expect, which is needed for what the function expects of its data}}
func.func private @xetile_expect()
func.func @name(%holds: i1) {
  cf.assert %holds, "it holds"
  return
}

// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func(xetile-drop-proven-asserts))' | FileCheck %s

#id = affine_map<(i) -> (i)>
// An index that was limited before is in range; of another nothing is known.
// CHECK-LABEL: func.func @f
// CHECK-NOT: cf.assert {{.*}}, "limited"
// CHECK: cf.assert {{.*}}, "any"
// CHECK-NOT: cf.assert {{.*}}, "limited"
func.func @f(%i: tensor<8xi64>, %x: tensor<10xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i64
  %c9 = arith.constant 9 : i64
  %c10 = arith.constant 10 : i64
  %e = tensor.empty() : tensor<8xi64>
  %r = tensor.empty() : tensor<8xf32>
  %limited = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<8xi64>) outs(%e : tensor<8xi64>) {
  ^bb0(%a: i64, %o: i64):
    %low = arith.maxsi %a, %c0 : i64
    %both = arith.minsi %low, %c9 : i64
    linalg.yield %both : i64
  } -> tensor<8xi64>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%limited, %i : tensor<8xi64>, tensor<8xi64>) outs(%r : tensor<8xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %below = arith.cmpi slt, %a, %c10 : i64
    cf.assert %below, "limited"
    %other = arith.cmpi slt, %b, %c10 : i64
    cf.assert %other, "any"
    %above = arith.cmpi sge, %a, %c0 : i64
    cf.assert %above, "limited"
    %at = arith.index_cast %a : i64 to index
    %v = tensor.extract %x[%at] : tensor<10xf32>
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

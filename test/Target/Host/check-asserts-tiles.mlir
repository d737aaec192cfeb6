// RUN: xetile-opt %s --convert-xetile-to-vector --xetile-check-asserts --xetile-report-expectations | FileCheck %s

// The stride that tiles are checked for at run time, as functions on memory tell it.
// CHECK-LABEL: func @stride
// CHECK-SAME: -> (i64, i64, i64)
// CHECK-SAME: "xetile.init_tile: expected stride 1 in the fastest-changing dimension"
// CHECK-NOT: cf.assert %
// CHECK: memref.atomic_rmw assign
func.func @stride(%address: i64, %s: index, %into: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %t = xetile.init_tile %address[0, 0], [64, 64], [64, %s] : i64 -> !xetile.tile<8x16xf32>
  %v = xetile.load_tile %t : !xetile.tile<8x16xf32> -> vector<8x16xf32>
  vector.transfer_write %v, %into[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32>
  return
}

// Positions and masks that follow from indices alone are computed by each op that reads them.
// RUN: xetile-opt %s --xetile-inline-indices --canonicalize | FileCheck %s

#one = affine_map<(i) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (0, j)>
#column = affine_map<(i, j) -> (i, 0)>

// A causal mask as PyTorch writes it, of one sequence of positions that is both rows and columns: i32 are compared.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[X:.*]]: tensor<20x20xf32>)
// CHECK-NOT: i64
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<20x20xf32>)
// CHECK-DAG: %[[J:.*]] = linalg.index 1 : index
// CHECK-DAG: %[[I:.*]] = linalg.index 0 : index
// CHECK-DAG: %[[N:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK-DAG: %[[M:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: arith.cmpi sle, %[[N]], %[[M]] : i32
// CHECK-NOT: linalg.generic
func.func @causal(%x: tensor<20x20xf32>) -> tensor<20x20xf32> {
  %zero = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %true = arith.constant dense<true> : tensor<20x20xi1>
  %e1 = tensor.empty() : tensor<20xi64>
  %e2 = tensor.empty() : tensor<20x20xi64>
  %eb = tensor.empty() : tensor<20x20xi1>
  %ef = tensor.empty() : tensor<20x20xf32>
  %p = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e1 : tensor<20xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %r = arith.index_cast %i : index to i64
    linalg.yield %r : i64
  } -> tensor<20xi64>
  %n = tensor.expand_shape %p [[0, 1]] output_shape [1, 20] : tensor<20xi64> into tensor<1x20xi64>
  %m = tensor.expand_shape %p [[0, 1]] output_shape [20, 1] : tensor<20xi64> into tensor<20x1xi64>
  %d = linalg.generic {indexing_maps = [#row, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%n, %m : tensor<1x20xi64>, tensor<20x1xi64>) outs(%e2 : tensor<20x20xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %r = arith.subi %a, %b : i64
    linalg.yield %r : i64
  } -> tensor<20x20xi64>
  %c = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%d, %true : tensor<20x20xi64>, tensor<20x20xi1>) outs(%eb : tensor<20x20xi1>) {
  ^bb0(%a: i64, %b: i1, %o: i1):
    %s = arith.cmpi sle, %a, %zero : i64
    %r = arith.andi %s, %b : i1
    linalg.yield %r : i1
  } -> tensor<20x20xi1>
  %y = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c : tensor<20x20xf32>, tensor<20x20xi1>) outs(%ef : tensor<20x20xf32>) {
  ^bb0(%a: f32, %b: i1, %o: f32):
    %r = arith.select %b, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<20x20xf32>
  return %y : tensor<20x20xf32>
}

// An offset and a factor stay with the side that they are on, and what may need more than 32 bits is compared as it was.
// CHECK-LABEL: func.func @sides(
// CHECK: %[[THREE:.*]] = arith.muli %{{.*}}, %c3_i32 : i32
// CHECK: %[[BEHIND:.*]] = arith.addi %{{.*}}, %c-2_i32 : i32
// CHECK: arith.cmpi slt, %[[THREE]], %[[BEHIND]] : i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
func.func @sides() -> (tensor<8x9xi1>, tensor<8x9xi1>) {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %large = arith.constant 1000000000000 : i64
  %e = tensor.empty() : tensor<8x9xi1>
  %a = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x9xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.muli %j, %three : index
    %t = arith.addi %s, %two : index
    %r = arith.cmpi ult, %t, %i : index
    linalg.yield %r : i1
  } -> tensor<8x9xi1>
  %b = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x9xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.muli %n, %large : i64
    %r = arith.cmpi slt, %s, %large : i64
    linalg.yield %r : i1
  } -> tensor<8x9xi1>
  return %a, %b : tensor<8x9xi1>, tensor<8x9xi1>
}

// Left alone: what has functions of floats, what is a number of a tensor besides, and i8 that may wrap around.
// CHECK-LABEL: func.func @left(
// CHECK: math.cos
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<200xf32>, tensor<200xf32>)
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i8
func.func @left(%x: tensor<200xf32>) -> (tensor<200xf32>, tensor<200xi1>) {
  %e = tensor.empty() : tensor<200xf32>
  %eb = tensor.empty() : tensor<200xi1>
  %five = arith.constant 5 : i8
  %c = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%e : tensor<200xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = math.cos %f : f32
    linalg.yield %r : f32
  } -> tensor<200xf32>
  %y = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<200xf32>, tensor<200xf32>) outs(%e : tensor<200xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<200xf32>
  %z = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel"]} outs(%eb : tensor<200xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %r = arith.cmpi slt, %n, %five : i8
    linalg.yield %r : i1
  } -> tensor<200xi1>
  return %y, %z : tensor<200xf32>, tensor<200xi1>
}

// Numbers of ops without operands are no sums of indices.
// CHECK-LABEL: func.func @no_operands
// CHECK:         %[[P:.*]] = gpu.lane_id
// CHECK:         %[[M:.*]] = arith.muli %[[P]]
// CHECK:         arith.cmpi ult, %[[M]]
func.func @no_operands(%o: tensor<8x9xi1>) -> tensor<8x9xi1> {
  %c3 = arith.constant 3 : index
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x9xi1>) {
  ^bb0(%out: i1):
    %p = gpu.lane_id
    %m = arith.muli %p, %c3 : index
    %c = arith.cmpi ult, %m, %c3 : index
    linalg.yield %c : i1
  } -> tensor<8x9xi1>
  return %r : tensor<8x9xi1>
}

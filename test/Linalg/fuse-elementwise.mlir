// RUN: xetile-opt %s --xetile-fuse-elementwise --cse | FileCheck %s

#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>

// exp(x - mean): one op. Its result has two uses, so neither of those takes it in.
// CHECK-LABEL: func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[MEAN:.*]]: tensor<4xf32>)
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MEAN]] : {{.*}}
// CHECK: arith.subf
// CHECK-NEXT: math.exp
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic {{.*}} ins(%[[E]]
// CHECK: arith.negf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4x8xf32>, %mean: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %any = tensor.empty() : tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<4x8xf32>, tensor<4xf32>) outs(%any : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %e = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<4x8xf32>) outs(%any : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %n = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%e : tensor<4x8xf32>) outs(%any : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %e, %n : tensor<4x8xf32>, tensor<4x8xf32>
}

// The place of the largest is not asked for: a maximum is left.
// CHECK-LABEL: func @maximum
// CHECK: %[[MAX:.*]] = linalg.generic
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: linalg.yield
// CHECK: return %[[MAX]]
func.func @maximum(%x: tensor<4x8xf32>, %start: tensor<4xf32>, %zeros: tensor<4xi64>) -> tensor<4xf32> {
  %max, %at = linalg.generic {indexing_maps = [#both, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%start, %zeros : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %m: f32, %i: i64):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i64
    %larger = arith.cmpf ogt, %a, %m : f32
    %y = arith.maximumf %a, %m : f32
    %j = arith.select %larger, %k, %i : i64
    linalg.yield %y, %j : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %max : tensor<4xf32>
}

// x - mean is cheap: both of its users take it in and read x. A factor of rows is computed once for each row.
// CHECK-LABEL: func @cheap
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[MEAN:.*]]: tensor<4xf32>, %
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X]], %[[MEAN]] :
// CHECK: arith.subf
// CHECK: arith.addf
// CHECK: %[[FACTOR:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4xf32>)
// CHECK: math.rsqrt
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MEAN]], %[[FACTOR]] :
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
func.func @cheap(%x: tensor<4x8xf32>, %mean: tensor<4xf32>, %zeros: tensor<4xf32>) -> tensor<4x8xf32> {
  %any = tensor.empty() : tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<4x8xf32>, tensor<4xf32>) outs(%any : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.mulf %a, %a : f32
    %r = arith.addf %q, %c : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %some = tensor.empty() : tensor<4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%some : tensor<4xf32>) {
  ^bb0(%a: f32, %c: f32):
    %r = math.rsqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%d, %f : tensor<4x8xf32>, tensor<4xf32>) outs(%any : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// In a loop the second op updates the memory of the first: both stay.
// CHECK-LABEL: func @loop
// CHECK: scf.for
// CHECK: %[[D:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} outs(%[[D]]
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %d = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
        ins(%x : tensor<8xf32>) outs(%t : tensor<8xf32>) {
    ^bb0(%a: f32, %c: f32):
      %y = arith.addf %a, %c : f32
      linalg.yield %y : f32
    } -> tensor<8xf32>
    %e = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
        ins(%d : tensor<8xf32>) outs(%d : tensor<8xf32>) {
    ^bb0(%a: f32, %c: f32):
      %y = math.exp %a : f32
      linalg.yield %y : f32
    } -> tensor<8xf32>
    scf.yield %e : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What is written over something that it reads is merged into a reduction as an op that has this for an operand: as it is,
// each step of the reduction would read and write it.
// CHECK-LABEL: func @over
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<4x8xf32>, %[[Z:.*]]: tensor<4xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[Y]], %[[X]] : {{.*}} outs(%[[Z]] : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[SUM:.*]]: f32)
// CHECK-NEXT: %[[C:.*]] = math.copysign %[[A]], %[[B]]
// CHECK-NEXT: arith.addf %[[C]], %[[SUM]]
func.func @over(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %t = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.copysign %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

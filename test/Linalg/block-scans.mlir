// RUN: xetile-opt %s --xetile-block-scans | FileCheck %s
// RUN: xetile-opt %s --xetile-block-scans=chip=pvc | FileCheck %s
// RUN: xetile-opt %s --xetile-block-scans=chip=sm_90a | FileCheck %s --check-prefix=GROUP

#row = affine_map<(n) -> (n)>
#none = affine_map<(n) -> ()>

// Sums of blocks, sums of those before, sums within; all in the type that is carried.
// CHECK-DAG: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @divided(
// Of one row, each workgroup has a block.
// GROUP-LABEL: func @divided(
// GROUP: tensor.expand_shape %{{.*}} output_shape [15, 4000] : tensor<60000xf32> into tensor<15x4000xf32>
// CHECK-SAME: %[[X:.*]]: tensor<60000xf32>
// CHECK: %[[XS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [480, 125] : tensor<60000xf32> into tensor<480x125xf32>
// CHECK: %[[TOTAL:.*]] = linalg.generic {indexing_maps = [#[[BOTH]], #[[FIRST]]], iterator_types = ["parallel", "reduction"]} ins(%[[XS]] : tensor<480x125xf32>) outs(%{{.*}} : tensor<480xf64>)
// CHECK: arith.extf
// CHECK: %[[CARRY:.*]] = linalg.generic {indexing_maps = [#[[SECOND]], #[[FIRST]]], iterator_types = ["parallel", "reduction"]} ins(%[[TOTAL]] : tensor<480xf64>) outs(%{{.*}} : tensor<480xf64>)
// CHECK-DAG: %[[PLACE:.*]] = linalg.index 0
// CHECK-DAG: %[[OTHER:.*]] = linalg.index 1
// CHECK: %[[BEFORE:.*]] = arith.cmpi ult, %[[OTHER]], %[[PLACE]]
// CHECK: arith.select %[[BEFORE]]
// CHECK: %[[OWN:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[XS]] : tensor<480x125xf32>) outs(%{{.*}}, %{{.*}} : tensor<480x125xf64>, tensor<480xf64>)
// CHECK: %[[YS:.*]] = linalg.generic {indexing_maps = [#[[FIRST]], #[[BOTH]], #[[BOTH]]], iterator_types = ["parallel", "parallel"]} ins(%[[CARRY]], %[[OWN]]#0 : tensor<480xf64>, tensor<480x125xf64>)
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: %[[Y:.*]] = tensor.collapse_shape %[[YS]]
// CHECK: return %[[Y]]
func.func @divided(%x: tensor<60000xf32>) -> tensor<60000xf32> {
  %zero = arith.constant 0.0 : f64
  %any = tensor.empty() : tensor<60000xf32>
  %last = tensor.empty() : tensor<f64>
  %from = linalg.fill ins(%zero : f64) outs(%last : tensor<f64>) -> tensor<f64>
  %y:2 = linalg.generic {indexing_maps = [#row, #row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<60000xf32>) outs(%any, %from : tensor<60000xf32>, tensor<f64>) {
  ^bb0(%e: f32, %_: f32, %before: f64):
    %wide = arith.extf %e : f32 to f64
    %sum = arith.addf %before, %wide : f64
    %rounded = arith.truncf %sum : f64 to f32
    linalg.yield %rounded, %sum : f32, f64
  } -> (tensor<60000xf32>, tensor<f64>)
  return %y#0 : tensor<60000xf32>
}

// Sizes that nothing divides: zeros behind the end, whose sums are cut off. What is computed of an element, before. Many
// blocks are scanned in blocks themselves, and moved by one.
// CHECK-LABEL: func @padded(
// CHECK: %[[E:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<150011xi32>)
// CHECK: arith.muli
// CHECK: %[[P:.*]] = tensor.pad %[[E]] low[0] high[{{.*}}]
// CHECK: tensor.expand_shape %[[P]]
// CHECK: tensor.pad %{{.*}} low[1] high[0]
// CHECK: %[[Y:.*]] = tensor.extract_slice %{{.*}}[0] [150011] [1]
// CHECK: return %[[Y]]
func.func @padded(%x: tensor<150011xi32>) -> tensor<150011xi32> {
  %zero = arith.constant 0 : i32
  %any = tensor.empty() : tensor<150011xi32>
  %last = tensor.empty() : tensor<i32>
  %from = linalg.fill ins(%zero : i32) outs(%last : tensor<i32>) -> tensor<i32>
  %y:2 = linalg.generic {indexing_maps = [#row, #row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<150011xi32>) outs(%any, %from : tensor<150011xi32>, tensor<i32>) {
  ^bb0(%e: i32, %_: i32, %before: i32):
    %square = arith.muli %e, %e : i32
    %sum = arith.addi %square, %before : i32
    linalg.yield %sum, %sum : i32, i32
  } -> (tensor<150011xi32>, tensor<i32>)
  return %y#0 : tensor<150011xi32>
}

// Short ones, and those that start from something, stay.
// CHECK-LABEL: func @short(
// CHECK-NOT: tensor.expand_shape
// CHECK: return
func.func @short(%x: tensor<32xf32>, %start: tensor<f32>, %long: tensor<4096xf32>) -> (tensor<32xf32>, tensor<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<32xf32>
  %last = tensor.empty() : tensor<f32>
  %from = linalg.fill ins(%zero : f32) outs(%last : tensor<f32>) -> tensor<f32>
  %y:2 = linalg.generic {indexing_maps = [#row, #row, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<32xf32>) outs(%any, %from : tensor<32xf32>, tensor<f32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %e : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<32xf32>, tensor<f32>)
  %more = tensor.empty() : tensor<4096xf32>
  %z:2 = linalg.generic {indexing_maps = [#row, #row, #none], iterator_types = ["reduction"]}
      ins(%long : tensor<4096xf32>) outs(%more, %start : tensor<4096xf32>, tensor<f32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %e : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<4096xf32>, tensor<f32>)
  return %y#0, %z#0 : tensor<32xf32>, tensor<4096xf32>
}

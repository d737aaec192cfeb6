// A running sum becomes one kernel in XeTile, a loop that carries a sum in each lane.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/scan.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/scan.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// What is computed of each element before and after is in the loop; eight loads do not wait for one another.
// CHECK-LABEL: func.func @scan(
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @scan_kernel::@scan_kernel blocks in (%c1{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in (%c64
// CHECK: gpu.func @scan_kernel
// CHECK: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<1x128xf32>)
// CHECK-COUNT-8: xetile.load_tile
// CHECK-NOT: xetile.load_tile
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]], %{{.*}} : vector<1x128xf32>
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SUM]]
// CHECK: xetile.store_tile %[[ROOT]]
// CHECK: arith.addf %[[SUM]]
#both = affine_map<(m, n) -> (m, n)>
#columns = affine_map<(m, n) -> (n)>
func.func @scan(%A: tensor<24x100xf32>) -> tensor<24x100xf32> {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<24x100xf32>
  %last = tensor.empty() : tensor<100xf32>
  %from = linalg.fill ins(%zero : f32) outs(%last : tensor<100xf32>) -> tensor<100xf32>
  %sums:2 = linalg.generic {indexing_maps = [#both, #both, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%A : tensor<24x100xf32>) outs(%any, %from : tensor<24x100xf32>, tensor<100xf32>) {
  ^bb0(%a: f32, %_: f32, %before: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %before, %square : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<24x100xf32>, tensor<100xf32>)
  %D = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%sums#0 : tensor<24x100xf32>) outs(%any : tensor<24x100xf32>) {
  ^bb0(%s: f32, %_: f32):
    %root = math.sqrt %s : f32
    linalg.yield %root : f32
  } -> tensor<24x100xf32>
  return %D : tensor<24x100xf32>
}

// Updates of rows by their numbers: one kernel that writes what there was, one of atomics.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// As a reduction, in one order, where the matcher says so.
// RUN: rm -rf %t && cp -r %schedules/parts %t
// RUN: sed 's/@is_scatter -> @anchors_scatter/@is_scatter -> @anchors_rows/' %schedules/parts/match_kernels.mlir > %t/match_kernels.mlir
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%t,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=EDITED

// CHECK: func.func @program
// CHECK: gpu.launch_func {{.*}}scatter_kernel
// CHECK: gpu.launch_func {{.*}}scatter_kernel
// CHECK: gpu.func @program_0_scatter_kernel
// CHECK: xetile.store_tile
// CHECK: gpu.func @program_0_scatter_kernel
// CHECK: xetile.load_tile
// CHECK: %[[TILE:.*]] = xetile.init_tile %{{.*}}, %{{.*}} : i64, vector<8x64xindex>
// CHECK: xetile.atomic_rmw_scatter <addf> %{{.*}}, %{{.*}}, %[[TILE]]
// CHECK-NOT: xetile.atomic_rmw_scatter
// EDITED-NOT: atomic_rmw_scatter
// EDITED: gpu.func @program_0_rows_kernel
// EDITED-NOT: atomic_rmw_scatter
#rows = affine_map<(d, w, n) -> (n)>
#updates = affine_map<(d, w, n) -> (n, w)>
#all = affine_map<(d, w, n) -> (d, w)>
func.func @program(%x: tensor<7x33xf32>, %rows: tensor<9xi64>, %updates: tensor<9x33xf32>) -> tensor<7x33xf32> {
  %zero = arith.constant -0.0 : f32
  %y = linalg.generic {indexing_maps = [#rows, #updates, #all], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %updates : tensor<9xi64>, tensor<9x33xf32>) outs(%x : tensor<7x33xf32>) {
  ^bb0(%row: i64, %update: f32, %before: f32):
    %d = linalg.index 0 : index
    %n = arith.index_cast %d : index to i64
    %here = arith.cmpi eq, %n, %row : i64
    %taken = arith.select %here, %update, %zero : f32
    %sum = arith.addf %before, %taken : f32
    linalg.yield %sum : f32
  } -> tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}

// Two layers become one kernel in XeTile, whose hidden values are in registers, and nothing is left for the host.
// RUN: xetile-opt %schedules/payloads/mlp_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/mlp.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %schedules/payloads/mlp_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/mlp.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @mlp(
// CHECK-NOT: linalg
// CHECK-NOT: memref<4096x256x
// CHECK: gpu.launch_func @mlp_kernel::@mlp_kernel blocks in (%c1{{.*}}, %c32{{.*}}, %c1{{.*}}) threads in (%c128
// CHECK: gpu.func @mlp_kernel
// CHECK: %[[X:.*]] = xetile.load_tile {{.*}} -> vector<128x64xf16>
// CHECK-COUNT-4: xetile.prefetch_tile
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c256{{.*}} step %c64{{.*}} iter_args(%[[Y:.*]] = %{{.*}}) -> (vector<128x64xf32>)
// CHECK: %[[W:.*]] = xetile.load_tile {{.*}} -> vector<64x64xf16>
// CHECK: %[[S:.*]] = xetile.tile_mma %[[X]], %[[W]], %{{.*}} {wg_map = #[[ROWS:.*]]} :
// CHECK: %[[R:.*]] = arith.maximumf %[[S]]
// CHECK: %[[H:.*]] = arith.truncf %[[R]] : vector<128x64xf32> to vector<128x64xf16>
// CHECK: %[[V:.*]] = xetile.load_tile {{.*}} -> vector<64x64xf16>
// CHECK: xetile.tile_mma %[[H]], %[[V]], %[[Y]] {wg_map = #[[ROWS]]} :
// CHECK: scf.yield
// CHECK: xetile.store_tile

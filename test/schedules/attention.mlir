// Attention becomes one kernel in XeTile, whose scores are in registers, and nothing is left for the host.
// RUN: xetile-opt %schedules/payloads/attention_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %schedules/payloads/attention_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @attention(
// CHECK-NOT: linalg
// CHECK-NOT: memref<16x1024x1024x
// CHECK: gpu.launch_func @attention_kernel::@attention_kernel blocks in (%c1{{.*}}, %c8{{.*}}, %c16{{.*}}) threads in (%c128
// CHECK: gpu.func @attention_kernel
// CHECK: %[[Q:.*]] = xetile.load_tile {{.*}} -> vector<128x64xf16>
// CHECK-COUNT-4: xetile.prefetch_tile
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c64{{.*}} iter_args({{.*}}) -> (vector<128x64xf32>, vector<128x1xf32>, vector<128x16xf32>)
// CHECK: %[[K:.*]] = xetile.load_tile {{.*}} -> vector<64x64xf16>
// CHECK: %[[S:.*]] = xetile.tile_mma %[[Q]], %[[K]], %{{.*}} {wg_map = #[[ROWS:.*]]} :
// The largest product is the product of the largest.
// CHECK: %[[M:.*]] = xetile.tile_reduce <maxnumf> %[[S]], [1] {wg_map = #{{.*}}} : vector<128x64xf32> -> vector<128x1xf32>
// CHECK: arith.mulf %[[M]]
// CHECK: %[[X:.*]] = math.fma %[[S]]
// CHECK: %[[P:.*]] = math.exp2 %[[X]]
// CHECK: %[[H:.*]] = arith.truncf %[[P]] : vector<128x64xf32> to vector<128x64xf16>
// CHECK: %[[V:.*]] = xetile.load_tile {{.*}} -> vector<64x64xf16>
// CHECK: xetile.tile_mma %[[H]], %[[V]], %{{.*}} {wg_map = #[[ROWS]]} :
// Ones add up the powers of a row.
// CHECK: xetile.tile_mma %[[H]], %{{.*}}, %{{.*}} {wg_map = #{{.*}}} : vector<128x64xf16>, vector<64x16xf16>, vector<128x16xf32>
// CHECK: scf.yield
// CHECK: arith.divf
// CHECK: xetile.store_tile

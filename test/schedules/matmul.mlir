// The matmul schedule on its payloads, in stock mlir-opt with the plugin and in xetile-opt.
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %schedules/payloads/matmul_f16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefixes=CHECK,ACC -DTYPE=f16
// RUN: xetile-opt %schedules/payloads/matmul_bf16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefixes=CHECK,ACC -DTYPE=bf16
// RUN: xetile-opt %schedules/payloads/matmul_f16_zero.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefixes=CHECK,ZERO -DTYPE=f16

// One map is set, the others follow: 8 x 4 subgroups of 32 x 64, and all 32 of them prefetch.
// CHECK-DAG: #[[C_MAP:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
// CHECK-DAG: #[[A_MAP:.*]] = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
// CHECK-DAG: #[[A_SHARED_MAP:.*]] = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 32]>
// CHECK-DAG: #[[B_SHARED_MAP:.*]] = #xetile.wg_map<sg_layout = [4, 8], sg_data = [8, 32]>
// CHECK-DAG: #[[C:.*]] = #xetile.tile_attr<wg_map = #[[C_MAP]]>
// CHECK-DAG: #[[A:.*]] = #xetile.tile_attr<wg_map = #[[A_MAP]]>
// CHECK-DAG: #[[A_SHARED:.*]] = #xetile.tile_attr<wg_map = #[[A_SHARED_MAP]]>
// CHECK-DAG: #[[B_SHARED:.*]] = #xetile.tile_attr<wg_map = #[[B_SHARED_MAP]]>

// The result is a new buffer; the host does nothing else but copy the accumulator's start, if there is one.
// CHECK-LABEL: func.func @matmul(
// ACC-SAME: %{{.*}}: memref<1024x1024x[[TYPE]]>, %{{.*}}: memref<1024x1024x[[TYPE]]>, %[[C_ARG:.*]]: memref<1024x1024xf32>)
// CHECK: %[[RESULT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1024x1024xf32>
// ACC-NEXT: memref.copy %[[C_ARG]], %[[RESULT]]
// CHECK-NEXT: gpu.launch_func @matmul_kernel::@matmul_kernel
// CHECK-SAME: %[[RESULT]] : memref<1024x1024xf32>
// CHECK-NEXT: return %[[RESULT]]

// CHECK: gpu.module @matmul_kernel [#xevm.target<chip = "pvc">]
// CHECK: gpu.func @matmul_kernel({{.*}}) kernel
// CHECK-SAME: known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 4, 4, 1>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[C1024:.*]] = arith.constant 1024 : index
// ZERO-DAG: %[[START:.*]] = arith.constant dense<0.000000e+00> : vector<256x256xf32>
// CHECK: %[[X:.*]] = gpu.block_id x
// CHECK: %[[Y:.*]] = gpu.block_id y
// CHECK: %[[M:.*]] = arith.muli %[[Y]], %[[C256]]
// CHECK: %[[N:.*]] = arith.muli %[[X]], %[[C256]]
// ACC: %[[START:.*]] = xetile.load_tile %{{.*}} : !xetile.tile<256x256xf32, #[[C]]>

// CHECK-COUNT-3: xetile.prefetch_tile %{{.*}} locality<3> : !xetile.tile<256x32x[[TYPE]], #[[A_SHARED]]>
// CHECK-COUNT-3: xetile.prefetch_tile %{{.*}} locality<3> : !xetile.tile<32x256x[[TYPE]], #[[B_SHARED]]>

// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %[[C0]] to %[[C1024]] step %[[C32]] iter_args(%[[ACC:.*]] = %[[START]])
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %[[C96]]
// CHECK: %[[A_AHEAD:.*]] = xetile.init_tile %{{.*}}[%[[M]], %[[AHEAD]]]
// CHECK: xetile.prefetch_tile %[[A_AHEAD]] locality<3> : !xetile.tile<256x32x[[TYPE]], #[[A_SHARED]]>
// CHECK: %[[B_AHEAD:.*]] = xetile.init_tile %{{.*}}[%[[AHEAD]], %[[N]]]
// CHECK: xetile.prefetch_tile %[[B_AHEAD]] locality<3> : !xetile.tile<32x256x[[TYPE]], #[[B_SHARED]]>
// CHECK: %[[A_TILE:.*]] = xetile.load_tile %{{.*}} : !xetile.tile<256x32x[[TYPE]], #[[A]]>
// CHECK: %[[B_INIT:.*]] = xetile.init_tile %{{.*}}[%[[K]], %[[N]]]
// CHECK: %[[B_TILE:.*]] = xetile.load_tile %[[B_INIT]] : !xetile.tile<32x256x[[TYPE]], #[[C]]>
// CHECK: %[[NEXT:.*]] = xetile.tile_mma %[[A_TILE]], %[[B_TILE]], %[[ACC]] {wg_map = #[[C_MAP]]}
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: xetile.store_tile %[[SUM]], %{{.*}} : vector<256x256xf32>, !xetile.tile<256x256xf32, #[[C]]>
// CHECK-NEXT: gpu.return

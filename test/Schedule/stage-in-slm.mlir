// RUN: xetile-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

// All subgroups copy a part of each tile, a step ahead, to the buffer that is not read; two steps a turn.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#b = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#c = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
// CHECK-DAG: #[[READ:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
// CHECK-DAG: #[[COPYA:.*]] = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 32]>
// CHECK-DAG: #[[COPYB:.*]] = #xetile.wg_map<sg_layout = [2, 2], sg_data = [16, 32]>
// CHECK-DAG: #[[OFA:.*]] = #xetile.tile_attr<wg_map = #[[COPYA]], memory_space = slm>
// CHECK-DAG: #[[OFB:.*]] = #xetile.tile_attr<wg_map = #[[COPYB]], memory_space = slm>
// CHECK-DAG: #[[FROM:.*]] = #xetile.tile_attr<wg_map = #[[READ]], memory_space = slm>
// CHECK-LABEL: gpu.func @two_buffers
// CHECK-SAME:    (%[[A:.*]]: memref<64x128xf16>, %[[B:.*]]: memref<128x64xf16>
// CHECK-DAG:     %[[RINGA:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128x32xf16, 3>
// CHECK-DAG:     %[[RINGB:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xf16, 3>
// CHECK:         xetile.store_tile {{.*}} : vector<64x32xf16>, !xetile.tile<64x32xf16, #[[OFA]]>
// CHECK:         xetile.store_tile {{.*}} : vector<32x64xf16>, !xetile.tile<32x64xf16, #[[OFB]]>
// CHECK:         scf.for %[[K:.*]] = %c0 to %c128 step %c64
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[K]], %c32
// CHECK-NEXT:      %[[TILE:.*]] = xetile.init_tile %[[A]][0, %[[NEXT]]]
// CHECK-NEXT:      %[[AHEAD:.*]] = xetile.load_tile %[[TILE]]
// CHECK:           %[[BUFFER0:.*]] = xetile.init_tile %[[RINGA]][0, 0] {{.*}} -> !xetile.tile<64x32xf16, #[[FROM]]>
// CHECK:           xetile.load_tile %[[BUFFER0]]
// CHECK:           xetile.tile_mma
// CHECK:           %[[BUFFER1:.*]] = xetile.init_tile %[[RINGA]][64, 0] {{.*}} -> !xetile.tile<64x32xf16, #[[OFA]]>
// CHECK:           xetile.store_tile %[[AHEAD]], %[[BUFFER1]]
// CHECK:           gpu.barrier
// CHECK:           xetile.init_tile %[[RINGA]][64, 0] {{.*}} -> !xetile.tile<64x32xf16, #[[FROM]]>
// CHECK:           xetile.tile_mma
// CHECK:           xetile.store_tile {{.*}} : vector<64x32xf16>, !xetile.tile<64x32xf16, #[[OFA]]>
// CHECK:           scf.yield
// CHECK-NOT:     gpu.barrier
gpu.module @m {
  gpu.func @two_buffers(%A: memref<64x128xf16>, %B: memref<128x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %sum = scf.for %k = %c0 to %c128 step %c32 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %ta = xetile.init_tile %A[0, %k] : memref<64x128xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #a>>
      %tb = xetile.init_tile %B[%k, 0] : memref<128x64xf16> -> !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #b>>
      %a = xetile.load_tile %ta : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x32xf16>
      %b = xetile.load_tile %tb : !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #b>> -> vector<32x64xf16>
      %d = xetile.tile_mma %a, %b, %acc {wg_map = #c} : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %d : vector<64x64xf32>
    }
    %tc = xetile.init_tile %C[0, 0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = #c>>
    xetile.store_tile %sum, %tc : vector<64x64xf32>, !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = #c>>
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 2 : i64 -> !transform.param<i64>
    %target = transform.param.constant "pvc" -> !transform.any_param
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    %loops = transform.xetile.stage_in_slm %loads buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// -----

// Steps that are left over follow; of bounds that only a run knows in a loop of their own. Loads outside of loops, and of
// a single row, stay. A loop around begins with a barrier.
#a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#r = #xetile.wg_map<sg_layout = [2, 2], sg_data = [1, 32]>
// CHECK-LABEL: gpu.func @steps_left_over
// CHECK:         xetile.load_tile {{.*}} -> vector<1x64xf16>
// CHECK:         scf.for %{{.*}} = %c0 to %c2
// CHECK:           gpu.barrier
// CHECK:           xetile.store_tile
// CHECK:           %[[TURNS:.*]] = arith.divui
// CHECK:           %[[END:.*]] = arith.muli %[[TURNS]], %c96
// CHECK:           scf.for %{{.*}} = %c0 to %[[END]] step %c96
// CHECK-COUNT-3:     gpu.barrier
// CHECK:           scf.for %{{.*}} = %[[END]] to %{{.*}} step %c32
// CHECK:             %[[NUMBER:.*]] = arith.divui %{{.*}}, %c32
// CHECK:             %[[SLOT:.*]] = arith.remui %[[NUMBER]], %c3
// CHECK:             gpu.barrier
// CHECK:             %[[ROW:.*]] = arith.muli %[[SLOT]], %c64
// CHECK:             xetile.init_tile %{{.*}}[%[[ROW]], 0] : memref<192x64xf16, 3>
gpu.module @m {
  gpu.func @steps_left_over(%A: memref<64x2048xf16>, %R: memref<1x64xf16>, %end: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %tr = xetile.init_tile %R[0, 0] : memref<1x64xf16> -> !xetile.tile<1x64xf16, #xetile.tile_attr<wg_map = #r>>
    %r = xetile.load_tile %tr : !xetile.tile<1x64xf16, #xetile.tile_attr<wg_map = #r>> -> vector<1x64xf16>
    %v = xetile.tile_broadcast %r, [0] : vector<1x64xf16> -> vector<64x64xf16>
    scf.for %i = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %end step %c32 {
        %ta = xetile.init_tile %A[0, %k] : memref<64x2048xf16> -> !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
        %a = xetile.load_tile %ta : !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>> -> vector<64x64xf16>
        %s = arith.addf %a, %v : vector<64x64xf16>
        xetile.store_tile %s, %ta : vector<64x64xf16>, !xetile.tile<64x64xf16, #xetile.tile_attr<wg_map = #a>>
      }
    }
    gpu.return
  }
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %buffers = transform.param.constant 3 : i64 -> !transform.param<i64>
    %target = transform.param.constant "bmg" -> !transform.any_param
    %loads = transform.structured.match ops{["xetile.load_tile"]} in %root : (!transform.any_op) -> !transform.any_op
    %loops = transform.xetile.stage_in_slm %loads buffers = %buffers target = %target
        : (!transform.any_op, !transform.param<i64>, !transform.any_param) -> !transform.any_op
    transform.yield
  }
}

// A workgroup's XeGPU, distributed over subgroups.
//
// RUN: xetile-opt %s --split-input-file \
// RUN:   --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-xegpu-wg-to-sg,canonicalize,cse))" \
// RUN:   | FileCheck %s

// One descriptor for each shape of pieces; where a subgroup's piece is goes to the access. What layouts say about lanes
// stays.
#c = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>
gpu.module @accesses {
  // CHECK-LABEL: gpu.func @copy
  // CHECK: %[[ID:.*]] = gpu.subgroup_id
  // CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %c2
  // CHECK: %[[COLUMN:.*]] = arith.remui %[[ID]], %c2
  // CHECK: %[[T:.*]] = xegpu.create_nd_tdesc %{{.*}}[8, 0] : memref<128x128xf32> -> !xegpu.tensor_desc<16x32xf32>
  // CHECK-NOT: sg_layout
  // CHECK: xegpu.load_nd %[[T]]
  // CHECK-SAME: layout = #xegpu.layout<inst_data = [8, 16], lane_layout = [1, 16], lane_data = [1, 1]>
  // CHECK-SAME: -> vector<16x32xf32>
  gpu.func @copy(%a: memref<128x128xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a[8, 0] : memref<128x128xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
    %v = xegpu.load_nd %t : !xegpu.tensor_desc<64x64xf32, #c> -> vector<64x64xf32>
    xegpu.store_nd %v, %t[64, 0] : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #c>
    gpu.return
  }
}

// -----

// The RFC's example: its descriptor's type would not pass upstream's verifier, the access's layout does. Two rounds, and
// the columns are shared.
#rfc = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 128]>
gpu.module @rfc {
  // CHECK-LABEL: gpu.func @rounds
  // CHECK: %[[ID:.*]] = gpu.subgroup_id
  // CHECK: %[[ROW:.*]] = arith.divui %[[ID]], %c2
  // CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %c32
  // CHECK: xegpu.load_nd %{{.*}}[%[[FIRST]], 0]
  // CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c64
  // CHECK: xegpu.load_nd %{{.*}}[%[[SECOND]], 0]
  // CHECK-COUNT-2: xegpu.store_nd
  gpu.func @rounds(%a: memref<1024x1024xf16>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<1024x1024xf16> -> !xegpu.tensor_desc<128x128xf16>
    %v = xegpu.load_nd %t[0, 0] <{layout = #rfc}> : !xegpu.tensor_desc<128x128xf16> -> vector<128x128xf16>
    xegpu.store_nd %v, %t[128, 0] : vector<128x128xf16>, !xegpu.tensor_desc<128x128xf16>
    gpu.return
  }
}

// -----

// A and B follow from the result. What they are under already costs nothing.
#a = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32]>
#b = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>
#c = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>
gpu.module @dpas {
  // CHECK-LABEL: gpu.func @multiply
  // CHECK-NOT: memref.alloca
  // CHECK: xegpu.dpas {{.*}} : vector<32x32xf16>, vector<32x16xf16> -> vector<32x16xf32>
  // CHECK-NOT: gpu.barrier
  gpu.func @multiply(%a: memref<64x32xf16>, %b: memref<32x32xf16>, %c: memref<64x32xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16, #a>
    %tb = xegpu.create_nd_tdesc %b : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16, #b>
    %tc = xegpu.create_nd_tdesc %c : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32, #c>
    %x = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<64x32xf16, #a> -> vector<64x32xf16>
    %y = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x32xf16, #b> -> vector<32x32xf16>
    %z = xegpu.dpas %x, %y {layout_cd = #c} : vector<64x32xf16>, vector<32x32xf16> -> vector<64x32xf32>
    xegpu.store_nd %z, %tc[0, 0] : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32, #c>
    gpu.return
  }
}

// -----

// What other subgroups need goes through shared local memory, with a barrier between.
#rows = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
#columns = #xegpu.layout<sg_layout = [1, 4], sg_data = [32, 8]>
gpu.module @exchange {
  // CHECK-LABEL: gpu.func @convert
  // CHECK: memref.alloca() {{.*}} : memref<2048xi8, 3>
  // CHECK: vector.transfer_write {{.*}} : vector<8x32xf16>, memref<32x32xf16, 3>
  // CHECK: gpu.barrier
  // CHECK: vector.transfer_read {{.*}} : memref<32x32xf16, 3>, vector<32x8xf16>
  gpu.func @convert(%a: memref<32x32xf16>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16>
    %v = xegpu.load_nd %t[0, 0] <{layout = #rows}> : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    %w = xegpu.convert_layout %v <{input_layout = #rows, target_layout = #columns}> : vector<32x32xf16>
    xegpu.store_nd %w, %t[0, 0] : vector<32x32xf16>, !xegpu.tensor_desc<32x32xf16>
    gpu.return
  }

  // Each adds its part up, then what all have.
  // CHECK-LABEL: gpu.func @reduce
  // CHECK: vector.multi_reduction <add>, {{.*}} [1] : vector<32x8xf32> to vector<32xf32>
  // CHECK: vector.transfer_write {{.*}} : vector<32x1xf32>, memref<32x4xf32, 3>
  // CHECK: gpu.barrier
  // CHECK: %[[ALL:.*]] = vector.transfer_read {{.*}} : memref<32x4xf32, 3>, vector<32x4xf32>
  // CHECK: vector.multi_reduction <add>, %[[ALL]], {{.*}} [1] : vector<32x4xf32> to vector<32xf32>
  gpu.func @reduce(%a: memref<32x32xf32>, %c: memref<32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #columns}> : !xegpu.tensor_desc<32x32xf32> -> vector<32x32xf32>
    %acc = arith.constant dense<1.0> : vector<32xf32>
    %w = vector.multi_reduction <add>, %v, %acc [1] : vector<32x32xf32> to vector<32xf32>
    %u = xegpu.create_nd_tdesc %c : memref<32xf32> -> !xegpu.tensor_desc<32xf32>
    xegpu.store_nd %w, %u[0] : vector<32xf32>, !xegpu.tensor_desc<32xf32>
    gpu.return
  }
}

// -----

// Without layouts for subgroups nothing changes.
gpu.module @one {
  // CHECK-LABEL: gpu.func @subgroup
  // CHECK-NOT: gpu.subgroup_id
  // CHECK: xegpu.load_nd {{.*}} -> vector<8x16xf32>
  gpu.func @subgroup(%a: memref<32x32xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %v, %t[8, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}

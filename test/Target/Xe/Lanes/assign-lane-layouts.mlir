// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts))" | FileCheck %s
//
// The maps of the XeGPU RFC for PVC, as the compiler uses them: a row of A to each register (of 8-bit elements two
// columns to a lane), B's rows along k in one lane, C as A.

gpu.module @k {
  // CHECK-LABEL: gpu.func @f16
  // A is wanted by the first multiplication, C by what follows the second.
  // CHECK: xegpu.load_nd {{.*}} {xetile.lanes = [#xetile.lane_layout<block = [8, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>]}
  // CHECK: xegpu.load_nd {{.*}} {xetile.lanes = [#xetile.lane_layout<block = [16, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>]}
  // CHECK-NOT: xetile.convert_lanes
  // CHECK: xegpu.dpas
  // CHECK-NOT: xetile.convert_lanes
  gpu.func @f16(%a: memref<32x32xf16>, %b: memref<32x64xf16>, %c: memref<32x64xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<32x32xf16> -> !xegpu.tensor_desc<32x32xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<32x64xf16> -> !xegpu.tensor_desc<32x64xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<32x64xf32> -> !xegpu.tensor_desc<32x64xf32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x64xf16> -> vector<32x64xf16>
    %d = xegpu.dpas %va, %vb : vector<32x32xf16>, vector<32x64xf16> -> vector<32x64xf32>
    %e = arith.addf %d, %d : vector<32x64xf32>
    xegpu.store_nd %e, %tc[0, 0] : vector<32x64xf32>, !xegpu.tensor_desc<32x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @i8
  // CHECK: xegpu.load_nd {{.*}}block = [8, 32], register = {{\[\[}}0, 1], [1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 2], [0, 4], [0, 8], [0, 16]]>
  // CHECK: xegpu.load_nd {{.*}}block = [32, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @i8(%a: memref<8x64xi8>, %b: memref<64x64xi8>, %c: memref<8x16xi32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<8x64xi8> -> !xegpu.tensor_desc<8x32xi8>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xi8> -> !xegpu.tensor_desc<32x16xi8>
    %tc = xegpu.create_nd_tdesc %c : memref<8x16xi32> -> !xegpu.tensor_desc<8x16xi32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x32xi8> -> vector<8x32xi8>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x16xi8> -> vector<32x16xi8>
    %d = xegpu.dpas %va, %vb : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x16xi32>, !xegpu.tensor_desc<8x16xi32>
    gpu.return
  }

  // Eight columns of tf32 leave a row to half of the lanes.
  // CHECK-LABEL: gpu.func @tf32
  // CHECK: xegpu.load_nd {{.*}}block = [8, 8], register = {{\[\[}}2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0]]>
  // CHECK: xegpu.load_nd {{.*}}block = [8, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @tf32(%a: memref<8x64xtf32>, %b: memref<64x64xtf32>, %c: memref<8x16xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<8x64xtf32> -> !xegpu.tensor_desc<8x8xtf32>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xtf32> -> !xegpu.tensor_desc<8x16xtf32>
    %tc = xegpu.create_nd_tdesc %c : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x8xtf32> -> vector<8x8xtf32>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<8x16xtf32> -> vector<8x16xtf32>
    %d = xegpu.dpas %va, %vb : vector<8x8xtf32>, vector<8x16xtf32> -> vector<8x16xf32>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }

  // Where layouts meet something moves; a constant is made for each.
  // CHECK-LABEL: gpu.func @meets
  // CHECK: %[[D:.*]] = xegpu.dpas
  // CHECK: %[[A:.*]] = xetile.convert_lanes %[[D]] {xetile.lanes = [#xetile.lane_layout<block = [8, 32], register = {{\[\[}}0, 1]
  // CHECK: %[[P:.*]] = arith.trunci %[[A]]
  // CHECK: xegpu.dpas %[[P]]
  gpu.func @meets(%a: memref<8x32xi8>, %b: memref<32x32xi8>, %c: memref<8x32xi32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<8x32xi8> -> !xegpu.tensor_desc<8x32xi8>
    %tb = xegpu.create_nd_tdesc %b : memref<32x32xi8> -> !xegpu.tensor_desc<32x32xi8>
    %tc = xegpu.create_nd_tdesc %c : memref<8x32xi32> -> !xegpu.tensor_desc<8x32xi32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x32xi8> -> vector<8x32xi8>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x32xi8> -> vector<32x32xi8>
    %d = xegpu.dpas %va, %vb : vector<8x32xi8>, vector<32x32xi8> -> vector<8x32xi32>
    %p = arith.trunci %d : vector<8x32xi32> to vector<8x32xi8>
    %e = xegpu.dpas %p, %vb : vector<8x32xi8>, vector<32x32xi8> -> vector<8x32xi32>
    xegpu.store_nd %e, %tc[0, 0] : vector<8x32xi32>, !xegpu.tensor_desc<8x32xi32>
    gpu.return
  }

  // Offsets and masks of accesses are computed by the lanes that need them, for each layout once: nothing moves.
  // CHECK-LABEL: gpu.func @offsets
  // CHECK-DAG: %[[ROWS:.*]] = arith.addi {{.*}}lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]{{.*}} : vector<16x16xindex>
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.addi {{.*}}lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0]]{{.*}} : vector<16x16xindex>
  // CHECK-NOT: arith.addi
  // CHECK-NOT: xetile.convert_lanes
  // CHECK: %[[T:.*]] = vector.transpose
  // CHECK-NOT: xetile.convert_lanes
  // CHECK: xegpu.store %[[T]], %{{.*}}[%[[COLUMNS]]]
  // CHECK: xegpu.store %[[T]], %{{.*}}[%[[COLUMNS]]]
  // CHECK: xegpu.store %{{.*}}, %{{.*}}[%[[ROWS]]]
  gpu.func @offsets(%a: memref<16x16xf32>, %b: memref<1024xf32>, %c: i64, %first: index) kernel {
    %all = arith.constant dense<true> : vector<16x16xi1>
    %width = arith.constant dense<64> : vector<16xindex>
    %ta = xegpu.create_nd_tdesc %a : memref<16x16xf32> -> !xegpu.tensor_desc<16x16xf32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    %count = vector.step : vector<16xindex>
    %start = vector.broadcast %first : index to vector<16xindex>
    %n = arith.muli %start, %width : vector<16xindex>
    %m = arith.addi %count, %n : vector<16xindex>
    %down = vector.shape_cast %count : vector<16xindex> to vector<16x1xindex>
    %rows = vector.broadcast %down : vector<16x1xindex> to vector<16x16xindex>
    %columns = vector.broadcast %m : vector<16xindex> to vector<16x16xindex>
    %offsets = arith.addi %rows, %columns : vector<16x16xindex>
    %t = vector.transpose %va, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    xegpu.store %t, %c[%offsets], %all : vector<16x16xf32>, i64, vector<16x16xindex>, vector<16x16xi1>
    xegpu.store %t, %c[%offsets], %all : vector<16x16xf32>, i64, vector<16x16xindex>, vector<16x16xi1>
    xegpu.store %va, %c[%offsets], %all : vector<16x16xf32>, i64, vector<16x16xindex>, vector<16x16xi1>
    gpu.return
  }

  // Rows that no message takes, without tests of bounds: four neighbours to a lane, also of the row that is repeated.
  // CHECK-LABEL: gpu.func @rows_of_elements
  // CHECK: xegpu.load_nd {{.*}}block = [8, 64], register = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32]]>
  // CHECK: xegpu.load_nd {{.*}}block = [1, 64], register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32]]>
  // CHECK-NOT: xetile.convert_lanes
  gpu.func @rows_of_elements(%a: memref<32x141xf32>, %r: memref<1x141xf32>, %c: memref<32x141xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<32x141xf32> -> !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<8x64xf32>
    %tr = xegpu.create_nd_tdesc %r : memref<1x141xf32> -> !xegpu.tensor_desc<1x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %vr = xegpu.load_nd %tr[0, 0] : !xegpu.tensor_desc<1x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<1x64xf32>
    %vb = vector.broadcast %vr : vector<1x64xf32> to vector<8x64xf32>
    %d = arith.addf %va, %vb : vector<8x64xf32>
    %tc = xegpu.create_nd_tdesc %c : memref<32x141xf32> -> !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x64xf32>, !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    gpu.return
  }

  // Elements of 16 bits that are known to begin with a word are as words; where every other row begins in the middle, they are not.
  // CHECK-LABEL: gpu.func @elements_in_words
  // CHECK: xegpu.load {{.*}}block = [2, 32], register = {{\[\[}}0, 1], [1, 0]], lane = {{\[\[}}0, 2], [0, 4], [0, 8], [0, 16]]>
  // CHECK: xegpu.load {{.*}}block = [2, 16], register = {{\[\[}}1, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @elements_in_words(%x: memref<8x64xf16>, %b: i64) kernel {
    %even = arith.constant dense<[[0], [64]]> : vector<2x1xindex>
    %odd = arith.constant dense<[[0], [65]]> : vector<2x1xindex>
    %two = arith.constant dense<2> : vector<1x32xindex>
    %all = arith.constant dense<true> : vector<2x32xi1>
    %pointer = memref.extract_aligned_pointer_as_index %x : memref<8x64xf16> -> index
    %a = arith.index_cast %pointer : index to i64
    %line = vector.step : vector<32xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %along = arith.muli %row, %two : vector<1x32xindex>
    %steps = vector.broadcast %along : vector<1x32xindex> to vector<2x32xindex>
    %rows = vector.broadcast %even : vector<2x1xindex> to vector<2x32xindex>
    %offsets = arith.addi %steps, %rows : vector<2x32xindex>
    %v = xegpu.load %a[%offsets], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf16>
    xegpu.store %v, %b[%offsets], %all : vector<2x32xf16>, i64, vector<2x32xindex>, vector<2x32xi1>
    %apart = vector.broadcast %odd : vector<2x1xindex> to vector<2x32xindex>
    %others = arith.addi %steps, %apart : vector<2x32xindex>
    %w = xegpu.load %a[%others], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf16>
    xegpu.store %w, %b[%others], %all : vector<2x32xf16>, i64, vector<2x32xindex>, vector<2x32xi1>
    gpu.return
  }

  // Elements of rows two steps apart: a lane has two of them, four with what lies between, which a store follows.
  // CHECK-LABEL: gpu.func @elements_in_steps
  // CHECK: xegpu.load {{.*}}block = [2, 32], register = {{\[\[}}0, 1], [1, 0]], lane = {{\[\[}}0, 2], [0, 4], [0, 8], [0, 16]]>
  // CHECK-NOT: xetile.convert_lanes
  // Shorter ones, which may begin in the middle of words, are loaded one by one.
  // CHECK: xegpu.load {{.*}}block = [2, 16], register = {{\[\[}}1, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  // So are those under a mask.
  // CHECK: xegpu.load {{.*}}block = [2, 16], register = {{\[\[}}1, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @elements_in_steps(%a: i64, %b: i64, %mask: vector<2x32xi1>) kernel {
    %two = arith.constant dense<2> : vector<2x32xindex>
    %line = vector.step : vector<32xindex>
    %columns = vector.broadcast %line : vector<32xindex> to vector<2x32xindex>
    %offsets = arith.muli %columns, %two : vector<2x32xindex>
    %all = arith.constant dense<true> : vector<2x32xi1>
    %v = xegpu.load %a[%offsets], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf32>
    xegpu.store %v, %b[%columns], %all : vector<2x32xf32>, i64, vector<2x32xindex>, vector<2x32xi1>
    %h = xegpu.load %a[%offsets], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf16>
    xegpu.store %h, %b[%columns], %all : vector<2x32xf16>, i64, vector<2x32xindex>, vector<2x32xi1>
    %m = xegpu.load %a[%offsets], %mask : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf32>
    xegpu.store %m, %b[%columns], %mask : vector<2x32xf32>, i64, vector<2x32xindex>, vector<2x32xi1>
    gpu.return
  }

  // Not where messages take rows, or bounds are tested.
  // CHECK-LABEL: gpu.func @rows_of_messages
  // CHECK: xegpu.load_nd {{.*}}block = [8, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @rows_of_messages(%a: memref<32x144xf32>, %c: memref<32x144xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<32x144xf32> -> !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<8x64xf32>
    %tc = xegpu.create_nd_tdesc %c : memref<32x144xf32> -> !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    xegpu.store_nd %va, %tc[0, 0] : vector<8x64xf32>, !xegpu.tensor_desc<8x64xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rows_with_bounds
  // CHECK: xegpu.load_nd {{.*}}block = [8, 16], register = {{\[\[}}1, 0], [2, 0], [4, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]]>
  gpu.func @rows_with_bounds(%a: memref<32x141xf32>, %c: memref<32x141xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<32x141xf32> -> !xegpu.tensor_desc<8x64xf32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x64xf32> -> vector<8x64xf32>
    %tc = xegpu.create_nd_tdesc %c : memref<32x141xf32> -> !xegpu.tensor_desc<8x64xf32>
    xegpu.store_nd %va, %tc[0, 0] : vector<8x64xf32>, !xegpu.tensor_desc<8x64xf32>
    gpu.return
  }
}

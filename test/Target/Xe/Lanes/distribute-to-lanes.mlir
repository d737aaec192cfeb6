// RUN: xetile-opt %s --pass-pipeline="builtin.module(xetile-attach-target{chip=pvc},gpu.module(xetile-assign-lane-layouts,xetile-distribute-to-lanes,canonicalize,cse))" | FileCheck %s

gpu.module @k {
  // The fewest messages whose registers are those of the instruction; B in dwords.
  // CHECK-LABEL: gpu.func @matmul
  // CHECK: xevm.blockload2d {{.*}} elem_size_in_bits = 16 : i32, pack_register = false, tile_height = 32 : i32, tile_width = 16 : i32, transpose = false, v_blocks = 2 : i32
  // CHECK-COUNT-2: xevm.blockload2d {{.*}} elem_size_in_bits = 16 : i32, pack_register = true, tile_height = 32 : i32, tile_width = 16 : i32, transpose = false, v_blocks = 2 : i32
  // CHECK-NOT: xevm.blockload2d
  // CHECK-COUNT-32: xevm.mma {{.*}} (vector<8xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
  // CHECK-NOT: xevm.mma
  // CHECK-COUNT-16: xevm.blockstore2d
  gpu.func @matmul(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<32x32xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<32x64xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<32x64xf32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x64xf16> -> vector<32x64xf16>
    %d = xegpu.dpas %va, %vb : vector<32x32xf16>, vector<32x64xf16> -> vector<32x64xf32>
    xegpu.store_nd %d, %tc[0, 0] : vector<32x64xf32>, !xegpu.tensor_desc<32x64xf32>
    gpu.return
  }

  // What a loop carries is pieces; a descriptor only its offsets.
  // CHECK-LABEL: gpu.func @loop
  // CHECK: scf.for {{.*}} -> (index, vector<8xf32>, vector<8xf32>)
  gpu.func @loop(%a: memref<64x64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = xegpu.create_nd_tdesc %a[0, 0] : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %t, %s = %zero) -> (!xegpu.tensor_desc<16x16xf32>, vector<16x16xf32>) {
      %v = xegpu.load_nd %u : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
      %w = arith.addf %s, %v : vector<16x16xf32>
      %x = xegpu.update_nd_offset %u, [%c0, %c16] : !xegpu.tensor_desc<16x16xf32>
      scf.yield %x, %w : !xegpu.tensor_desc<16x16xf32>, vector<16x16xf32>
    }
    xegpu.store_nd %r#1, %t : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    gpu.return
  }

  // A sum over rows adds registers; one over columns goes through the lanes in four steps. Eight rows halve with each: 4,
  // 2, 1 and 1 shuffles; then each goes to all lanes from where it is.
  // CHECK-LABEL: gpu.func @sums
  // CHECK-NOT: sub_group_shuffle
  // CHECK-COUNT-8: llvm.call spir_funccc @_Z21sub_group_shuffle_xorij
  // CHECK-NOT: sub_group_shuffle_xor
  // CHECK-COUNT-8: llvm.call spir_funccc @_Z17sub_group_shuffleij(%{{.*}}, %c{{[0-7]}}_i32
  // CHECK-NOT: sub_group_shuffle
  gpu.func @sums(%a: memref<64x64xf32>, %r: memref<16xf32>, %s: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %rows = arith.constant dense<0.0> : vector<16xf32>
    %columns = arith.constant dense<0.0> : vector<8xf32>
    %x = vector.multi_reduction <add>, %v, %rows [0] : vector<8x16xf32> to vector<16xf32>
    %y = vector.multi_reduction <add>, %v, %columns [1] : vector<8x16xf32> to vector<8xf32>
    vector.store %x, %r[%c0] : memref<16xf32>, vector<16xf32>
    vector.store %y, %s[%c0] : memref<8xf32>, vector<8xf32>
    gpu.return
  }

  // One value of all lanes: OpenCL's reduction. A maximum that drops NaN is one where it is of a number besides; what the
  // driver makes of NaN does not matter then. There is none that keeps NaN, and none of bf16.
  // CHECK-LABEL: gpu.func @of_all_lanes
  // CHECK: llvm.call spir_funccc @_Z20sub_group_reduce_addf
  // CHECK: %[[IS:.*]] = arith.cmpf ord, %[[V:.*]], %[[V]] : f32
  // CHECK: %[[NUMBER:.*]] = arith.select %[[IS]], %[[V]], %{{.*}} : f32
  // CHECK: llvm.call spir_funccc @_Z20sub_group_reduce_maxf(%[[NUMBER]])
  // CHECK: %[[CAST:.*]] = arith.select
  // CHECK: llvm.call spir_funccc @_Z20sub_group_reduce_minf(%[[CAST]])
  // CHECK-NOT: sub_group_reduce
  // CHECK-COUNT-12: llvm.call spir_funccc @_Z21sub_group_shuffle_xorij
  // CHECK-NOT: sub_group_reduce
  gpu.func @of_all_lanes(%a: memref<16xf32>, %b: memref<16xbf16>, %n: f32, %k: bf16, %r: memref<6xf32>, %s: memref<1xbf16>) kernel {
    %c0 = arith.constant 0 : index
    %low = arith.constant 0xFF800000 : f32
    %high = arith.constant dense<0x7F800000> : vector<1x1xf32>
    %nan = arith.constant dense<0x7FC00000> : vector<1xf32>
    %v = vector.load %a[%c0] : memref<16xf32>, vector<16xf32>
    %w = vector.load %b[%c0] : memref<16xbf16>, vector<16xbf16>
    %x = vector.shape_cast %v : vector<16xf32> to vector<1x16xf32>
    %r0 = vector.reduction <add>, %v : vector<16xf32> into f32
    memref.store %r0, %r[%c0] : memref<6xf32>
    %r1 = vector.reduction <maxnumf>, %v, %low : vector<16xf32> into f32
    memref.store %r1, %r[%c0] : memref<6xf32>
    %m = vector.multi_reduction <minnumf>, %x, %nan [1] : vector<1x16xf32> to vector<1xf32>
    %m1 = vector.shape_cast %m : vector<1xf32> to vector<1x1xf32>
    %m2 = arith.minnumf %m1, %high : vector<1x1xf32>
    %r2 = vector.extract %m2[0, 0] : f32 from vector<1x1xf32>
    memref.store %r2, %r[%c0] : memref<6xf32>
    %r3 = vector.reduction <maxnumf>, %v, %n : vector<16xf32> into f32
    memref.store %r3, %r[%c0] : memref<6xf32>
    %r4 = vector.reduction <maximumf>, %v, %low : vector<16xf32> into f32
    memref.store %r4, %r[%c0] : memref<6xf32>
    %r5 = vector.reduction <add>, %w, %k : vector<16xbf16> into bf16
    memref.store %r5, %s[%c0] : memref<1xbf16>
    gpu.return
  }

  // Numbers of a column that lie side by side in memory are one load for all lanes.
  // CHECK-LABEL: gpu.func @column
  // CHECK-COUNT-1: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<8xf32>
  // CHECK-NOT: llvm.load
  gpu.func @column(%a: memref<64x1xf32>, %r: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x1xf32> -> !xegpu.tensor_desc<8x1xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %v = xegpu.load_nd %t[8, 0] : !xegpu.tensor_desc<8x1xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<8x1xf32>
    %w = vector.broadcast %v : vector<8x1xf32> to vector<8x16xf32>
    %s = xegpu.create_nd_tdesc %r : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %w, %s[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }

  // Sixteen are one load, too, where they are two vectors of a lane.
  // CHECK-LABEL: gpu.func @long_column
  // CHECK-COUNT-1: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<16xf32>
  // CHECK-NOT: llvm.load
  gpu.func @long_column(%a: memref<64x1xf32>, %r: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x1xf32> -> !xegpu.tensor_desc<16x1xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %v = xegpu.load_nd %t[8, 0] : !xegpu.tensor_desc<16x1xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<16x1xf32>
    %s = xegpu.create_nd_tdesc %r : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %x = vector.extract_strided_slice %v {offsets = [0, 0], sizes = [8, 1], strides = [1, 1]} : vector<16x1xf32> to vector<8x1xf32>
    %y = vector.extract_strided_slice %v {offsets = [8, 0], sizes = [8, 1], strides = [1, 1]} : vector<16x1xf32> to vector<8x1xf32>
    %w = vector.broadcast %x : vector<8x1xf32> to vector<8x16xf32>
    %z = vector.broadcast %y : vector<8x1xf32> to vector<8x16xf32>
    xegpu.store_nd %w, %s[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %z, %s[8, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }

  // A row that is wholly in memory needs an address alone; another one the 2D unit, which tests.
  // CHECK-LABEL: gpu.func @rows
  // CHECK: xevm.blockload %{{.*}} : (!llvm.ptr<1>) -> i32
  // CHECK-NOT: xevm.blockload %
  // CHECK: xevm.blockload2d
  gpu.func @rows(%a: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<1x16xf32, #xegpu.block_tdesc_attr<boundary_check = false>>
    %s = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<1x16xf32>
    %v = xegpu.load_nd %t[3, 16] : !xegpu.tensor_desc<1x16xf32, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<1x16xf32>
    %w = xegpu.load_nd %s[3, 32] : !xegpu.tensor_desc<1x16xf32> -> vector<1x16xf32>
    xegpu.store_nd %v, %s[4, 0] : vector<1x16xf32>, !xegpu.tensor_desc<1x16xf32>
    xegpu.store_nd %w, %s[5, 0] : vector<1x16xf32>, !xegpu.tensor_desc<1x16xf32>
    gpu.return
  }

  // Types that XeVM has no word for: the device's builtin by its name.
  // CHECK-LABEL: gpu.func @builtins
  // CHECK: llvm.call spir_funccc @_Z36intel_sub_group_u8_u8_matrix_mad_k32Dv8_tDv8_jDv8_i
  // CHECK: llvm.call spir_funccc @_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_Dh
  gpu.func @builtins(%a: memref<64x64xi8>, %b: memref<64x64xf16>, %c: memref<64x64xi32>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<64x64xi8> -> !xegpu.tensor_desc<8x32xi8>
    %tb = xegpu.create_nd_tdesc %a : memref<64x64xi8> -> !xegpu.tensor_desc<32x16xi8>
    %th = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %ti = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<64x64xi32> -> !xegpu.tensor_desc<8x16xi32>
    %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x32xi8> -> vector<8x32xi8>
    %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x16xi8> -> vector<32x16xi8>
    %vh = xegpu.load_nd %th[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %vi = xegpu.load_nd %ti[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    %ua = vector.bitcast %va : vector<8x32xi8> to vector<8x32xui8>
    %ub = vector.bitcast %vb : vector<32x16xi8> to vector<32x16xui8>
    %d = xegpu.dpas %ua, %ub : vector<8x32xui8>, vector<32x16xui8> -> vector<8x16xi32>
    %e = xegpu.dpas %vh, %vi : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf16>
    xegpu.store_nd %d, %tc[0, 0] : vector<8x16xi32>, !xegpu.tensor_desc<8x16xi32>
    xegpu.store_nd %e, %th[0, 0] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }

  // Elements of even and odd columns: a lane has two of each, which lie side by side, and stores two.
  // CHECK-LABEL: gpu.func @neighbours
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK-NOT: llvm.store
  gpu.func @neighbours(%a: i64, %b: i64) kernel {
    %two = arith.constant dense<2> : vector<1x32xindex>
    %pitch = arith.constant dense<64> : vector<2x1xindex>
    %c4 = arith.constant 4 : i64
    %all = arith.constant dense<true> : vector<2x32xi1>
    %line = vector.step : vector<32xindex>
    %count = vector.step : vector<2xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %column = vector.shape_cast %count : vector<2xindex> to vector<2x1xindex>
    %down = arith.muli %column, %pitch : vector<2x1xindex>
    %along = arith.muli %row, %two : vector<1x32xindex>
    %places = vector.broadcast %down : vector<2x1xindex> to vector<2x32xindex>
    %steps = vector.broadcast %along : vector<1x32xindex> to vector<2x32xindex>
    %offsets = arith.addi %steps, %places : vector<2x32xindex>
    %even = xegpu.load %a[%offsets], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf32>
    %next = arith.addi %a, %c4 : i64
    %odd = xegpu.load %next[%offsets], %all : i64, vector<2x32xindex>, vector<2x32xi1> -> vector<2x32xf32>
    %sum = arith.addf %even, %odd : vector<2x32xf32>
    %whole = vector.broadcast %row : vector<1x32xindex> to vector<2x32xindex>
    %results = arith.addi %whole, %places : vector<2x32xindex>
    xegpu.store %sum, %b[%results], %all : vector<2x32xf32>, i64, vector<2x32xindex>, vector<2x32xi1>
    gpu.return
  }

  // Of 16 bits, too, where they are known to begin with a word.
  // CHECK-LABEL: gpu.func @neighbours_in_words
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf16>
  // CHECK-NOT: llvm.load
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<1>
  // CHECK-NOT: llvm.store
  gpu.func @neighbours_in_words(%x: memref<4x64xf16>, %y: memref<4x32xf16>, %n: index) kernel {
    %two = arith.constant dense<2> : vector<1x32xindex>
    %c2 = arith.constant 2 : i64
    %all = arith.constant dense<true> : vector<1x32xi1>
    %c128 = arith.constant 128 : index
    %px = memref.extract_aligned_pointer_as_index %x : memref<4x64xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<4x32xf16> -> index
    %down = arith.muli %n, %c128 : index
    %ax = arith.addi %px, %down : index
    %a = arith.index_cast %ax : index to i64
    %b = arith.index_cast %py : index to i64
    %line = vector.step : vector<32xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %offsets = arith.muli %row, %two : vector<1x32xindex>
    %even = xegpu.load %a[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %next = arith.addi %a, %c2 : i64
    %odd = xegpu.load %next[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %sum = arith.addf %even, %odd : vector<1x32xf16>
    xegpu.store %sum, %b[%row], %all : vector<1x32xf16>, i64, vector<1x32xindex>, vector<1x32xi1>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @neighbours_anywhere
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 2 : i64} : f16
  gpu.func @neighbours_anywhere(%a: i64, %b: i64) kernel {
    %two = arith.constant dense<2> : vector<1x32xindex>
    %c2 = arith.constant 2 : i64
    %all = arith.constant dense<true> : vector<1x32xi1>
    %line = vector.step : vector<32xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %offsets = arith.muli %row, %two : vector<1x32xindex>
    %even = xegpu.load %a[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %next = arith.addi %a, %c2 : i64
    %odd = xegpu.load %next[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %sum = arith.addf %even, %odd : vector<1x32xf16>
    xegpu.store %sum, %b[%row], %all : vector<1x32xf16>, i64, vector<1x32xindex>, vector<1x32xi1>
    gpu.return
  }

  // The first of four is the second half of a word: the two between are one.
  // CHECK-LABEL: gpu.func @neighbours_within_words
  // CHECK: llvm.load %{{.*}} -> f16
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
  // CHECK: llvm.load %{{.*}} -> f16
  gpu.func @neighbours_within_words(%x: memref<4x64xf16>, %y: memref<4x32xf16>) kernel {
    %two = arith.constant dense<2> : vector<1x32xindex>
    %c2 = arith.constant 2 : i64
    %all = arith.constant dense<true> : vector<1x32xi1>
    %px = memref.extract_aligned_pointer_as_index %x : memref<4x64xf16> -> index
    %py = memref.extract_aligned_pointer_as_index %y : memref<4x32xf16> -> index
    %c2_index = arith.constant 2 : index
    %ax = arith.addi %px, %c2_index : index
    %a = arith.index_cast %ax : index to i64
    %b = arith.index_cast %py : index to i64
    %line = vector.step : vector<32xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %offsets = arith.muli %row, %two : vector<1x32xindex>
    %even = xegpu.load %a[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %next = arith.addi %a, %c2 : i64
    %odd = xegpu.load %next[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf16>
    %sum = arith.addf %even, %odd : vector<1x32xf16>
    xegpu.store %sum, %b[%row], %all : vector<1x32xf16>, i64, vector<1x32xindex>, vector<1x32xi1>
    gpu.return
  }

  // Not across a store, which may change them.
  // CHECK-LABEL: gpu.func @neighbours_of_what_is_stored
  // CHECK-NOT: vector<4xf32>
  // CHECK-COUNT-2: llvm.load %{{.*}} -> f32
  // CHECK: llvm.store
  // CHECK-COUNT-2: llvm.load %{{.*}} -> f32
  gpu.func @neighbours_of_what_is_stored(%a: i64, %b: i64) kernel {
    %two = arith.constant dense<2> : vector<1x32xindex>
    %c4 = arith.constant 4 : i64
    %all = arith.constant dense<true> : vector<1x32xi1>
    %line = vector.step : vector<32xindex>
    %row = vector.shape_cast %line : vector<32xindex> to vector<1x32xindex>
    %offsets = arith.muli %row, %two : vector<1x32xindex>
    %even = xegpu.load %a[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf32>
    xegpu.store %even, %b[%offsets], %all : vector<1x32xf32>, i64, vector<1x32xindex>, vector<1x32xi1>
    %next = arith.addi %a, %c4 : i64
    %odd = xegpu.load %next[%offsets], %all : i64, vector<1x32xindex>, vector<1x32xi1> -> vector<1x32xf32>
    xegpu.store %odd, %b[%row], %all : vector<1x32xf32>, i64, vector<1x32xindex>, vector<1x32xi1>
    gpu.return
  }

  // A surface that the 2D unit does not take: each lane loads its elements, within the bounds.
  // CHECK-LABEL: gpu.func @odd_pitch
  // CHECK-NOT: blockload2d
  // CHECK: scf.if
  // CHECK: llvm.load
  gpu.func @odd_pitch(%a: memref<64x1001xf16>, %b: memref<64x64xf16>) kernel {
    %ta = xegpu.create_nd_tdesc %a : memref<64x1001xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %va = xegpu.load_nd %ta[60, 990] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    xegpu.store_nd %va, %tb[0, 0] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>
    gpu.return
  }

  // 16x16 across the diagonal: four steps over pairs of registers.
  // CHECK-LABEL: gpu.func @transpose
  // CHECK-COUNT-32: _Z21sub_group_shuffle_xorij
  // CHECK-NOT: sub_group_shuffle
  gpu.func @transpose(%a: memref<64x64xf32>) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<64x64xf32> -> !xegpu.tensor_desc<16x16xf32>
    %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
    %s = math.sqrt %v : vector<16x16xf32>
    xegpu.store_nd %s, %t[16, 0] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    %w = vector.transpose %v, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
    xegpu.store_nd %w, %t[0, 16] : vector<16x16xf32>, !xegpu.tensor_desc<16x16xf32>
    gpu.return
  }
}

// Prefetches of a loop get an address payload before it, which is moved behind each; where messages carry offsets, two
// at a constant distance share one. What is not reached in each step, or does not move, stays plain.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t/on" -o /dev/null
// RUN: cat %t/on/loop.ll | FileCheck %s --check-prefix=OWN
// RUN: cat %t/on/offsets.ll | FileCheck %s --check-prefix=SHARED
// RUN: cat %t/on/others.ll | FileCheck %s --check-prefix=OTHERS
// RUN: cat %t/on/streamed.ll | FileCheck %s --check-prefix=STREAMED
// RUN: xetile-opt %s --xetile-emit-binary="native=off prefetch-payloads=false dump-dir=%t/off" -o /dev/null
// RUN: cat %t/off/*.ll | FileCheck %s --check-prefix=OFF
// RUN: spirv-val --target-env spv1.4 %t/on/loop.spv

// OFF-NOT: Payload
// OFF-COUNT-7: call spir_func void @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2c
// OFF-NOT: Payload

// Width, height and pitch less one; a block of 16 columns, 8 rows, twice; the cache control of the hint.
// OWN-LABEL: @loop(
// OWN: %[[BASE:.*]] = ptrtoint ptr addrspace(1) %{{.*}} to i64
// OWN: %[[X:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %[[BASE]], i32 8191, i32 4095, i32 8191, i32 96, i32 %{{.*}}, i32 16, i32 8, i32 2)
// OWN: %[[FAR:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %{{.*}}, i32 8191, i32 4095, i32 8191, i32 128, i32 %{{.*}}, i32 16, i32 8, i32 2)
// OWN: phi i32
// OWN: call spir_func void @__builtin_IB_subgroup_block_read_ap_prefetch_u16_m8k16v2(ptr %[[X]], i32 0, i32 0, i32 4)
// OWN-NEXT: call spir_func void @__builtin_IB_subgroup_addBlock2DAddressPayloadBlockX(ptr %[[X]], i32 32)
// OWN: call spir_func void @__builtin_IB_subgroup_block_read_ap_prefetch_u16_m8k16v2(ptr %[[FAR]], i32 0, i32 0, i32 2)
// OWN-NEXT: call spir_func void @__builtin_IB_subgroup_addBlock2DAddressPayloadBlockX(ptr %[[FAR]], i32 32)
// OWN-NOT: addBlock2DAddressPayloadBlockY
gpu.module @m0 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>)
  llvm.func spir_kernelcc @loop(%p: !llvm.ptr<1>, %y: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %end = llvm.mlir.constant(4096 : i32) : i32
    %ahead = llvm.mlir.constant(96 : i32) : i32
    %further = llvm.mlir.constant(128 : i32) : i32
    %bytes = llvm.mlir.constant(8192 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    llvm.br ^head(%zero : i32)
  ^head(%k: i32):
    %more = llvm.icmp "slt" %k, %end : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %x = llvm.add %k, %ahead : i32
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %at) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %xx = llvm.add %k, %further : i32
    %w = llvm.insertelement %xx, %none[%zero : i32] : vector<2xi32>
    %then = llvm.insertelement %y, %w[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %then) {xevm.DecorationCacheControl = [[6442 : i32, 0 : i32, 0 : i32, 0 : i32], [6442 : i32, 1 : i32, 1 : i32, 0 : i32]]} : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %next = llvm.add %k, %step : i32
    llvm.br ^head(%next : i32)
  ^exit:
    llvm.return
  }
}

// SHARED-LABEL: @offsets(
// SHARED: %[[P:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %{{.*}}, i32 8191, i32 4095, i32 8191, i32 %{{.*}}, i32 0, i32 16, i32 8, i32 2)
// SHARED-NOT: createBlock2DAddressPayload
// SHARED: prefetch_u16_m8k16v2(ptr %[[P]], i32 0, i32 0, i32 4)
// SHARED: prefetch_u16_m8k16v2(ptr %[[P]], i32 32, i32 -8, i32 4)
// SHARED-NEXT: addBlock2DAddressPayloadBlockY(ptr %[[P]], i32 32)
gpu.module @m1 [#xevm.target<chip = "bmg">] {
  llvm.func spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>)
  llvm.func spir_kernelcc @offsets(%p: !llvm.ptr<1>, %x: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %rows = llvm.mlir.constant(-8 : i32) : i32
    %end = llvm.mlir.constant(4096 : i32) : i32
    %bytes = llvm.mlir.constant(8192 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    llvm.br ^head(%zero : i32)
  ^head(%k: i32):
    %more = llvm.icmp "slt" %k, %end : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %k, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %at) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %right = llvm.add %x, %step : i32
    %above = llvm.add %k, %rows : i32
    %w = llvm.insertelement %right, %none[%zero : i32] : vector<2xi32>
    %then = llvm.insertelement %above, %w[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %then) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %next = llvm.add %k, %step : i32
    llvm.br ^head(%next : i32)
  ^exit:
    llvm.return
  }
}

// One that not every step does, one at the square of the counter.
// OTHERS-LABEL: @others(
// OTHERS-NOT: Payload
gpu.module @m2 [#xevm.target<chip = "bmg">] {
  llvm.func spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>)
  llvm.func spir_kernelcc @others(%p: !llvm.ptr<1>, %some: !llvm.ptr<1>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %end = llvm.mlir.constant(4096 : i32) : i32
    %bytes = llvm.mlir.constant(8192 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    llvm.br ^head(%zero : i32)
  ^head(%k: i32):
    %more = llvm.icmp "slt" %k, %end : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %square = llvm.mul %k, %k : i32
    %v = llvm.insertelement %square, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %zero, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %at) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %place = llvm.getelementptr %some[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %value = llvm.load %place : !llvm.ptr<1> -> i32
    %wanted = llvm.icmp "eq" %value, %zero : i32
    llvm.cond_br %wanted, ^then, ^latch
  ^then:
    %w = llvm.insertelement %k, %none[%zero : i32] : vector<2xi32>
    %there = llvm.insertelement %zero, %w[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %there) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    llvm.br ^latch
  ^latch:
    %next = llvm.add %k, %step : i32
    llvm.br ^head(%next : i32)
  ^exit:
    llvm.return
  }
}

// The last cache streams for no message: a hint that says so is as none.
// STREAMED-LABEL: @streamed(
// STREAMED: block_read_ap_prefetch_u16_m8k16v2(ptr %{{.*}}, i32 0, i32 0, i32 4)
gpu.module @m3 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>)
  llvm.func spir_kernelcc @streamed(%p: !llvm.ptr<1>, %y: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %step = llvm.mlir.constant(32 : i32) : i32
    %end = llvm.mlir.constant(4096 : i32) : i32
    %ahead = llvm.mlir.constant(96 : i32) : i32
    %bytes = llvm.mlir.constant(8192 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    llvm.br ^head(%zero : i32)
  ^head(%k: i32):
    %more = llvm.icmp "slt" %k, %end : i32
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %x = llvm.add %k, %ahead : i32
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i(%p, %bytes, %end, %bytes, %at) {xevm.DecorationCacheControl = [[6442 : i32, 0 : i32, 0 : i32, 0 : i32], [6442 : i32, 1 : i32, 2 : i32, 0 : i32]]} : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>) -> ()
    %next = llvm.add %k, %step : i32
    llvm.br ^head(%next : i32)
  ^exit:
    llvm.return
  }
}

// Stores of blocks of one matrix that are constant distances apart share an address payload, and so do loads outside of
// loops. Others stay plain, and all do where machine code has cache hints, which SPIR-V can give plain ones only.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t/on" -o /dev/null
// RUN: cat %t/on/shared.ll | FileCheck %s --check-prefix=SHARED
// RUN: cat %t/on/alone.ll | FileCheck %s --check-prefix=ALONE
// RUN: cat %t/on/loads.ll | FileCheck %s --check-prefix=LOADS
// RUN: cat %t/on/halves.ll | FileCheck %s --check-prefix=HALVES
// RUN: xetile-opt %s --xetile-emit-binary="native=off prefetch-payloads=false dump-dir=%t/off" -o /dev/null
// RUN: cat %t/off/*.ll | FileCheck %s --check-prefix=OFF
// RUN: xetile-opt %s --xetile-emit-binary="native=off cache-controls dump-dir=%t/hints" -o /dev/null
// RUN: cat %t/hints/*.ll | FileCheck %s --check-prefix=OFF
// RUN: spirv-val --target-env spv1.4 %t/on/shared.spv && spirv-val --target-env spv1.4 %t/on/loads.spv && spirv-val --target-env spv1.4 %t/on/halves.spv

// OFF-NOT: Payload

// Width, height and pitch less one; a block of 16 columns and 8 rows. The values are in registers. The sum of an `or`
// is a distance, too.
// SHARED-LABEL: @shared(
// SHARED-NOT: alloca
// SHARED: %[[BASE:.*]] = ptrtoint ptr addrspace(1) %{{.*}} to i64
// SHARED: %[[P:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %[[BASE]], i32 4095, i32 1023, i32 4095, i32 %{{.*}}, i32 %{{.*}}, i32 16, i32 8, i32 1)
// SHARED: call spir_func void @__builtin_IB_subgroup_block_write_ap_u32_m8k16v1(ptr %[[P]], i32 0, i32 0, <8 x i32> %{{.*}}, i32 0)
// SHARED-NOT: createBlock2DAddressPayload
// SHARED: call spir_func void @__builtin_IB_subgroup_block_write_ap_u32_m8k16v1(ptr %[[P]], i32 16, i32 -8, <8 x i32> %{{.*}}, i32 0)
// SHARED: call spir_func void @__builtin_IB_subgroup_block_write_ap_u32_m8k16v1(ptr %[[P]], i32 0, i32 8, <8 x i32> %{{.*}}, i32 0)
gpu.module @m0 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_write_32b_8r16x1cPU3AS1viiiDv2_iPj(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_kernelcc @shared(%p: !llvm.ptr<1>, %x: i32, %group: i32, %value: vector<8xi32>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %four = llvm.mlir.constant(4 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %above = llvm.mlir.constant(-8 : i32) : i32
    %right = llvm.mlir.constant(16 : i32) : i32
    %height = llvm.mlir.constant(1024 : i32) : i32
    %bytes = llvm.mlir.constant(4096 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    %y = llvm.shl %group, %four : i32
    %own = llvm.alloca %eight x i32 : (i32) -> !llvm.ptr
    llvm.store %value, %own : vector<8xi32>, !llvm.ptr
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_32b_8r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %x1 = llvm.add %x, %right : i32
    %y1 = llvm.add %y, %above : i32
    %v1 = llvm.insertelement %x1, %none[%zero : i32] : vector<2xi32>
    %at1 = llvm.insertelement %y1, %v1[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_32b_8r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at1, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %y2 = llvm.or %y, %eight : i32
    %at2 = llvm.insertelement %y2, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_32b_8r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at2, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// No other store of the same matrix; 512 rows below, more than a message carries; one f16 to the right, no whole word;
// four rows, for which the library has no function.
// ALONE-LABEL: @alone(
// ALONE-NOT: Payload
gpu.module @m1 [#xevm.target<chip = "bmg">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_write_16b_4r16x1cPU3AS1viiiDv2_iPt(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_kernelcc @alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %x: i32, %y: i32, %value: vector<8xi16>) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %far = llvm.mlir.constant(512 : i32) : i32
    %height = llvm.mlir.constant(1024 : i32) : i32
    %bytes = llvm.mlir.constant(4096 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    %own = llvm.alloca %eight x i16 : (i32) -> !llvm.ptr
    llvm.store %value, %own : vector<8xi16>, !llvm.ptr
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(%q, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %y1 = llvm.add %y, %far : i32
    %at1 = llvm.insertelement %y1, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(%p, %bytes, %height, %bytes, %at1, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %x2 = llvm.add %x, %one : i32
    %v2 = llvm.insertelement %x2, %none[%zero : i32] : vector<2xi32>
    %at2 = llvm.insertelement %y, %v2[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x1cPU3AS1viiiDv2_iPt(%q, %bytes, %height, %bytes, %at2, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_4r16x1cPU3AS1viiiDv2_iPt(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// A store in between is no reason for another payload. Blocks of 32 registers have no function, loads in loops have
// payloads that Intel's compiler makes.
// LOADS-LABEL: @loads(
// LOADS: %[[P:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %{{.*}}, i32 4095, i32 1023, i32 4095, i32 %{{.*}}, i32 %{{.*}}, i32 16, i32 16, i32 1)
// LOADS: call spir_func <16 x i32> @__builtin_IB_subgroup_block_read_ap_u32_m16k16v1(ptr %[[P]], i32 0, i32 0, i32 0)
// LOADS: store i32
// LOADS: call spir_func <16 x i32> @__builtin_IB_subgroup_block_read_ap_u32_m16k16v1(ptr %[[P]], i32 16, i32 0, i32 0)
// LOADS-NOT: Payload
// LOADS: read_32b_32r16x1c
// LOADS: read_32b_32r16x1c
// LOADS: phi
// LOADS: read_32b_16r16x1c
// LOADS: read_32b_16r16x1c
gpu.module @m2 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_kernelcc @loads(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %x: i32, %y: i32, %n: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %many = llvm.mlir.constant(32 : i32) : i32
    %right = llvm.mlir.constant(16 : i32) : i32
    %height = llvm.mlir.constant(1024 : i32) : i32
    %bytes = llvm.mlir.constant(4096 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    %own = llvm.alloca %many x i32 : (i32) -> !llvm.ptr
    %other = llvm.alloca %many x i32 : (i32) -> !llvm.ptr
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    %x1 = llvm.add %x, %right : i32
    %v1 = llvm.insertelement %x1, %none[%zero : i32] : vector<2xi32>
    %at1 = llvm.insertelement %y, %v1[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.store %n, %q : i32, !llvm.ptr<1>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at1, %other) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %a = llvm.load %own : !llvm.ptr -> vector<16xi32>
    %b = llvm.load %other : !llvm.ptr -> vector<16xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at1, %other) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %c = llvm.load %own : !llvm.ptr -> vector<16xi32>
    %d = llvm.load %other : !llvm.ptr -> vector<16xi32>
    %ab = llvm.add %a, %b : vector<16xi32>
    %cd = llvm.add %c, %d : vector<16xi32>
    %s = llvm.add %ab, %cd : vector<16xi32>
    llvm.br ^head(%zero, %s : i32, vector<16xi32>)
  ^head(%k: i32, %t: vector<16xi32>):
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_16r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at1, %other) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %e = llvm.load %own : !llvm.ptr -> vector<16xi32>
    %f = llvm.load %other : !llvm.ptr -> vector<16xi32>
    %both = llvm.add %t, %e : vector<16xi32>
    %all = llvm.add %both, %f : vector<16xi32>
    %next = llvm.add %k, %one : i32
    %more = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %more, ^head(%next, %all : i32, vector<16xi32>), ^exit
  ^exit:
    llvm.store %all, %q : vector<16xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// Where messages carry distances, blocks of 32 registers are two of 16, and share a payload with others; not beyond the
// distance that a message carries, and not alone.
// HALVES-LABEL: @halves(
// HALVES: %[[P:.*]] = call spir_func ptr @__builtin_IB_subgroup_createBlock2DAddressPayload(i64 %{{.*}}, i32 4095, i32 1023, i32 4095, i32 %{{.*}}, i32 %{{.*}}, i32 16, i32 16, i32 1)
// HALVES-COUNT-2: call spir_func <16 x i32> @__builtin_IB_subgroup_block_read_ap_u32_m16k16v1(ptr %[[P]], i32 0, i32 {{0|16}}, i32 0)
// HALVES: call spir_func <16 x i32> @__builtin_IB_subgroup_block_read_ap_u32_m16k16v1(ptr %[[P]], i32 0, i32 32, i32 0)
// HALVES: call spir_func <16 x i32> @__builtin_IB_subgroup_block_read_ap_u32_m16k16v1(ptr %[[P]], i32 0, i32 48, i32 0)
// HALVES-NOT: Payload
// HALVES: read_32b_32r16x1c
gpu.module @m3 [#xevm.target<chip = "bmg">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr)
  llvm.func spir_kernelcc @halves(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %x: i32, %y: i32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %many = llvm.mlir.constant(32 : i32) : i32
    %far = llvm.mlir.constant(500 : i32) : i32
    %height = llvm.mlir.constant(1024 : i32) : i32
    %bytes = llvm.mlir.constant(4096 : i32) : i32
    %none = llvm.mlir.poison : vector<2xi32>
    %own = llvm.alloca %many x i32 : (i32) -> !llvm.ptr
    %other = llvm.alloca %many x i32 : (i32) -> !llvm.ptr
    %third = llvm.alloca %many x i32 : (i32) -> !llvm.ptr
    %v = llvm.insertelement %x, %none[%zero : i32] : vector<2xi32>
    %at = llvm.insertelement %y, %v[%one : i32] : vector<2xi32>
    %y1 = llvm.add %y, %many : i32
    %at1 = llvm.insertelement %y1, %v[%one : i32] : vector<2xi32>
    %y2 = llvm.add %y, %far : i32
    %at2 = llvm.insertelement %y2, %v[%one : i32] : vector<2xi32>
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at, %own) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at1, %other) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_32b_32r16x1cPU3AS1viiiDv2_iPj(%p, %bytes, %height, %bytes, %at2, %third) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    %a = llvm.load %own : !llvm.ptr -> vector<32xi32>
    %b = llvm.load %other : !llvm.ptr -> vector<32xi32>
    %c = llvm.load %third : !llvm.ptr -> vector<32xi32>
    %ab = llvm.add %a, %b : vector<32xi32>
    %all = llvm.add %ab, %c : vector<32xi32>
    llvm.store %all, %q : vector<32xi32>, !llvm.ptr<1>
    llvm.return
  }
}

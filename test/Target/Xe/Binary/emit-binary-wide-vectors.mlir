// Vectors that SPIR-V has no type for, in every place where a kernel of XeGPU's may have them.
//
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" -o %t.mlir
// RUN: spirv-val %t/slices.spv
// RUN: FileCheck %s --input-file=%t/slices.ll
// RUN: FileCheck %s --input-file=%t/slices.ll --check-prefix=NONE
// RUN: spirv-dis %t/slices.spv | FileCheck %s --check-prefix=SPIRV

// NONE-NOT: <{{5|6|7|9|10|11|12|13|14|15|17|18|19|[2-9][0-9]|[1-9][0-9][0-9]}} x

gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @fill64(!llvm.ptr)
  llvm.func spir_funccc @fill32(!llvm.ptr)
  llvm.func spir_funccc @use8(vector<8xi16>)
  llvm.func spir_funccc @use8i(vector<8xi32>)
  llvm.func spir_funccc @use1(i32)

  // The slices of what a block read left are loaded one by one, where the wide load stood, as what they are used as:
  // those of 16-bit elements by vloadn, which a CPU's driver compiles much faster than a gather of them.
  // CHECK-LABEL: define spir_kernel void @slices
  // CHECK: call spir_func void @fill64(ptr nonnull %[[BUFFER:.*]])
  // CHECK-DAG: %[[LAST:.*]] = getelementptr inbounds i8, ptr %[[BUFFER]], i64 112
  // CHECK-DAG: call spir_func <8 x i16> @_Z6vload8mPKt(i64 0, ptr{{.*}} %[[LAST]])
  // CHECK-DAG: load <8 x i32>, ptr %[[BUFFER]]
  // CHECK-NOT: shufflevector
  // CHECK: ret void
  // SPIRV-DAG: OpExtInst %v8ushort %{{[0-9]+}} vloadn %{{.*}} 8
  // SPIRV-DAG: OpLoad %v8uint
  llvm.func spir_kernelcc @slices() attributes {gpu.kernel} {
    %n = llvm.mlir.constant(64 : i32) : i32
    %buffer = llvm.alloca %n x i16 : (i32) -> !llvm.ptr
    llvm.call spir_funccc @fill64(%buffer) : (!llvm.ptr) -> ()
    %wide = llvm.load %buffer : !llvm.ptr -> vector<64xi16>
    %half = llvm.bitcast %wide : vector<64xi16> to vector<64xbf16>
    %slice = llvm.shufflevector %half, %half [56, 57, 58, 59, 60, 61, 62, 63] : vector<64xbf16>
    %bits = llvm.bitcast %slice : vector<8xbf16> to vector<8xi16>
    llvm.call spir_funccc @use8(%bits) : (vector<8xi16>) -> ()
    %pairs = llvm.bitcast %half : vector<64xbf16> to vector<32xi32>
    %first = llvm.shufflevector %pairs, %pairs [0, 1, 2, 3, 4, 5, 6, 7] : vector<32xi32>
    llvm.call spir_funccc @use8i(%first) : (vector<8xi32>) -> ()
    llvm.return
  }

  // A slice is aligned as far as its place in the wide vector is: 16 bytes behind a multiple of 64, 4 for one element.
  // CHECK-LABEL: define spir_kernel void @aligned
  // CHECK-DAG: %[[QUARTER:.*]] = getelementptr inbounds i8, ptr %[[WIDE:.*]], i64 16
  // CHECK-DAG: load <8 x i32>, ptr %[[QUARTER]], align 16
  // CHECK-DAG: %[[ODD:.*]] = getelementptr inbounds i8, ptr %[[WIDE]], i64 84
  // CHECK-DAG: load i32, ptr %[[ODD]], align 4
  // CHECK: ret void
  llvm.func spir_kernelcc @aligned() attributes {gpu.kernel} {
    %n = llvm.mlir.constant(32 : i32) : i32
    %buffer = llvm.alloca %n x i32 {alignment = 64 : i64} : (i32) -> !llvm.ptr
    llvm.call spir_funccc @fill32(%buffer) : (!llvm.ptr) -> ()
    %wide = llvm.load %buffer {alignment = 64 : i64} : !llvm.ptr -> vector<32xi32>
    %slice = llvm.shufflevector %wide, %wide [4, 5, 6, 7, 8, 9, 10, 11] : vector<32xi32>
    llvm.call spir_funccc @use8i(%slice) : (vector<8xi32>) -> ()
    %at = llvm.mlir.constant(21 : i32) : i32
    %one = llvm.extractelement %wide[%at : i32] : vector<32xi32>
    llvm.call spir_funccc @use1(%one) : (i32) -> ()
    llvm.return
  }

  // One element of the first vector among a run of the second.
  // CHECK-LABEL: define spir_kernel void @first_and_second
  // CHECK: call spir_func void @fill32({{.*}} %[[A:.*]])
  // CHECK: %[[FIRST:.*]] = load <16 x i32>, ptr %[[A]]
  // CHECK: %[[ELEMENT:.*]] = extractelement <16 x i32> %[[FIRST]], i64 3
  // CHECK: insertelement <8 x i32> {{.*}}, i32 %[[ELEMENT]], i64 0
  // CHECK: ret void
  llvm.func spir_kernelcc @first_and_second() attributes {gpu.kernel} {
    %n = llvm.mlir.constant(32 : i32) : i32
    %a = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
    %b = llvm.alloca %n x i32 : (i32) -> !llvm.ptr
    llvm.call spir_funccc @fill32(%a) : (!llvm.ptr) -> ()
    llvm.call spir_funccc @fill32(%b) : (!llvm.ptr) -> ()
    %v = llvm.load %a : !llvm.ptr -> vector<32xi32>
    %w = llvm.load %b : !llvm.ptr -> vector<32xi32>
    %r = llvm.shufflevector %v, %w [3, 41, 42, 43, 44, 45, 46, 47] : vector<32xi32>
    llvm.call spir_funccc @use8i(%r) : (vector<8xi32>) -> ()
    llvm.return
  }

  // Arithmetic, comparison, selection, conversion, intrinsics, constants, loops, inserts and shuffles across pieces.
  // 20 = 16 + 4 elements.
  // CHECK-LABEL: define spir_kernel void @everything
  // CHECK-DAG: phi <16 x float>
  // CHECK-DAG: phi <4 x float>
  // CHECK-DAG: call <16 x float> @llvm.floor.v16f32
  // CHECK-DAG: call <4 x float> @llvm.floor.v4f32
  // CHECK: ret void
  llvm.func spir_kernelcc @everything(%data: !llvm.ptr<1>, %n: i64, %x: f32) attributes {gpu.kernel} {
    %zero = llvm.mlir.constant(0 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64
    %at = llvm.mlir.constant(17 : i32) : i32
    %ones = llvm.mlir.constant(dense<1.0> : vector<20xf32>) : vector<20xf32>
    %start = llvm.load %data : !llvm.ptr<1> -> vector<20xf32>
    llvm.br ^loop(%zero, %start : i64, vector<20xf32>)
  ^loop(%i: i64, %v: vector<20xf32>):
    %w = llvm.insertelement %x, %v[%at : i32] : vector<20xf32>
    %r = llvm.shufflevector %w, %v [19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 39] : vector<20xf32>
    %s = llvm.fadd %r, %ones : vector<20xf32>
    %a = llvm.intr.floor(%s) : (vector<20xf32>) -> vector<20xf32>
    %c = llvm.fcmp "olt" %a, %v : vector<20xf32>
    %u = llvm.select %c, %a, %v : vector<20xi1>, vector<20xf32>
    %next = llvm.add %i, %one : i64
    %more = llvm.icmp "slt" %next, %n : i64
    llvm.cond_br %more, ^loop(%next, %u : i64, vector<20xf32>), ^done
  ^done:
    %h = llvm.fptrunc %u : vector<20xf32> to vector<20xf16>
    %b = llvm.bitcast %h : vector<20xf16> to vector<10xi32>
    llvm.store %b, %data : vector<10xi32>, !llvm.ptr<1>
    llvm.return
  }
}

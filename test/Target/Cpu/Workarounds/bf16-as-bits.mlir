// RUN: xetile-opt %s --xetile-bf16-as-bits --canonicalize | FileCheck %s

// CHECK: llvm.mlir.global {{.*}}(dense<[16256, 16384]> : tensor<2xi16>) {{.*}} : !llvm.array<2 x i16>
llvm.mlir.global private constant @weights(dense<[1.0, 2.0]> : tensor<2xbf16>) : !llvm.array<2 x bf16>

// CHECK-LABEL: llvm.func @move
// CHECK-SAME: vector<4xi16>
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(dense<16256> : vector<4xi16>)
// CHECK: llvm.intr.masked.load %{{.*}}, %{{.*}}, %[[ONE]] {{.*}} -> vector<4xi16>
// CHECK-NOT: bf16
// CHECK: llvm.return
llvm.func @move(%p: !llvm.ptr, %mask: vector<4xi1>) -> vector<4xbf16> {
  %one = llvm.mlir.constant(dense<1.0> : vector<4xbf16>) : vector<4xbf16>
  %x = llvm.intr.masked.load %p, %mask, %one {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xbf16>) -> vector<4xbf16>
  llvm.return %x : vector<4xbf16>
}

// An instruction on bf16 gets what it wants.
// CHECK-LABEL: llvm.func @dot
// CHECK: %[[A:.*]] = llvm.load %{{.*}} -> vector<32xi16>
// CHECK: %[[CAST:.*]] = llvm.bitcast %[[A]] : vector<32xi16> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[CAST]], %{{.*}})
llvm.func @dot(%p: !llvm.ptr, %sum: vector<16xf32>) -> vector<16xf32> {
  %a = llvm.load %p : !llvm.ptr -> vector<32xbf16>
  %r = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%sum, %a, %a) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  llvm.return %r : vector<16xf32>
}

// CHECK-LABEL: gpu.module
// CHECK: bf16
gpu.module @device {
  llvm.func @helper(%x: bf16)
}

// RUN: xetile-opt %s --split-input-file --verify-diagnostics \
// RUN:   --pass-pipeline="builtin.module(gpu.module(xetile-bf16-to-i16))" | FileCheck %s

// Values, arguments, memory and constants keep their bits.
// CHECK-LABEL: gpu.module @moves
// CHECK-NOT: bf16
// CHECK: llvm.func spir_kernelcc @f(%[[P:.*]]: !llvm.ptr<1>, %{{.*}}: i16)
// CHECK: llvm.mlir.constant(16256 : i16) : i16
// CHECK: llvm.mlir.constant(dense<[16256, -16384]> : vector<2xi16>) : vector<2xi16>
// CHECK: llvm.load %[[P]] : !llvm.ptr<1> -> vector<2xi16>
// CHECK: ^bb1(%{{.*}}: vector<2xi16>)
// CHECK: llvm.store %{{.*}}, %[[P]] : vector<2xi16>, !llvm.ptr<1>
gpu.module @moves {
  llvm.func spir_kernelcc @f(%p: !llvm.ptr<1>, %x: bf16) attributes {gpu.kernel} {
    %i = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1.0 : bf16) : bf16
    %both = llvm.mlir.constant(dense<[1.0, -2.0]> : vector<2xbf16>) : vector<2xbf16>
    %v = llvm.load %p : !llvm.ptr<1> -> vector<2xbf16>
    %w = llvm.insertelement %x, %v[%i : i32] : vector<2xbf16>
    llvm.br ^bb1(%w : vector<2xbf16>)
  ^bb1(%y: vector<2xbf16>):
    %z = llvm.bitcast %y : vector<2xbf16> to i32
    %u = llvm.bitcast %z : i32 to vector<2xbf16>
    %t = llvm.shufflevector %u, %both [0, 3] : vector<2xbf16>
    %s = llvm.insertelement %one, %t[%i : i32] : vector<2xbf16>
    llvm.store %s, %p : vector<2xbf16>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @computes {
  llvm.func @f(%x: bf16) -> bf16 {
    // expected-error @below {{'llvm.fadd' op has bf16 values, which SPIR-V has no arithmetic for; expected f32 here}}
    %y = llvm.fadd %x, %x : bf16
    llvm.return %y : bf16
  }
}

// Level 5: XeVM ops, everything else in the LLVM dialect, the memref ABI.
//
// RUN: xetile-opt %s --xetile-lower-xegpu-to-xevm="chip=bmg xegpu-op-level=subgroup" | FileCheck %s
// RUN: not xetile-opt %s --xetile-lower-xegpu-to-xevm="chip=rtx" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not xetile-opt %s --xetile-lower-xegpu-to-xevm="xegpu-op-level=thread" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LEVEL

// CHIP: error: unknown chip 'rtx'; known: pvc, bmg, lnl
// LEVEL: Cannot find option named 'thread'

// A prefetch may share the descriptor of a load. Each of the two 16-row halves of A is two 8x16 operands.
// CHECK: gpu.module @device [#xevm.target]
// CHECK: llvm.func spir_kernelcc @step(
// CHECK-SAME: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64
// CHECK-SAME: gpu.kernel
// CHECK-DAG: xevm.blockprefetch2d
// CHECK-DAG: xevm.blockload2d {{.*}} pack_register = true
// CHECK: xevm.mma
// CHECK-NOT: {{ (arith|builtin|cf|gpu|memref|scf|vector|xegpu)\.}}
// CHECK: llvm.return
gpu.module @device {
  gpu.func @step(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %m = gpu.block_id x
    %ta = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<32x32xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<32x16xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<32x16xf32>
    %zero = arith.constant dense<0.0> : vector<32x16xf32>
    xegpu.prefetch_nd %ta[%m, %c0] : !xegpu.tensor_desc<32x32xf16>
    %x = xegpu.load_nd %ta[%m, %c0] : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
    %y = xegpu.load_nd %tb[%c0, %c0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
    %z = xegpu.dpas %x, %y, %zero
        : vector<32x32xf16>, vector<32x16xf16>, vector<32x16xf32> -> vector<32x16xf32>
    xegpu.store_nd %z, %tc[%m, %c0] : vector<32x16xf32>, !xegpu.tensor_desc<32x16xf32>
    gpu.return
  }
}

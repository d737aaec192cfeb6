// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-materialize-offsets))" | FileCheck %s
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-materialize-offsets,xegpu-propagate-layout{layout-kind=lane},xegpu-subgroup-distribute))" \
// RUN:   | FileCheck %s --check-prefix=DISTRIBUTED

!tile = !xegpu.tensor_desc<8x16xf16>
gpu.module @k [#xevm.target<chip = "pvc">] {
  // CHECK-LABEL: gpu.func @mixed
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<32x256xf16>, %[[X:[a-z0-9]+]]: index
  // CHECK: %[[C8:.*]] = arith.constant 8
  // CHECK: xegpu.prefetch_nd %{{.*}}[%[[C8]], %[[X]]]
  // CHECK: %[[C0:.*]] = arith.constant 0
  // CHECK: xegpu.load_nd %{{.*}}[%[[C0]], %[[X]]]
  // CHECK: %[[C16:.*]] = arith.constant 16
  // CHECK: xegpu.store_nd %{{.*}}[%[[X]], %[[C16]]]
  // The value survives upstream's distribution over lanes.
  // DISTRIBUTED-LABEL: gpu.func @mixed
  // DISTRIBUTED-SAME: %[[X:[a-z0-9]+]]: index
  // DISTRIBUTED: xegpu.load_nd %{{.*}}[%{{.*}}, %[[X]]]
  gpu.func @mixed(%a: memref<32x256xf16>, %x: index) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x256xf16> -> !tile
    xegpu.prefetch_nd %t[8, %x] : !tile
    %v = xegpu.load_nd %t[0, %x] : !tile -> vector<8x16xf16>
    %s = xegpu.create_nd_tdesc %a : memref<32x256xf16> -> !tile
    xegpu.store_nd %v, %s[%x, 16] : vector<8x16xf16>, !tile
    gpu.return
  }
  // CHECK-LABEL: gpu.func @uniform
  // CHECK-NOT: arith.constant
  // CHECK: xegpu.load_nd %{{.*}}[0, 16]
  // CHECK: xegpu.store_nd %{{.*}}[%{{.*}}, %{{.*}}]
  gpu.func @uniform(%a: memref<32x256xf16>, %x: index) kernel {
    %t = xegpu.create_nd_tdesc %a : memref<32x256xf16> -> !tile
    %v = xegpu.load_nd %t[0, 16] : !tile -> vector<8x16xf16>
    %s = xegpu.create_nd_tdesc %a : memref<32x256xf16> -> !tile
    xegpu.store_nd %v, %s[%x, %x] : vector<8x16xf16>, !tile
    gpu.return
  }
}

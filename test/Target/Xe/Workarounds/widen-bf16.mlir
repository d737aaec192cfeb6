// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-widen-bf16))" | FileCheck %s

// Each operation rounds, between two others, too. What canonicalization would fold is not marked as foldable.
// CHECK-NOT: fastmath
// CHECK-LABEL: gpu.func @steps
// CHECK: %[[P:.*]] = arith.mulf {{.*}} : vector<8xf32>
// CHECK: %[[R:.*]] = arith.truncf %[[P]] : vector<8xf32> to vector<8xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[R]] : vector<8xbf16> to vector<8xf32>
// CHECK: arith.addf %[[W]], {{.*}} : vector<8xf32>
// CHECK: arith.truncf
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: arith.truncf
// CHECK: arith.cmpf ogt, {{.*}} : vector<8xf32>
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xbf16>
// CHECK: arith.sitofp {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.truncf
// CHECK: vector.reduction <add>, {{.*}} : vector<8xf32> into f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
gpu.module @device {
  gpu.func @steps(%x: vector<8xbf16>, %i: vector<8xi32>) -> (vector<8xbf16>, vector<8xbf16>, bf16) {
    %p = arith.mulf %x, %x : vector<8xbf16>
    %s = arith.addf %p, %x : vector<8xbf16>
    %e = math.exp %s : vector<8xbf16>
    %c = arith.cmpf ogt, %e, %x : vector<8xbf16>
    %t = arith.select %c, %e, %x : vector<8xi1>, vector<8xbf16>
    %f = arith.sitofp %i : vector<8xi32> to vector<8xbf16>
    %r = vector.reduction <add>, %t : vector<8xbf16> into bf16
    gpu.return %t, %f, %r : vector<8xbf16>, vector<8xbf16>, bf16
  }
}

// From f64 through an f32 whose last bit tells that there is a rest; of two roundings only the second counts.
// CHECK-LABEL: gpu.func @f64
// CHECK: %[[NEAR:.*]] = arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAR]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[NEAR]]
// CHECK: arith.cmpf one, %[[BACK]]
// CHECK: %[[ODD:.*]] = arith.addi %[[BITS]]
// CHECK: %[[R:.*]] = arith.bitcast %[[ODD]] : vector<8xi32> to vector<8xf32>
// CHECK: %[[N:.*]] = arith.truncf %[[R]] : vector<8xf32> to vector<8xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[N]] : vector<8xbf16> to vector<8xf32>
// CHECK: arith.extf %[[W]] : vector<8xf32> to vector<8xf64>
gpu.module @wide {
  gpu.func @f64(%x: vector<8xf64>) -> vector<8xf64> {
    %n = arith.truncf %x : vector<8xf64> to vector<8xbf16>
    %w = arith.extf %n : vector<8xbf16> to vector<8xf64>
    gpu.return %w : vector<8xf64>
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xetile-opt %s --pass-pipeline="builtin.module(gpu.module(xetile-approximate-math))" | FileCheck %s

gpu.module @kernels {
  // The rest of the product with log2(e) is kept.
  // CHECK-LABEL: gpu.func @power
  // CHECK-NOT: arith.select
  // CHECK: %[[LOW:.*]] = arith.minimumf %{{.*}}, %{{.*}} : f32
  // CHECK: %[[X:.*]] = arith.maximumf %[[LOW]]
  // CHECK: %[[HIGH:.*]] = arith.mulf %[[X]]
  // CHECK: %[[MINUS:.*]] = arith.negf %[[HIGH]]
  // CHECK: llvm.call_intrinsic "llvm.fma"(%[[X]], %{{.*}}, %[[MINUS]])
  // CHECK: llvm.call_intrinsic "llvm.exp2"(%[[HIGH]])
  // CHECK-NOT: arith.select
  // CHECK: gpu.return
  gpu.func @power(%x: f32, %out: memref<f32>) {
    %y = math.exp %x : f32
    memref.store %y, %out[] : memref<f32>
    gpu.return
  }

  // A power and a quotient that are beside a 1 may be 0.
  // CHECK-LABEL: gpu.func @tanh
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK: %[[PART:.*]] = vector.extract %[[SUM]][0]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[PART]])
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK: copysign
  // CHECK: arith.select
  gpu.func @tanh(%x: vector<2xf32>, %out: memref<vector<2xf32>>) {
    %y = math.tanh %x : vector<2xf32>
    memref.store %y, %out[] : memref<vector<2xf32>>
    gpu.return
  }

  // Of bf16 and f16 the sign comes by itself.
  // CHECK-LABEL: gpu.func @narrow_tanh
  // CHECK: %[[X:.*]] = arith.extf
  // CHECK: llvm.call_intrinsic "llvm.fabs"(%[[X]])
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK-NOT: copysign
  // CHECK: arith.select
  gpu.func @narrow_tanh(%x: f16, %out: memref<f16>) {
    %y = math.tanh %x : f16
    memref.store %y, %out[] : memref<f16>
    gpu.return
  }

  // What is kept as f32, and what may be large, is divided as IEEE 754 says.
  // CHECK-LABEL: gpu.func @quotients
  // CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: vector<2xf32>
  // CHECK: %[[NARROW:.*]] = arith.divf %{{.*}}, %[[A]] fastmath<afn> : f32
  // CHECK: arith.truncf %[[NARROW]]
  // CHECK: arith.divf %{{.*}}, %[[B]] fastmath<afn> : vector<2xf32>
  // CHECK: arith.divf %{{.*}}, %[[A]] : f32
  // CHECK: arith.divf %{{.*}}, %[[A]] : f32
  // CHECK: arith.divf %[[A]], %[[A]] : f32
  gpu.func @quotients(%a: f32, %b: vector<2xf32>, %narrow: memref<4xbf16>, %pair: memref<vector<2xf16>>, %wide: memref<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %ones = arith.constant dense<1.0> : vector<2xf32>
    %0 = arith.divf %one, %a : f32
    %1 = arith.truncf %0 : f32 to bf16
    memref.store %1, %narrow[%c0] : memref<4xbf16>
    %2 = arith.divf %ones, %b : vector<2xf32>
    %3 = arith.truncf %2 : vector<2xf32> to vector<2xf16>
    memref.store %3, %pair[] : memref<vector<2xf16>>
    %6 = arith.divf %two, %a : f32
    %7 = arith.truncf %6 : f32 to bf16
    memref.store %7, %narrow[%c1] : memref<4xbf16>
    %8 = arith.divf %one, %a : f32
    memref.store %8, %wide[] : memref<f32>
    %9 = arith.divf %a, %a : f32
    %10 = arith.truncf %9 : f32 to bf16
    memref.store %10, %narrow[%c2] : memref<4xbf16>
    gpu.return
  }

  // A divisor of 1 and more has a reciprocal that is 0 for nothing but what bf16 may lose; so has
  // no sum with less, nor a difference.
  // CHECK-LABEL: gpu.func @logistic
  // CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
  // CHECK: %[[POWER:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: %[[SUM:.*]] = arith.addf %[[POWER]]
  // CHECK: %[[ONE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[SUM]])
  // CHECK: arith.mulf %[[ONE]]
  // CHECK-COUNT-3: arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
  gpu.func @logistic(%x: f32, %y: f32, %narrow: memref<4xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %e = math.exp %x fastmath<afn> : f32
    %s = arith.addf %e, %one : f32
    %0 = arith.divf %half, %s : f32
    %1 = arith.truncf %0 : f32 to bf16
    memref.store %1, %narrow[%c0] : memref<4xbf16>
    %less = arith.addf %e, %half : f32
    %2 = arith.divf %half, %less : f32
    %3 = arith.truncf %2 : f32 to bf16
    memref.store %3, %narrow[%c1] : memref<4xbf16>
    %any = arith.addf %y, %one : f32
    %4 = arith.divf %half, %any : f32
    %5 = arith.truncf %4 : f32 to bf16
    memref.store %5, %narrow[%c2] : memref<4xbf16>
    %f = math.exp %y : f32
    %difference = arith.subf %f, %one : f32
    %6 = arith.divf %half, %difference : f32
    %7 = arith.truncf %6 : f32 to bf16
    memref.store %7, %narrow[%c3] : memref<4xbf16>
    gpu.return
  }

  // A power may be 0 below 2^-126 if constants are added to it that are large beside that, and
  // nothing else is made of it.
  // CHECK-LABEL: gpu.func @beside
  // CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK-NEXT: arith.addf %[[A]]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  // CHECK: %[[B:.*]] = arith.mulf
  // CHECK-NEXT: arith.addf %[[B]]
  // CHECK: llvm.call_intrinsic "llvm.exp2"
  // CHECK: llvm.call_intrinsic "llvm.exp2"
  // CHECK-NOT: ex2.approx
  // CHECK: gpu.return
  gpu.func @beside(%x: f32, %y: f32, %out: memref<5xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1.0 : f32
    %tiny = arith.constant 1.0e-31 : f32
    %a = math.exp %x fastmath<afn> : f32
    %0 = arith.addf %a, %one : f32
    memref.store %0, %out[%c0] : memref<5xf32>
    %b = math.exp %y : f32
    %1 = arith.addf %one, %b : f32
    memref.store %1, %out[%c1] : memref<5xf32>
    %c = math.exp %x : f32
    %2 = arith.addf %c, %tiny : f32
    memref.store %2, %out[%c2] : memref<5xf32>
    %d = math.exp %y : f32
    %3 = arith.addf %d, %one : f32
    memref.store %3, %out[%c3] : memref<5xf32>
    memref.store %d, %out[%c4] : memref<5xf32>
    gpu.return
  }

  // Where less will do: two products, and no cases.
  // CHECK-LABEL: gpu.func @relaxed
  // CHECK-SAME: %[[X:.*]]: f32, %[[V:.*]]: vector<2xf32>
  // CHECK-NOT: arith.maximumf
  // CHECK: %[[HIGH:.*]] = arith.mulf %[[X]]
  // CHECK-NEXT: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[HIGH]])
  // CHECK-NEXT: arith.mulf %[[ROOT]], %[[ROOT]]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%[[X]], %[[X]])
  // CHECK: %[[PART:.*]] = vector.extract %[[V]][1]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%[[PART]], %{{.*}})
  // CHECK: arith.divf %[[X]], %[[X]] fastmath<fast>
  gpu.func @relaxed(%x: f32, %v: vector<2xf32>, %out: memref<3xf32>, %pair: memref<vector<2xf32>>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %e = math.exp %x fastmath<afn> : f32
    memref.store %e, %out[%c0] : memref<3xf32>
    %q = arith.divf %x, %x fastmath<arcp> : f32
    memref.store %q, %out[%c1] : memref<3xf32>
    %p = arith.divf %v, %v fastmath<arcp> : vector<2xf32>
    memref.store %p, %pair[] : memref<vector<2xf32>>
    %f = arith.divf %x, %x fastmath<fast> : f32
    memref.store %f, %out[%c2] : memref<3xf32>
    gpu.return
  }
}

// RUN: xetile-opt %s --xetile-linalg-to-vector-loops="vector-bits=512" --canonicalize --cse | FileCheck %s

// How many vectors of an elementwise op are computed in turns: one that waits for its own last
// operation wastes the machine's time, and values of many at once do not fit its registers.

#all = affine_map<(n) -> (n)>

// Up to 8 operations: four vectors.
// CHECK-LABEL: func @few
// CHECK: scf.for {{.*}} step %c64
// CHECK-COUNT-4: math.erf {{.*}} : vector<16xf32>
// CHECK: scf.for {{.*}} step %c16
// CHECK: math.erf
// CHECK: return
func.func @few(%a: memref<160xf32>, %c: memref<160xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%a : memref<160xf32>) outs(%c : memref<160xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p = math.erf %x : f32
    linalg.yield %p : f32
  }
  return
}

// A GELU that is rounded before: 9 operations, two values at once.
// CHECK-LABEL: func @narrow_chain
// CHECK: scf.for {{.*}} step %c64
// CHECK-COUNT-4: math.erf {{.*}} : vector<16xf32>
// CHECK: scf.for {{.*}} step %c16
// CHECK: math.erf
// CHECK: return
func.func @narrow_chain(%a: memref<160xf32>, %c: memref<160xbf16>) {
  %root = arith.constant 0.70710678 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%a : memref<160xf32>) outs(%c : memref<160xbf16>) {
  ^bb0(%x: f32, %z: bf16):
    %narrow = arith.truncf %x : f32 to bf16
    %y = arith.extf %narrow : bf16 to f32
    %i = arith.mulf %y, %root : f32
    %e = math.erf %i : f32
    %s = arith.addf %e, %one : f32
    %h = arith.mulf %y, %half : f32
    %g = arith.mulf %h, %s : f32
    %n = arith.negf %g : f32
    %r = arith.truncf %n : f32 to bf16
    linalg.yield %r : bf16
  }
  return
}

// As many operations, but four values at once: a vector at a time.
// CHECK-LABEL: func @wide_chain
// CHECK: scf.for {{.*}} step %c16
// CHECK-COUNT-1: math.erf
// CHECK-NOT: math.erf
// CHECK: return
func.func @wide_chain(%a: memref<160xf32>, %c: memref<160xf32>) {
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%a : memref<160xf32>) outs(%c : memref<160xf32>) {
  ^bb0(%x: f32, %z: f32):
    %p = math.erf %x : f32
    %q = arith.mulf %x, %p : f32
    %r = arith.mulf %x, %q : f32
    %s = arith.mulf %x, %r : f32
    %t = arith.mulf %x, %s : f32
    %u = arith.addf %p, %q : f32
    %v = arith.addf %u, %r : f32
    %w = arith.addf %v, %s : f32
    %y = arith.addf %w, %t : f32
    linalg.yield %y : f32
  }
  return
}

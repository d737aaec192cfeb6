// What xetile-carry-buffers refuses.
// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func(xetile-carry-buffers))' --split-input-file --verify-diagnostics

// carry_buffers_c1
func.func @sizes_of_steps(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%t = %x) -> (memref<?xf32>) {
    // expected-error @below {{a loop carries memory whose sizes its steps decide: expected the same sizes in each step}}
    %y = memref.alloc(%i) : memref<?xf32>
    scf.yield %y : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

// carry_buffers_c2
func.func @sizes_of_branches(%x: memref<?xf32>, %m: memref<1xindex>, %some: i1) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %r = scf.if %some -> (memref<?xf32>) {
    %n = memref.load %m[%c0] : memref<1xindex>
    // expected-error @below {{a branch hands on memory whose sizes it decides: expected sizes that are known before it}}
    %y = memref.alloc(%n) : memref<?xf32>
    scf.yield %y : memref<?xf32>
  } else {
    scf.yield %x : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

// carry_buffers_c3
func.func @endless(%x: memref<?xf32>, %n: index, %some: i1) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %x) -> (memref<?xf32>) {
    // expected-error @below {{a loop carries memory of type 'memref<?xf32>' over several steps: expected static sizes}}
    %y = memref.alloc(%n) : memref<?xf32>
    %next = scf.if %some -> memref<?xf32> {
      scf.yield %y : memref<?xf32>
    } else {
      scf.yield %b : memref<?xf32>
    }
    scf.yield %next : memref<?xf32>
  }
  return %r : memref<?xf32>
}

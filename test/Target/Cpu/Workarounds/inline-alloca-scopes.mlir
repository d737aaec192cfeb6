// RUN: xetile-opt %s --xetile-inline-alloca-scopes | FileCheck %s

func.func private @use(memref<16xf32>)

// CHECK-LABEL: func @nothing_allocated
// CHECK-NOT:     alloca_scope
// CHECK-NOT:     stacksave
// CHECK:         scf.for
// CHECK-NOT:     stackrestore
// CHECK:         return
func.func @nothing_allocated(%a: memref<16xf32>, %n: index, %x: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  memref.alloca_scope {
    scf.for %i = %zero to %n step %one {
      memref.store %x, %a[%i] : memref<16xf32>
    }
    llvm.call_intrinsic "llvm.x86.sse2.mfence"() : () -> ()
  }
  return
}

// CHECK-LABEL: func @scratch
// CHECK:         %[[OUTER:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    %[[SCRATCH:.*]] = memref.alloca
// CHECK-NEXT:    call @use(%[[SCRATCH]])
// CHECK-NEXT:    %[[INNER:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    %[[MORE:.*]] = memref.alloca
// CHECK-NEXT:    %[[X:.*]] = memref.load %[[MORE]]
// CHECK-NEXT:    llvm.intr.stackrestore %[[INNER]]
// CHECK-NEXT:    llvm.intr.stackrestore %[[OUTER]]
// CHECK-NEXT:    return %[[X]]
func.func @scratch(%i: index) -> f32 {
  %result = memref.alloca_scope -> (f32) {
    %scratch = memref.alloca() : memref<16xf32>
    func.call @use(%scratch) : (memref<16xf32>) -> ()
    %inner = memref.alloca_scope -> (f32) {
      %more = memref.alloca() : memref<16xf32>
      %x = memref.load %more[%i] : memref<16xf32>
      memref.alloca_scope.return %x : f32
    }
    memref.alloca_scope.return %inner : f32
  }
  return %result : f32
}

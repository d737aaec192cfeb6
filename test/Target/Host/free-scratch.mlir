// RUN: xetile-opt %s --xetile-free-scratch | FileCheck %s

func.func private @use(memref<4xf32>)

// CHECK-LABEL: func @scratch(
// CHECK: %[[KEPT:.*]] = memref.alloc
// CHECK: %[[SCRATCH:.*]] = memref.alloc
// CHECK: call @use(%[[SCRATCH]])
// CHECK-NOT: memref.dealloc %[[KEPT]]
// CHECK: memref.dealloc %[[SCRATCH]]
// CHECK-NEXT: return %[[KEPT]]
func.func @scratch() -> memref<4xf32> {
  %kept = memref.alloc() : memref<4xf32>
  %scratch = memref.alloc() : memref<4xf32>
  func.call @use(%scratch) : (memref<4xf32>) -> ()
  return %kept : memref<4xf32>
}

// In blocks that come later: freed where the function ends, or kept.
// CHECK-LABEL: func @blocks(
// CHECK: %[[ALL:.*]] = memref.alloc
// CHECK-NEXT: cf.cond_br
// CHECK: ^bb1:
// CHECK-NEXT: %[[OWN:.*]] = memref.alloc
// CHECK-NEXT: %[[LATER:.*]] = memref.alloc
// CHECK-NEXT: call @use(%[[OWN]])
// CHECK-NEXT: memref.dealloc %[[OWN]]
// CHECK-NEXT: cf.br ^bb2
// CHECK: ^bb2:
// CHECK-NEXT: call @use(%[[ALL]])
// CHECK-NEXT: call @use(%[[LATER]])
// CHECK-NEXT: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
// CHECK: ^bb3:
// CHECK-NEXT: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
func.func @blocks(%condition: i1) {
  %all = memref.alloc() : memref<4xf32>
  cf.cond_br %condition, ^first, ^other
^first:
  %own = memref.alloc() : memref<4xf32>
  %later = memref.alloc() : memref<4xf32>
  func.call @use(%own) : (memref<4xf32>) -> ()
  cf.br ^second
^second:
  func.call @use(%all) : (memref<4xf32>) -> ()
  func.call @use(%later) : (memref<4xf32>) -> ()
  return
^other:
  return
}

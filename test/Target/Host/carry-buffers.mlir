// RUN: xetile-opt %s --pass-pipeline='builtin.module(func.func(xetile-carry-buffers))' | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @device {
    // Writes to its second argument.
    gpu.func @k(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<8xf32>
      memref.store %x, %b[%c0] : memref<8xf32>
      gpu.return
    }
    gpu.func @d(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<?xf32>
      memref.store %x, %b[%c0] : memref<?xf32>
      gpu.return
    }
  }

  // The initial value is the function's own: two take turns. What bufferization copied besides is gone.
  // CHECK-LABEL: func.func @swap
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>
  // CHECK: %[[INIT:.*]] = memref.alloc()
  // CHECK-NEXT: memref.copy %[[X]], %[[INIT]]
  // CHECK-NEXT: %[[OTHER:.*]] = memref.alloc()
  // CHECK-NEXT: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[T:.*]] = %[[INIT]], %[[Y:.*]] = %[[OTHER]])
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[T]] : memref<8xf32>, %[[Y]] : memref<8xf32>)
  // CHECK-NEXT: scf.yield %[[Y]], %[[T]]
  // CHECK: return %[[R]]#0
  func.func @swap(%x: memref<8xf32>, %n: index) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = memref.alloc() : memref<8xf32>
    memref.copy %x, %init : memref<8xf32> to memref<8xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %init) -> (memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<8xf32>, %y : memref<8xf32>)
      %copy = memref.alloc() : memref<8xf32>
      memref.copy %y, %copy : memref<8xf32> to memref<8xf32>
      scf.yield %copy : memref<8xf32>
    }
    return %r : memref<8xf32>
  }

  // Somebody reads the initial value behind the loop: three, of which one is never written to.
  // CHECK-LABEL: func.func @initial_value_is_kept
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>, %
  // CHECK: %[[A:.*]] = memref.alloc()
  // CHECK-NEXT: %[[B:.*]] = memref.alloc()
  // CHECK-NEXT: scf.for {{.*}} iter_args(%[[T:.*]] = %[[X]], %[[Y:.*]] = %[[A]], %[[Z:.*]] = %[[B]])
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[T]] : memref<8xf32>, %[[Y]] : memref<8xf32>)
  // CHECK-NEXT: scf.yield %[[Y]], %[[Z]], %[[Y]]
  func.func @initial_value_is_kept(%x: memref<8xf32>, %n: index) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %y : memref<8xf32>
    }
    return %r : memref<8xf32>
  }

  // The step after the next one reads it, too: three of the function's own besides the initial ones.
  // CHECK-LABEL: func.func @previous_step
  // CHECK-COUNT-3: memref.alloc()
  // CHECK: scf.for {{.*}} iter_args(%[[CUR:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
  // CHECK: scf.yield %[[A]], %[[CUR]], %[[B]], %[[C]], %[[A]]
  func.func @previous_step(%x: memref<8xf32>, %n: index) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%cur = %x, %last = %x) -> (memref<8xf32>, memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%last : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %y, %cur : memref<8xf32>, memref<8xf32>
    }
    return %r#0 : memref<8xf32>
  }

  // A step may hand the value on as it is, as often as it likes: it is copied to a place of its own.
  // CHECK-LABEL: func.func @best
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>
  // CHECK: %[[BEST:.*]] = memref.alloc()
  // CHECK-NEXT: memref.copy %[[X]], %[[BEST]]
  // CHECK-NEXT: scf.for {{.*}} iter_args(%[[B:.*]] = %[[BEST]])
  // CHECK: %[[Y:.*]] = memref.alloc()
  // CHECK: %[[NEXT:.*]] = scf.if
  // CHECK: memref.copy %[[NEXT]], %[[BEST]]
  // CHECK-NEXT: scf.yield %[[BEST]]
  func.func @best(%x: memref<8xf32>, %n: index, %some: i1) -> memref<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %x) -> (memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<8xf32>, %y : memref<8xf32>)
      %next = scf.if %some -> memref<8xf32> {
        scf.yield %y : memref<8xf32>
      } else {
        scf.yield %b : memref<8xf32>
      }
      scf.yield %next : memref<8xf32>
    }
    return %r : memref<8xf32>
  }

  // The best, and the one that was it before: that is copied before its memory gets the next.
  // CHECK-LABEL: func.func @best_and_last
  // CHECK: scf.for {{.*}} iter_args(%[[B:[a-z0-9_]+]] = %[[BEST:[a-z0-9_]+]],
  // CHECK: memref.copy %[[B]], %[[OLD:.*]] :
  // CHECK-NEXT: memref.copy %{{.*}}, %[[BEST]]
  // CHECK-NEXT: scf.yield %[[BEST]], %[[OLD]]
  func.func @best_and_last(%x: memref<8xf32>, %n: index, %some: i1) -> (memref<8xf32>, memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%b = %x, %o = %x) -> (memref<8xf32>, memref<8xf32>) {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<8xf32>, %y : memref<8xf32>)
      %next = scf.if %some -> memref<8xf32> {
        scf.yield %y : memref<8xf32>
      } else {
        scf.yield %b : memref<8xf32>
      }
      scf.yield %next, %b : memref<8xf32>, memref<8xf32>
    }
    return %r#0, %r#1 : memref<8xf32>, memref<8xf32>
  }

  // The first region of scf.while computes what the loop carries.
  // CHECK-LABEL: func.func @do_while
  // CHECK-COUNT-2: memref.alloc()
  // CHECK: scf.while (%[[T:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}})
  // CHECK: gpu.launch_func {{.*}} args(%[[T]] : memref<8xf32>, %[[Y]] : memref<8xf32>)
  // CHECK: scf.condition(%{{.*}}) %[[Y]], %[[Y]], %[[Z]]
  // CHECK: ^bb0(%[[U:.*]]: memref<8xf32>, %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
  // CHECK: scf.yield %[[U]], %[[B]], %[[A]]
  func.func @do_while(%x: memref<8xf32>, %some: i1) -> memref<8xf32> {
    %c1 = arith.constant 1 : index
    %r = scf.while (%t = %x) : (memref<8xf32>) -> memref<8xf32> {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<8xf32>, %y : memref<8xf32>)
      scf.condition(%some) %y : memref<8xf32>
    } do {
    ^bb0(%t: memref<8xf32>):
      scf.yield %t : memref<8xf32>
    }
    return %r : memref<8xf32>
  }

  // What ends with its step stays; what a branch hands on is allocated before it.
  // CHECK-LABEL: func.func @within_a_step
  // CHECK: scf.for
  // CHECK-NEXT: memref.alloc() : memref<8xf32>
  // CHECK: %[[H:.*]] = memref.alloc()
  // CHECK-NEXT: scf.if {{.*}} -> (memref<8xf32>) {
  // CHECK-NEXT: gpu.launch_func {{.*}} %[[H]] : memref<8xf32>)
  func.func @within_a_step(%x: memref<8xf32>, %n: index, %some: i1) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %y = memref.alloc() : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
      %z = scf.if %some -> memref<8xf32> {
        %h = memref.alloc() : memref<8xf32>
        gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<8xf32>, %h : memref<8xf32>)
        scf.yield %h : memref<8xf32>
      } else {
        scf.yield %y : memref<8xf32>
      }
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%z : memref<8xf32>, %x : memref<8xf32>)
    }
    return
  }

  // A copy of what is written to behind it stays.
  // CHECK-LABEL: func.func @written_later
  // CHECK: memref.copy
  // CHECK: gpu.launch_func
  func.func @written_later(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %y = memref.alloc() : memref<8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
    %copy = memref.alloc() : memref<8xf32>
    memref.copy %y, %copy : memref<8xf32> to memref<8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%copy : memref<8xf32>, %y : memref<8xf32>)
    return %y, %copy : memref<8xf32>, memref<8xf32>
  }

  // Sizes that no step changes are those of the initial memory: what the loop carries is allocated before it.
  // CHECK-LABEL: func.func @run_time_sizes
  // CHECK: %[[INIT:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK: %[[SIZE:.*]] = memref.dim %[[INIT]], %{{.*}}
  // CHECK: %[[OTHER:.*]] = memref.alloc(%[[SIZE]]) : memref<?xf32>
  // CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[INIT]], %[[Y:.*]] = %[[OTHER]])
  // CHECK-NOT: memref.alloc
  // CHECK: scf.yield %[[Y]], %[[T]]
  func.func @run_time_sizes(%n: index) -> memref<?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %init = memref.alloc(%n) : memref<?xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %init) -> (memref<?xf32>) {
      %d = memref.dim %t, %c0 : memref<?xf32>
      %y = memref.alloc(%d) : memref<?xf32>
      gpu.launch_func @device::@d blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<?xf32>, %y : memref<?xf32>)
      scf.yield %y : memref<?xf32>
    }
    return %r : memref<?xf32>
  }
}

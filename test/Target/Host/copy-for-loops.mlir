// RUN: xetile-opt %s --xetile-copy-for-loops | FileCheck %s

module attributes {gpu.container_module} {
  memref.global "private" constant @table : memref<8xf32> = dense<1.0>
  gpu.module @device {
    // Writes to its second argument.
    gpu.func @k(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<8xf32>
      memref.store %x, %b[%c0] : memref<8xf32>
      gpu.return
    }
  }

  // Weights and constants, before the first launch that takes them: the host reads the caller's.
  // CHECK-LABEL: func.func @weights
  // CHECK-SAME: %[[W:.*]]: memref<8xf32>, %[[N:.*]]: index, %[[OTHER:.*]]: memref<8xf32>
  // CHECK: %[[TABLE:.*]] = memref.get_global @table
  // CHECK: memref.load %[[W]]
  // CHECK: %[[W1:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  // CHECK-NEXT: memref.copy %[[W]], %[[W1]]
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[W1]]
  // CHECK: %[[T1:.*]] = memref.alloc()
  // CHECK-NEXT: memref.copy %[[TABLE]], %[[T1]]
  // CHECK-NEXT: scf.for
  // CHECK: memref.load %[[W]]
  // CHECK: gpu.launch_func {{.*}} args(%[[W1]]
  // CHECK: gpu.launch_func {{.*}} args(%[[T1]]
  // CHECK: gpu.launch_func {{.*}} args(%[[OTHER]]
  func.func @weights(%w: memref<8xf32>, %n: index, %other: memref<8xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %y = memref.alloc() : memref<8xf32>
    %first = memref.load %w[%c0] : memref<8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%w : memref<8xf32>, %y : memref<8xf32>)
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (f32) {
      %x = memref.load %w[%i] : memref<8xf32>
      %table = memref.get_global @table : memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%w : memref<8xf32>, %y : memref<8xf32>)
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %x : f32
    }
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%other : memref<8xf32>, %y : memref<8xf32>)
    return %s : f32
  }

  // A loop's initial value; and a view, of the copy.
  // CHECK-LABEL: func.func @carried
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[V:.*]]: memref<2x4xf32>
  // CHECK: %[[X1:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
  // CHECK-NEXT: memref.copy %[[X]], %[[X1]]
  // CHECK: %[[V1:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x4xf32>
  // CHECK-NEXT: memref.copy %[[V]], %[[V1]]
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[X1]])
  // CHECK-NEXT: %[[FLAT:.*]] = memref.collapse_shape %[[V1]]
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[FLAT]]
  func.func @carried(%x: memref<8xf32>, %v: memref<2x4xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %y = memref.alloc() : memref<8xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (memref<8xf32>) {
      %flat = memref.collapse_shape %v [[0, 1]] : memref<2x4xf32> into memref<8xf32>
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flat : memref<8xf32>, %y : memref<8xf32>)
      scf.yield %t : memref<8xf32>
    }
    return
  }

  // A launch whose grid may be empty is a launch; a view before the loop is one of the copy, behind it.
  // CHECK-LABEL: func.func @guarded
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[V:.*]]: memref<2x4xf32>
  // CHECK-NOT: memref.copy %[[X]]
  // CHECK: scf.if
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[X]]
  // CHECK: %[[V1:.*]] = memref.alloc()
  // CHECK-NEXT: %[[FLAT:.*]] = memref.collapse_shape %[[V1]]
  // CHECK: scf.for
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[FLAT]]
  func.func @guarded(%x: memref<8xf32>, %v: memref<2x4xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %y = memref.alloc() : memref<8xf32>
    %flat = memref.collapse_shape %v [[0, 1]] : memref<2x4xf32> into memref<8xf32>
    %any = arith.cmpi ne, %n, %c0 : index
    scf.if %any {
      gpu.launch_func @device::@k blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
    }
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flat : memref<8xf32>, %y : memref<8xf32>)
    }
    return
  }

  // What loops read is copied to the caller's memory for results at the end.
  // CHECK-LABEL: func.func @returned
  // CHECK: %[[Y:.*]] = memref.alloc() : memref<8xf32>
  // CHECK: scf.for
  // CHECK: %[[OUT:.*]] = memref.alloc()
  // CHECK-NEXT: memref.copy %[[Y]], %[[OUT]]
  // CHECK-NEXT: return %[[OUT]], %{{.*}} : memref<8xf32>, memref<8xf32>
  func.func @returned(%n: index) -> (memref<8xf32>, memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %y = memref.alloc() : memref<8xf32>
    %z = memref.alloc() : memref<8xf32>
    %h = memref.alloc() : memref<8xf32>
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<8xf32>, %z : memref<8xf32>)
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<8xf32>, %h : memref<8xf32>)
    }
    return %y, %z : memref<8xf32>, memref<8xf32>
  }

  // Without loops, and where it may be written to, memory stays.
  // CHECK-LABEL: func.func @straight
  // CHECK-NOT: memref.copy
  // CHECK: return
  func.func @straight(%x: memref<8xf32>, %y: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>)
    return
  }
  // CHECK-LABEL: func.func @written
  // CHECK-SAME: %[[X:.*]]: memref<8xf32>
  // CHECK-NOT: memref.copy
  // CHECK: return
  func.func @written(%x: memref<8xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @device::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %x : memref<8xf32>)
    }
    return
  }
}

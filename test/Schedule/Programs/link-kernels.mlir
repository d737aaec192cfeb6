// Nested modules' functions take the place of declarations; kernels go to one gpu.module, with names that differ, and
// keep what their functions say of tilings and images.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: module attributes {gpu.container_module
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.link_kernels %root : !transform.any_op
    transform.yield
  }
  // CHECK: func.func @f(
  func.func @f(%x: memref<8xf32>) {
    call @first(%x) : (memref<8xf32>) -> ()
    call @second(%x) : (memref<8xf32>) -> ()
    return
  }
  func.func private @first(memref<8xf32>)
  func.func private @second(memref<8xf32>)
  // CHECK-NOT: module attributes {xetile.schedule
  // CHECK: memref.global "private" constant @table : memref<2xf32> = dense<1.0
  // CHECK: func.func private @first
  // CHECK: memref.get_global @table : memref<2xf32>
  // CHECK: gpu.launch_func @one::@kernel
  // CHECK: gpu.module @one
  // CHECK: gpu.func @kernel({{.*}}) kernel attributes {xetile.tiling = {k_step = 32 : i64}, xetile.window = {axes = array<i64>
  // CHECK: gpu.func @[[OTHER:kernel_[0-9]+]]({{.*}}) kernel {
  // CHECK: memref.global "private" constant @[[TABLE:table_[0-9]+]] : memref<2xf32> = dense<2.0
  // CHECK: func.func private @second
  // CHECK: memref.get_global @[[TABLE]]
  // CHECK: gpu.launch_func @one::@[[OTHER]]
  module attributes {xetile.schedule = "rows", gpu.container_module} {
    memref.global "private" constant @table : memref<2xf32> = dense<1.0>
    func.func @first(%x: memref<8xf32>) attributes {xetile.tiling = {k_step = 32 : i64}, xetile.window = {axes = array<i64>, batches = array<i64>, k = array<i64: 8, 1, -1, 1>, operand = 0 : i64, pixels = array<i64: 1, 8, -1, 1>}} {
      %c1 = arith.constant 1 : index
      %t = memref.get_global @table : memref<2xf32>
      gpu.launch_func @one::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %t : memref<2xf32>)
      return
    }
    gpu.module @one {
      gpu.func @kernel(%x: memref<8xf32>, %t: memref<2xf32>) kernel {
        gpu.return
      }
    }
  }
  module attributes {xetile.schedule = "rows", gpu.container_module} {
    memref.global "private" constant @table : memref<2xf32> = dense<2.0>
    func.func @second(%x: memref<8xf32>) {
      %c1 = arith.constant 1 : index
      %t = memref.get_global @table : memref<2xf32>
      gpu.launch_func @one::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>, %t : memref<2xf32>)
      return
    }
    gpu.module @one {
      gpu.func @kernel(%x: memref<8xf32>, %t: memref<2xf32>) kernel {
        gpu.return
      }
    }
  }
}

// -----

// link_kernels_c1
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // expected-note @below {{required by this step of the schedule}}
    transform.xetile.link_kernels %root : !transform.any_op
    transform.yield
  }
  func.func private @first(memref<16xf32>)
  module attributes {xetile.schedule = "rows"} {
    // expected-error @below {{expected a declaration of @first with this type in the program}}
    func.func @first(%x: memref<8xf32>) {
      return
    }
  }
}

// RUN: xetile-opt %s --split-input-file --xetile-copy-launch-operands | FileCheck %s

// A and B are read (and prefetched), C is written: all are copied in, C is copied back.
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @gemm(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %ta = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16>
      %base = memref.extract_aligned_pointer_as_index %b : memref<64x64xf16> -> index
      %address = arith.index_cast %base : index to i64
      %tb = xegpu.create_nd_tdesc %address, shape: [64, 64], strides: [64, 1]
          : i64 -> !xegpu.tensor_desc<16x16xf16>
      %tc = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
      xegpu.prefetch_nd %ta[%c0, %c0] : !xegpu.tensor_desc<8x16xf16>
      %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %tb) -> (!xegpu.tensor_desc<16x16xf16>) {
        %vb = xegpu.load_nd %t[%c0, %c0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
        scf.yield %t : !xegpu.tensor_desc<16x16xf16>
      }
      %zero = arith.constant dense<0.0> : vector<8x16xf32>
      xegpu.store_nd %zero, %tc[%c0, %c0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @read_and_written
  // CHECK-SAME: (%[[A:.*]]: memref<64x64xf16>, %[[B:.*]]: memref<64x64xf16>, %[[C:.*]]: memref<64x64xf32>)
  // CHECK: %[[DA:.*]] = gpu.alloc () : memref<64x64xf16>
  // CHECK-NEXT: gpu.memcpy %[[DA]], %[[A]]
  // CHECK: %[[DB:.*]] = gpu.alloc () : memref<64x64xf16>
  // CHECK-NEXT: gpu.memcpy %[[DB]], %[[B]]
  // CHECK: %[[DC:.*]] = gpu.alloc () : memref<64x64xf32>
  // CHECK-NEXT: gpu.memcpy %[[DC]], %[[C]]
  // CHECK: gpu.launch_func {{.*}} args(%[[DA]] : {{.*}}, %[[DB]] : {{.*}}, %[[DC]] : {{.*}})
  // CHECK-NEXT: gpu.memcpy %[[C]], %[[DC]]
  // CHECK-NEXT: gpu.dealloc %[[DA]]
  // CHECK-NEXT: gpu.dealloc %[[DB]]
  // CHECK-NEXT: gpu.dealloc %[[DC]]
  // CHECK-NEXT: return
  func.func @read_and_written(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %b : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }

  // Launches with nothing of the host's between them share copies; A is copied in once, C out once.
  // CHECK-LABEL: func.func @run
  // CHECK-SAME: (%[[A:.*]]: memref<64x64xf16>, %[[C:.*]]: memref<64x64xf32>)
  // CHECK-DAG: gpu.memcpy %[[DA:.*]], %[[A]]
  // CHECK-DAG: gpu.memcpy %[[DC:.*]], %[[C]]
  // CHECK: gpu.launch_func {{.*}} args(%[[DA]] : {{.*}}, %[[DA]] : {{.*}}, %[[DC]] : {{.*}})
  // CHECK-NOT: gpu.memcpy
  // CHECK: gpu.launch_func {{.*}} args(%[[DA]] : {{.*}}, %[[DA]] : {{.*}}, %[[DC]] : {{.*}})
  // CHECK-NEXT: gpu.memcpy %[[C]], %[[DC]]
  // CHECK-NOT: gpu.memcpy
  // CHECK: return
  func.func @run(%a: memref<64x64xf16>, %c: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    %c2 = arith.constant 2 : index
    gpu.launch_func @device::@gemm blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }

  // What the host writes between two launches, the second reads.
  // CHECK-LABEL: func.func @host_between
  // CHECK: gpu.launch_func
  // CHECK: gpu.memcpy %{{.*}}, %{{.*}} : memref<64x64xf32>
  // CHECK: memref.store
  // CHECK: gpu.memcpy
  // CHECK: gpu.launch_func
  func.func @host_between(%a: memref<64x64xf16>, %c: memref<64x64xf32>, %x: f16) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    memref.store %x, %a[%c1, %c1] : memref<64x64xf16>
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }

  // Memory that is made between two launches is not there before the first.
  // CHECK-LABEL: func.func @made_between
  // CHECK: gpu.launch_func
  // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast
  // CHECK: gpu.memcpy %{{.*}}, %[[VIEW]]
  // CHECK: gpu.launch_func
  func.func @made_between(%a: memref<64x64xf16>, %b: memref<4096xf16>, %c: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    %v = memref.reinterpret_cast %b to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf16> to memref<64x64xf16>
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%v : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @device_memory
  // CHECK-NOT: gpu.memcpy
  func.func @device_memory() {
    %c1 = arith.constant 1 : index
    %a = gpu.alloc () : memref<64x64xf16>
    %c = gpu.alloc host_shared () : memref<64x64xf32>
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }

  // CHECK-LABEL: func.func @same_buffer_twice
  // CHECK: %[[D:.*]] = gpu.alloc
  // CHECK: gpu.launch_func {{.*}} args(%[[D]] : {{.*}}, %[[D]] : {{.*}}, %
  // CHECK: gpu.memcpy
  // CHECK-NOT: gpu.memcpy
  func.func @same_buffer_twice(%a: memref<64x64xf16>, %c: memref<64x64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@gemm blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<64x64xf16>, %a : memref<64x64xf16>, %c : memref<64x64xf32>)
    return
  }
}

// -----

// What a kernel calls, or one that is lowered already, may do anything.
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @unknown(%a: memref<?x4xf32, strided<[?, ?], offset: ?>>) kernel {
      func.call @somewhere(%a) : (memref<?x4xf32, strided<[?, ?], offset: ?>>) -> ()
      gpu.return
    }
    func.func private @somewhere(memref<?x4xf32, strided<[?, ?], offset: ?>>)
  }
  // From the base pointer to the last element, whatever the strides are.
  // CHECK-LABEL: func.func @strided
  // CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
  // CHECK: arith.muli %{{.*}}, %[[STRIDES]]#0
  // CHECK: arith.muli %{{.*}}, %[[STRIDES]]#1
  // CHECK: %[[COUNT:.*]] = arith.select
  // CHECK: %[[HOST:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[COUNT]]], strides: [1]
  // CHECK: %[[D:.*]] = gpu.alloc (%[[COUNT]]) : memref<?xf32>
  // CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[D]] to offset: [%[[OFFSET]]], sizes: [%[[SIZES]]#0, 4],
  // CHECK: gpu.memcpy %[[D]], %[[HOST]]
  // CHECK: gpu.launch_func {{.*}} args(%[[VIEW]] :
  // CHECK: gpu.memcpy %[[HOST]], %[[D]]
  func.func @strided(%a: memref<?x4xf32, strided<[?, ?], offset: ?>>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    return
  }

  // Dynamic sizes without strides need no flat view; the view of the part is made again on the device.
  // CHECK-LABEL: func.func @dynamic
  // CHECK: %[[ROWS:.*]] = memref.dim %[[M:.*]], %
  // CHECK: %[[D:.*]] = gpu.alloc (%[[ROWS]]) : memref<?x4xf32>
  // CHECK: gpu.memcpy %[[D]], %[[M]] : memref<?x4xf32>, memref<?x4xf32>
  // CHECK: %[[PART:.*]] = memref.subview %[[D]][2, 0]
  // CHECK: %[[CAST:.*]] = memref.cast %[[PART]]
  // CHECK: gpu.launch_func {{.*}} args(%[[CAST]] :
  func.func @dynamic(%m: memref<?x4xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %part = memref.subview %m[2, 0] [%n, 4] [1, 1]
        : memref<?x4xf32> to memref<?x4xf32, strided<[4, 1], offset: 8>>
    %a = memref.cast %part : memref<?x4xf32, strided<[4, 1], offset: 8>>
        to memref<?x4xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    return
  }

  // Memory for a result is copied back only, through views, too; the mark goes.
  // CHECK-LABEL: func.func @result
  // CHECK-SAME: (%[[A:.*]]: memref<8x4xf32>, %[[R:.*]]: memref<8x4xf32>) {
  // CHECK: %[[DR:.*]] = gpu.alloc () : memref<8x4xf32>
  // CHECK-NEXT: %[[DA:.*]] = gpu.alloc () : memref<8x4xf32>
  // CHECK-NEXT: gpu.memcpy %[[DA]], %[[A]]
  // CHECK-NOT: gpu.memcpy
  // CHECK: gpu.launch_func
  // CHECK: gpu.launch_func
  // CHECK: gpu.memcpy %[[R]], %[[DR]]
  // CHECK: gpu.memcpy %[[A]], %[[DA]]
  func.func @result(%a: memref<8x4xf32>, %r: memref<8x4xf32> {xetile.result}) {
    %c1 = arith.constant 1 : index
    %rs = memref.cast %r : memref<8x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
    %as = memref.cast %a : memref<8x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%rs : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%as : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    return
  }

  // Contents that the host wrote, or a launch before, are there: what was copied before runs, and in loops.
  // CHECK-LABEL: func.func @results_with_contents
  // CHECK-SAME: (%{{.*}}: memref<8x4xf32>, %[[R:.*]]: memref<8x4xf32>, %[[S:.*]]: memref<8x4xf32>, %[[T:.*]]: memref<8x4xf32>)
  // CHECK: memref.copy
  // CHECK: gpu.memcpy %{{.*}}, %[[R]]
  // CHECK: gpu.launch_func
  // CHECK: memref.store
  // CHECK: gpu.memcpy %{{.*}}, %[[S]]
  // CHECK: gpu.launch_func
  // CHECK: scf.for
  // CHECK: gpu.memcpy %{{.*}}, %[[T]]
  // CHECK: gpu.launch_func
  func.func @results_with_contents(%a: memref<8x4xf32>, %r: memref<8x4xf32> {xetile.result},
                                   %s: memref<8x4xf32> {xetile.result}, %t: memref<8x4xf32> {xetile.result}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    memref.copy %a, %r : memref<8x4xf32> to memref<8x4xf32>
    %rs = memref.cast %r : memref<8x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%rs : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    %part = memref.subview %s[0, 0] [1, 1] [1, 1] : memref<8x4xf32> to memref<1x1xf32, strided<[4, 1]>>
    memref.store %zero, %part[%c0, %c0] : memref<1x1xf32, strided<[4, 1]>>
    %ss = memref.cast %s : memref<8x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
    gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%ss : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    %ts = memref.cast %t : memref<8x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
    scf.for %i = %c0 to %c1 step %c1 {
      gpu.launch_func @device::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
          args(%ts : memref<?x4xf32, strided<[?, ?], offset: ?>>)
    }
    return
  }
}

// -----

// An argument in the device's memory is there: launches take it, copies to and from it are the device's.
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @copy(%a: memref<8xf32>, %b: memref<8xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : memref<8xf32>
      memref.store %v, %b[%c0] : memref<8xf32>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @call(
  // CHECK-SAME: %[[W:.*]]: memref<2x4xf32>, %[[C:.*]]: memref<8xf32>
  // CHECK-NOT: xetile.on_device
  // CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[W]]
  // CHECK: %[[DC:.*]] = gpu.alloc
  // CHECK-NEXT: gpu.launch_func {{.*}} args(%[[FLAT]] : memref<8xf32>, %[[DC]] : memref<8xf32>)
  // CHECK-NEXT: gpu.memcpy %[[C]], %[[DC]]
  func.func @call(%w: memref<2x4xf32> {xetile.on_device}, %c: memref<8xf32> {xetile.result}) {
    %c1 = arith.constant 1 : index
    %flat = memref.collapse_shape %w [[0, 1]] : memref<2x4xf32> into memref<8xf32>
    gpu.launch_func @device::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%flat : memref<8xf32>, %c : memref<8xf32>)
    return
  }
  // CHECK-LABEL: func.func @freeze(
  // CHECK-SAME: %[[W:.*]]: memref<8xf32>, %[[D:.*]]: memref<8xf32>
  // CHECK-NEXT: gpu.memcpy %[[D]], %[[W]]
  // CHECK-NEXT: return
  func.func @freeze(%w: memref<8xf32>, %d: memref<8xf32> {xetile.on_device, xetile.result}) {
    memref.copy %w, %d : memref<8xf32> to memref<8xf32>
    return
  }
}

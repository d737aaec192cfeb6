// RUN: xetile-opt %s --allow-unregistered-dialect --xetile-share-scratch | FileCheck %s

// %a and %c do not live at the same time, %b is used with both; %d has its size from the run.
// CHECK-LABEL: func @chain
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4608xi8>
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[A:.*]] = memref.view %[[ALL]][%[[ZERO]]][] : memref<4608xi8> to memref<1000xf32>
// CHECK: %[[END:.*]] = arith.constant 4032 : index
// CHECK: %[[B:.*]] = memref.view %[[ALL]][%[[END]]][] : memref<4608xi8> to memref<72xf64>
// CHECK: %[[AGAIN:.*]] = arith.constant 0 : index
// CHECK: %[[C:.*]] = memref.view %[[ALL]][%[[AGAIN]]][] : memref<4608xi8> to memref<1000xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: "test.use"(%[[A]])
// CHECK: "test.use"(%[[A]], %[[B]])
// CHECK: scf.for
// CHECK: "test.use"(%[[B]], %[[C]])
// CHECK-NOT: dealloc
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NEXT: memref.dealloc %{{.*}} : memref<?xf32>
// CHECK-NEXT: return
func.func @chain(%n: index) {
  %a = memref.alloc() : memref<1000xf32>
  %b = memref.alloc() : memref<72xf64>
  %c = memref.alloc() : memref<1000xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  "test.use"(%a) : (memref<1000xf32>) -> ()
  "test.use"(%a, %b) : (memref<1000xf32>, memref<72xf64>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%b, %c) : (memref<72xf64>, memref<1000xf32>) -> ()
  }
  memref.dealloc %a : memref<1000xf32>
  memref.dealloc %b : memref<72xf64>
  memref.dealloc %c : memref<1000xf32>
  memref.dealloc %d : memref<?xf32>
  return
}

// Buffers end at different places: what they share ends with the last of them.
// CHECK-LABEL: func @ends_apart
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32xi8>
// CHECK: %[[A:.*]] = memref.view %[[ALL]]
// CHECK: "test.use"(%[[A]])
// CHECK-NOT: dealloc
// CHECK: %[[B:.*]] = memref.view %[[ALL]]
// CHECK: "test.use"(%[[B]])
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NOT: dealloc
// CHECK: return
func.func @ends_apart() {
  %a = memref.alloc() : memref<8xf32>
  "test.use"(%a) : (memref<8xf32>) -> ()
  memref.dealloc %a : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  "test.use"(%b) : (memref<8xf32>) -> ()
  memref.dealloc %b : memref<8xf32>
  return
}

// A view keeps its memory alive; what is returned is not scratch.
// CHECK-LABEL: func @views
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<96xi8>
// CHECK: memref.alloc() : memref<8xf32>
func.func @views() -> memref<8xf32> {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %r = memref.alloc() : memref<8xf32>
  %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32>
  "test.use"(%b) : (memref<8xf32>) -> ()
  "test.use"(%v, %r) : (memref<4xf32>, memref<8xf32>) -> ()
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return %r : memref<8xf32>
}

// Nothing to share.
// CHECK-LABEL: func @one
// CHECK: memref.alloc() : memref<8xf32>
func.func @one() {
  %a = memref.alloc() : memref<8xf32>
  "test.use"(%a) : (memref<8xf32>) -> ()
  memref.dealloc %a : memref<8xf32>
  return
}

// One op reads a buffer and writes the next: the last use of one is the first of the other, and they are not the same bytes,
// whichever is larger. The first and the third are.
// CHECK-LABEL: func @handed_on
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<96xi8>
// CHECK: %[[BEHIND:.*]] = arith.constant 64 : index
// CHECK: memref.view %[[ALL]][%[[BEHIND]]][] : memref<96xi8> to memref<8xf32>
// CHECK: %[[FRONT:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ALL]][%[[FRONT]]][] : memref<96xi8> to memref<16xf32>
// CHECK: %[[BEHIND:.*]] = arith.constant 64 : index
// CHECK: memref.view %[[ALL]][%[[BEHIND]]][] : memref<96xi8> to memref<8xf32>
func.func @handed_on() {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<8xf32>
  "test.make"(%a) : (memref<8xf32>) -> ()
  "test.copy"(%a, %b) : (memref<8xf32>, memref<16xf32>) -> ()
  "test.copy"(%b, %c) : (memref<16xf32>, memref<8xf32>) -> ()
  "test.use"(%c) : (memref<8xf32>) -> ()
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<16xf32>
  memref.dealloc %c : memref<8xf32>
  return
}

// Memory of the device is another allocation, and shares only with its own. A launch is the last use of %h and the first
// of %g; copies count as uses.
// CHECK-LABEL: func @on_the_device
// CHECK: %[[ALL:.*]] = gpu.alloc () : memref<4352xi8>
// CHECK: %[[H:.*]] = memref.view %[[ALL]]
// CHECK: %[[G:.*]] = memref.view %[[ALL]]
// CHECK: %[[F:.*]] = memref.view %[[ALL]]
// CHECK: %[[HOST:.*]] = memref.alloc() : memref<16x16xf32>
// CHECK: gpu.memcpy %[[H]], %{{.*}}
// CHECK: "test.launch"(%[[H]], %[[G]])
// CHECK: "test.launch"(%[[G]], %[[F]])
// CHECK-NOT: gpu.dealloc
// CHECK: gpu.memcpy %{{.*}}, %[[F]]
// CHECK: gpu.dealloc %[[ALL]] : memref<4352xi8>
// CHECK-NOT: gpu.dealloc
// CHECK: memref.dealloc %[[HOST]]
func.func @on_the_device(%x: memref<32x32xf32>) {
  %h = gpu.alloc () : memref<32x32xf32>
  %g = gpu.alloc () : memref<16x4xf32>
  %f = gpu.alloc () : memref<32x32xf32>
  %host = memref.alloc() : memref<16x16xf32>
  gpu.memcpy %h, %x : memref<32x32xf32>, memref<32x32xf32>
  "test.launch"(%h, %g) : (memref<32x32xf32>, memref<16x4xf32>) -> ()
  gpu.dealloc %h : memref<32x32xf32>
  "test.launch"(%g, %f) : (memref<16x4xf32>, memref<32x32xf32>) -> ()
  gpu.memcpy %x, %f : memref<32x32xf32>, memref<32x32xf32>
  "test.use"(%host) : (memref<16x16xf32>) -> ()
  gpu.dealloc %f : memref<32x32xf32>
  gpu.dealloc %g : memref<16x4xf32>
  memref.dealloc %host : memref<16x16xf32>
  return
}

// What waits for a token may still run; the host sees what it shares; a device gives 128 MiB at once.
// CHECK-LABEL: func @on_the_device_alone
// CHECK: gpu.alloc async
// CHECK: gpu.alloc host_shared () : memref<64xf32>
// CHECK: gpu.alloc () : memref<16777217xf32>
// CHECK: gpu.alloc () : memref<16777217xf32>
// CHECK-NOT: memref.view
// CHECK: return
func.func @on_the_device_alone() {
  %token = gpu.wait async
  %a, %t = gpu.alloc async [%token] () : memref<64xf32>
  %b = gpu.alloc host_shared () : memref<64xf32>
  %c = gpu.alloc () : memref<16777217xf32>
  %d = gpu.alloc () : memref<16777217xf32>
  "test.launch"(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  "test.launch"(%c, %d) : (memref<16777217xf32>, memref<16777217xf32>) -> ()
  gpu.dealloc %b : memref<64xf32>
  %u = gpu.dealloc async [%t] %a : memref<64xf32>
  gpu.wait [%u]
  gpu.dealloc %c : memref<16777217xf32>
  gpu.dealloc %d : memref<16777217xf32>
  return
}

// CHECK-LABEL: func @freed_behind_a_token
// CHECK-COUNT-2: gpu.alloc () : memref<64xf32>
// CHECK-NOT: memref.view
// CHECK: return
func.func @freed_behind_a_token(%token: !gpu.async.token) {
  %a = gpu.alloc () : memref<64xf32>
  %b = gpu.alloc () : memref<64xf32>
  "test.launch"(%a, %b) : (memref<64xf32>, memref<64xf32>) -> ()
  %t = gpu.dealloc async [%token] %a : memref<64xf32>
  gpu.dealloc %b : memref<64xf32>
  return
}

// No memory is that large; its bytes are no number of 64 bits.
// CHECK-LABEL: func @of_nobody
// CHECK-COUNT-2: memref.alloc() : memref<2305843009213693952xf64>
// CHECK-NOT: memref.view
// CHECK: return
func.func @of_nobody() {
  %a = memref.alloc() : memref<2305843009213693952xf64>
  %b = memref.alloc() : memref<2305843009213693952xf64>
  "test.use"(%a, %b) : (memref<2305843009213693952xf64>, memref<2305843009213693952xf64>) -> ()
  memref.dealloc %a : memref<2305843009213693952xf64>
  memref.dealloc %b : memref<2305843009213693952xf64>
  return
}

// What descriptors of memory a caller may pass is computed by a function beside the one that is called.
// RUN: xetile-opt %s --split-input-file --xetile-check-memory | FileCheck %s

// CHECK-LABEL: func @static(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>) {
// CHECK-LABEL: func @static_check_memory(
// CHECK-SAME: memref<?xf32, strided<[?], offset: ?>>, %{{.*}}: memref<?xf32, strided<[?], offset: ?>>) -> (i64, i64, i64)
// CHECK-SAME: ["argument 0, dimension 0", "==", "8", "its type"]
// CHECK-SAME: ["argument 0, offset", "==", "0", "elements start at the aligned address"]
// CHECK-SAME: ["argument 0, stride of dimension 0", "==", "product of later dimensions", "arrays are in C order"]
// CHECK-SAME: ["result 0, dimension 0", "==", "8", "its type"]
// CHECK-SAME: ["result 0", "apart from", "argument 0", "results share no memory"]
func.func @static(%a: memref<8xf32>, %r: memref<8xf32> {xetile.result}) {
  memref.copy %a, %r : memref<8xf32> to memref<8xf32>
  return
}

// -----

// Sizes that the run knows are not compared with anything here; arguments may share memory.
// CHECK-LABEL: func @dynamic_check_memory(
// CHECK-NOT: argument 0, dimension 0"
// CHECK-NOT: apart from
// CHECK: return
func.func @dynamic(%a: memref<?xf32>, %b: memref<?xf32>) {
  return
}

// -----

// What is written is apart from what comes before it and behind it.
// CHECK-LABEL: func @written(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>) {
// CHECK-LABEL: func @written_check_memory(
// CHECK-SAME: ["argument 1", "apart from", "argument 0", "results share no memory"]
// CHECK-SAME: ["argument 2", "apart from", "argument 1", "results share no memory"]
// CHECK-NOT: ["argument 2", "apart from", "argument 0"
// CHECK: return
func.func @written(%a: memref<8xf32>, %b: memref<8xf32> {xetile.written}, %c: memref<8xf32>) {
  return
}

// -----

// Bits are bytes in memory.
// CHECK-LABEL: func @bits_check_memory(%{{.*}}: memref<?xi8, strided<[?], offset: ?>>)
func.func @bits(%a: memref<4xi1>) {
  return
}

// -----

// A bit has a byte of its own: the end of four of them is four bytes behind the first, that of six numbers of 12 bits
// twelve.
// CHECK-LABEL: func @narrow_check_memory(
// CHECK: arith.constant 1 : index
// CHECK: %[[BITS:.*]] = memref.extract_aligned_pointer_as_index %arg0
// CHECK: %[[BYTE:.*]] = arith.constant 1 : index
// CHECK: %[[LENGTH:.*]] = arith.muli %{{.*}}, %[[BYTE]]
// CHECK: arith.addi %[[BITS]], %[[LENGTH]]
// CHECK: %[[ODD:.*]] = memref.extract_aligned_pointer_as_index %arg1
// CHECK: %[[BYTES:.*]] = arith.constant 2 : index
// CHECK: %[[ALL:.*]] = arith.muli %{{.*}}, %[[BYTES]]
// CHECK: arith.addi %[[ODD]], %[[ALL]]
func.func @narrow(%a: memref<4xi1> {xetile.result}, %b: memref<6xi12> {xetile.result}) {
  return
}

// -----

// Not ours to check.
// CHECK-LABEL: func @numbers(
// CHECK-NOT: func @
// CHECK-LABEL: func @layout(
// CHECK-NOT: func @
// CHECK-LABEL: func private @helper(
// CHECK-NOT: func @
func.func @numbers(%a: memref<4xf32>, %s: f32) {
  return
}
func.func @layout(%a: memref<4x4xf32, strided<[8, 1]>>) {
  return
}
func.func private @helper(%a: memref<4xf32>) {
  return
}

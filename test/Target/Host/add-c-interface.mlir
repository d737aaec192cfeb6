// C interfaces of public functions; results of dynamic sizes stay where they are.
// RUN: xetile-opt %s --xetile-results-to-arguments="where-static" --xetile-add-c-interface | FileCheck %s

// CHECK: func private @elsewhere(memref<4xf32>){{$}}
func.func private @elsewhere(memref<4xf32>)

// CHECK: func private @helper(%{{.*}}: memref<4xf32>) {
func.func private @helper(%a: memref<4xf32>) {
  func.call @elsewhere(%a) : (memref<4xf32>) -> ()
  return
}

// CHECK: func @static(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) attributes {llvm.emit_c_interface} {
func.func @static(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}

// CHECK: func @dynamic(%{{.*}}: memref<?xf32>, %{{.*}}: memref<4xf32>) -> (memref<4xf32>, memref<?xf32>) attributes {llvm.emit_c_interface} {
func.func @dynamic(%a: memref<?xf32>, %b: memref<4xf32>) -> (memref<4xf32>, memref<?xf32>) {
  return %b, %a : memref<4xf32>, memref<?xf32>
}

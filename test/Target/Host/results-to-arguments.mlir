// Results in memory that the caller passes; `where-static` leaves functions alone that give memory of sizes of the run.
// RUN: split-file %s %t
// RUN: xetile-opt %t/static.mlir --xetile-results-to-arguments | FileCheck %s
// RUN: xetile-opt %t/dynamic.mlir --xetile-results-to-arguments="where-static" | FileCheck %s --check-prefix=OWN
// RUN: not xetile-opt %t/dynamic.mlir --xetile-results-to-arguments 2>&1 | FileCheck %s --check-prefix=SIZES

//--- static.mlir
// CHECK-LABEL: func @f(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[R:.*]]: memref<4xf32>) {
// CHECK-NOT: memref.alloc
// CHECK: linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// CHECK: return{{$}}
func.func @f(%a: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return %r : memref<4xf32>
}

//--- dynamic.mlir
// OWN: func @f(%{{.*}}: memref<4xf32>, %{{.*}}: index) -> (memref<4xf32>, memref<?xf32>)
// SIZES: error: 'func.func' op result 1 is 'memref<?xf32>': expected static sizes in C order, as the caller passes its memory
func.func @f(%a: memref<4xf32>, %n: index) -> (memref<4xf32>, memref<?xf32>) {
  %r = memref.alloc() : memref<4xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
  return %r, %d : memref<4xf32>, memref<?xf32>
}

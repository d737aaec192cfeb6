// RUN: xetile-opt %s --xetile-results-to-arguments=mark-results | FileCheck %s
// RUN: xetile-opt %s --xetile-results-to-arguments | FileCheck %s --check-prefix=PLAIN

// Arguments that take results are marked for xetile-copy-launch-operands, no others.
// CHECK: func.func @f(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32> {xetile.result}, %{{.*}}: memref<2xf32> {xetile.result})
// PLAIN-NOT: xetile.result
func.func @f(%a: memref<4xf32>) -> (memref<4xf32>, memref<2xf32>) {
  %b = memref.alloc() : memref<2xf32>
  return %a, %b : memref<4xf32>, memref<2xf32>
}

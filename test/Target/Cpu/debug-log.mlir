// XETILE_DEBUG names passes that tell what they decide, as -debug-only of builds of LLVM with that option.
// RUN: env XETILE_DEBUG=deep-tile-matmul,xetile-fuse-rows xetile-opt %s --deep-tile-matmul="threads=1" --xetile-fuse-rows -o /dev/null 2>&1 | FileCheck %s
// RUN: env XETILE_DEBUG=xetile-fuse-rows xetile-opt %s --deep-tile-matmul="threads=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty

// CHECK: [deep-tile-matmul {{.*}}DecideConfig.cpp:{{.*}} linalg.matmul {{.*}}: {"MThreads": 1,
// CHECK: [xetile-fuse-rows {{.*}}FuseRows.cpp:{{.*}} linalg.exp {{.*}}: no op before it could share its rows
// NONE-NOT: deep-tile-matmul
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = linalg.exp ins(%b : tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
}

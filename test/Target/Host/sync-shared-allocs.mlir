// RUN: xetile-opt %s --pass-pipeline="builtin.module(func.func(gpu-async-region,xetile-sync-shared-allocs))" \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @allocs
// CHECK: %[[START:.*]] = gpu.wait async
// CHECK: %[[SHARED:.*]] = gpu.alloc host_shared (%{{.*}}) : memref<?xf32>
// CHECK: %[[OWN:.*]], %[[NEXT:.*]] = gpu.alloc async [%[[START]]] (%{{.*}}) : memref<?xf32>
// CHECK: gpu.memcpy async [%[[NEXT]]] %[[OWN]], %[[SHARED]]
func.func @allocs(%n: index) {
  %shared = gpu.alloc host_shared (%n) : memref<?xf32>
  %own = gpu.alloc (%n) : memref<?xf32>
  gpu.memcpy %own, %shared : memref<?xf32>, memref<?xf32>
  return
}

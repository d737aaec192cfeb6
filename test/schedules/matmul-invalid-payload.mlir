// What the schedule refuses, it refuses before it changes anything.
// RUN: not xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/matmul.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s

// CHECK: error: expected exactly one linalg.matmul, found 0
// CHECK: find_matmul.mlir:{{.*}}: note: required by this step of the schedule
func.func @nothing() { return }

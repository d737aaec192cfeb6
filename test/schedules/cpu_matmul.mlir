// The schedule for CPUs, in stock mlir-opt with the plugin and in xetile-opt.
// REQUIRES: cpu
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %schedules/payloads/matmul_bf16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/cpu_fuse.mlir,%schedules/cpu_matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: xetile-opt %schedules/payloads/matmul_bf16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/cpu_fuse.mlir,%schedules/cpu_matmul.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// Its parameters are the fields of the configuration.
// RUN: sed -e 's/"MThreads"> = 0/"MThreads"> = 2/; s/"threads"> = 0/"threads"> = 4/; s/"innermostMBlock"> = 0/"innermostMBlock"> = 8/' \
// RUN:     %schedules/cpu_matmul.mlir > %t.mlir
// RUN: xetile-opt %schedules/payloads/matmul_bf16.mlir --transform-preload-library='transform-library-paths=%schedules/cpu_fuse.mlir,%t.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefixes=CHECK,ROWS
// RUN: sed -e 's/"MThreads"> = 0/"MThreads"> = 9/; s/"threads"> = 0/"threads"> = 4/' %schedules/cpu_matmul.mlir > %t.mlir
// RUN: not xetile-opt %schedules/payloads/matmul_bf16.mlir \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/cpu_fuse.mlir,%t.mlir' --transform-interpreter 2>&1 \
// RUN:     | FileCheck %s --check-prefix=CORES

// CHECK-LABEL: func.func @matmul(
// CHECK-NOT: linalg.matmul
// CHECK: xetile.microkernel
// ROWS-SAME: array<i64: 8,
// CHECK-NOT: linalg.matmul
// CORES: MThreads = 9: expected at most 4

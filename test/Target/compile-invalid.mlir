// What xetile-compile refuses, with what it would take.
//
// REQUIRES: cpu
// RUN: not xetile-opt %s --xetile-compile="target=xyz" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: unknown target 'xyz'; known: bmg, cpu, lnl, pvc
// RUN: not xetile-opt %s --xetile-compile="target=dg2" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages
//
// RUN: not xetile-opt %s --xetile-compile="target=cpu native=off" 2>&1 | FileCheck %s --check-prefix=CPU-OPTION
// CPU-OPTION: target 'cpu' has no option 'native', expected one of amx, attention, bf16-dot, config, fuse, int8-dot, libmvec, pack, registers, results-as-arguments, share-scratch, threads, vector-bits, from, schedule, set, target, to
// RUN: not xetile-opt %s --xetile-compile="target=pvc threads=2" 2>&1 | FileCheck %s --check-prefix=XE-OPTION
// XE-OPTION: target 'pvc' has no option 'threads', expected one of O, cache-controls, dump-dir, large-register-file, line-tables, native, native-chips, ocloc, prefetch-payloads, from, schedule, set, target, to
// RUN: not xetile-opt %s --xetile-compile="large-register-file=maybe" 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: option large-register-file does not take 'maybe': Machine code with 256 registers per thread: true, false, or auto
//
// RUN: not xetile-opt %s --xetile-compile="to=3-x" 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: option to: target 'pvc' has no level '3-x', expected one of 0-linalg, 1-xetile-workgroup, 2-xetile-subgroup, 3-xetile-blocked, 4-xegpu, 5-xevm, 6-llvm
// RUN: not xetile-opt %s --xetile-compile="target=cpu from=4-xegpu" 2>&1 | FileCheck %s --check-prefix=CPU-LEVEL
// CPU-LEVEL: option from: target 'cpu' has no level '4-xegpu', expected one of 0-linalg, 1-tiled, 2-memory, 3-llvm
// RUN: not xetile-opt %s --xetile-compile="target=cpu from=2-memory to=1-tiled" 2>&1 | FileCheck %s --check-prefix=BACK
// BACK: level 2-memory is behind 1-tiled: expected from and to in the order 0-linalg, 1-tiled, 2-memory, 3-llvm
//
// RUN: not xetile-opt %s --xetile-compile="from=0-linalg" 2>&1 | FileCheck %s --check-prefix=NO-SCHEDULE
// NO-SCHEDULE: only a schedule leads from 0-linalg to 1-xetile-workgroup of target 'pvc': expected schedule=FILE, or from=1-xetile-workgroup
// RUN: not xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir from=4-xegpu" 2>&1 | FileCheck %s --check-prefix=LATE-SCHEDULE
// LATE-SCHEDULE: option schedule leads from 0-linalg to 1-xetile-workgroup, which are not on the way from 4-xegpu to 6-llvm
// RUN: not xetile-opt %s --xetile-compile="target=cpu threads=2 schedule=%schedules/cpu_matmul.mlir" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: option threads=2 is for the passes that the option schedule replaces: expected one of the two, or a parameter of the schedule (set=name=value)
// RUN: not xetile-opt %s --xetile-compile="set=k_step=16" 2>&1 | FileCheck %s --check-prefix=SET
// SET: option set=k_step=16: expected it beside schedule=FILE
// RUN: not xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir set=target=bmg" 2>&1 | FileCheck %s --check-prefix=SET-TARGET
// SET-TARGET: option set=target=bmg: expected the option target instead
// RUN: not xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir set=k=16" 2>&1 | FileCheck %s --check-prefix=PARAMETER
// PARAMETER: matmul.mlir:{{.*}} error: the schedule has no parameter 'k', expected one of: workgroup_m, workgroup_n, subgroups_m, subgroups_n, k_step, prefetch, prefetch_far, load_ahead, order, order_size, slm_buffers, split_k, precision, target
// RUN: not xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir set=prefetch=65" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: matmul.mlir:{{[0-9]+}}:{{[0-9]+}}: error: parameter 'prefetch' is '65', expected an integer from -1 to 64
// RUN: not xetile-opt %s --xetile-compile="schedule=%t.gone" 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: gone' is neither a file nor a directory
// RUN: not xetile-opt %s --xetile-compile="schedule=%schedules/parts" 2>&1 | FileCheck %s --check-prefix=NO-ENTRY
// NO-ENTRY: error: the schedule has no transform.named_sequence @__transform_main with a body
//
// A module at level 0 where one at level 1 is expected: at the line that no schedule took to a kernel.
// RUN: not xetile-opt %s --xetile-compile="target=pvc native=off" 2>&1 | FileCheck %s --check-prefix=UNSCHEDULED
// UNSCHEDULED: compile-invalid.mlir:[[#@LINE + 3]]:8: error: 'linalg.matmul' op is left in host code after the schedule: expected a schedule that takes it to a kernel

func.func @matmul(%a: tensor<256x128xf16>, %b: tensor<128x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x256xf16>)
                     outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// xetile-compile: one walk through the levels of any target, in one go or level by level.
//
// REQUIRES: cpu
// RUN: xetile-opt %s --xetile-compile="target=pvc schedule=%schedules/matmul.mlir to=1-xetile-workgroup" | FileCheck %s --check-prefixes=ONE,ONE-PVC
// RUN: xetile-opt %s --xetile-compile="target=lnl schedule=%schedules/parts,%schedules/matmul.mlir to=1-xetile-workgroup" | FileCheck %s --check-prefixes=ONE,ONE-LNL
// A level-1 module needs no schedule; host code gets the interface that it has on every target.
// RUN: xetile-opt %s --xetile-compile="target=bmg schedule=%schedules/matmul.mlir set=workgroup_m=64,subgroups_m=2 to=2-xetile-subgroup" \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir to=1-xetile-workgroup" \
// RUN:   | xetile-opt --xetile-compile="to=2-xetile-subgroup" | xetile-opt --xetile-compile="from=2-xetile-subgroup to=4-xegpu" > %t.steps
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir to=4-xegpu" > %t.once
// RUN: diff %t.steps %t.once
// RUN: xetile-opt %t.once --xetile-compile="from=4-xegpu to=5-xevm" | FileCheck %s --check-prefix=FIVE
// RUN: xetile-opt %t.once --xetile-compile="from=4-xegpu native=off" | FileCheck %s --check-prefix=SIX
// Stock mlir-opt has it, too.
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:   --pass-pipeline='builtin.module(xetile-compile{target=bmg schedule=%schedules/matmul.mlir native=off})' | FileCheck %s --check-prefix=SIX
//
// RUN: xetile-opt %s --xetile-compile="target=cpu to=0-linalg" | FileCheck %s --check-prefix=CPU-ZERO
// RUN: xetile-opt %s --xetile-compile='target=cpu to=1-tiled threads=1 pack=never config={{"MBlock": 64, "innermostMBlock": 32}}' | FileCheck %s --check-prefix=CPU-ONE
// RUN: sed -e 's/.*Matmuls of any form.*/transform.named_sequence private @idle(%%op: !transform.any_op {transform.consumed}) { transform.yield }/' \
// RUN:   %schedules/cpu_matmul.mlir > %t.warns.mlir
// RUN: xetile-opt %s --xetile-compile="target=cpu schedule=%t.warns.mlir set=threads=1 to=1-tiled" 2>&1 | FileCheck %s --check-prefix=CPU-SCHEDULE
// RUN: xetile-opt %s --xetile-compile="target=cpu to=2-memory" | FileCheck %s --check-prefix=CPU-TWO
// RUN: xetile-opt %s --xetile-compile="target=cpu to=2-memory results-as-arguments=false" | FileCheck %s --check-prefix=CPU-RETURNS
// RUN: xetile-opt %s --xetile-compile="target=cpu" | FileCheck %s --check-prefix=CPU-THREE
//
// Each question is asked once: for what it is compiled, what the maps are.
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir native=off" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: xetile-opt %t.once --xetile-compile="from=4-xegpu native=off" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=FROM
// The schedule says which chip; its attribute takes the level that is asked for.
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir O=3 to=2-xetile-subgroup" | FileCheck %s --check-prefix=LEVEL

// ONE-LABEL: func @matmul(
// ONE-SAME: -> memref<256x256xf32>
// ONE: gpu.launch_func
// ONE-PVC: gpu.module @{{.*}} [#xevm.target<chip = "pvc">]
// ONE-LNL: gpu.module @{{.*}} [#xevm.target<flags = {xetile.chip = "lnl"}>]
// ONE: xetile.tile_mma {{.*}}wg_map = #wg_map

// TWO-LABEL: func @matmul(
// TWO-SAME: %[[A:[^:]*]]: memref<256x128xf16>, %[[B:[^:]*]]: memref<128x256xf16>, %[[C:[^:]*]]: memref<256x256xf32>, %[[D:[^:]*]]: memref<256x256xf32> {xetile.result})
// TWO-SAME: attributes {llvm.emit_c_interface, xetile.tiling = 
// TWO: memref.copy %[[C]], %[[D]]
// TWO: gpu.launch_func {{.*}} args(%[[D]] : memref<256x256xf32>, %[[A]] : memref<256x128xf16>, %[[B]] : memref<128x256xf16>)
// TWO: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 4, 1>
// TWO: xetile.tile_mma {{.*}} : vector<32x32xf16>, vector<32x64xf16>
// TWO-NOT: wg_map

// FIVE-LABEL: func @matmul(
// FIVE: gpu.memcpy
// FIVE: xevm.mma

// SIX: llvm.func @_mlir_ciface_matmul(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}: !llvm.ptr)
// SIX: gpu.binary @{{.*}} bin = "\03\02#\07

// CPU-ZERO-LABEL: func @matmul(
// CPU-ZERO: linalg.matmul
// CPU-ONE: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c64
// CPU-ONE: linalg.batch_reduce_matmul {{.*}}x32x
// What upstream warns of a schedule comes once.
// CPU-SCHEDULE: warning: op argument #0 is not consumed
// CPU-SCHEDULE-NOT: warning:
// CPU-SCHEDULE: func @matmul(
// CPU-SCHEDULE-NOT: scf.forall
// CPU-SCHEDULE: linalg.batch_reduce_matmul
// CPU-TWO-LABEL: func @matmul(
// CPU-TWO-SAME: %{{[^:]*}}: memref<256x128xf16>, %{{[^:]*}}: memref<128x256xf16>, %{{[^:]*}}: memref<256x256xf32>, %{{[^:]*}}: memref<256x256xf32>) attributes {llvm.emit_c_interface} {
// CPU-RETURNS-LABEL: func @matmul(
// CPU-RETURNS-SAME: %{{[^:]*}}: memref<256x128xf16>, %{{[^:]*}}: memref<128x256xf16>, %{{[^:]*}}: memref<256x256xf32>) -> memref<256x256xf32>
// CPU-THREE: llvm.func @_mlir_ciface_matmul(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}: !llvm.ptr)

// PASSES: xetile-apply-schedule
// PASSES: xetile-attach-target
// PASSES: xetile-infer-wg-map
// PASSES-NOT: xetile-infer-wg-map
// PASSES-NOT: xetile-attach-target
// FROM-NOT: xetile-infer-wg-map
// FROM: xetile-attach-target
// FROM-NOT: xetile-infer-wg-map
// FROM-NOT: xetile-attach-target
// LEVEL: gpu.module @{{.*}} [#xevm.target<O = 3, chip = "pvc">]

func.func @matmul(%a: tensor<256x128xf16>, %b: tensor<128x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x256xf16>)
                     outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

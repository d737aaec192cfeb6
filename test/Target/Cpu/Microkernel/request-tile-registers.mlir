// RUN: xetile-opt %s --split-input-file --xetile-request-tile-registers --xetile-request-tile-registers | FileCheck %s

// Once, however often the pass runs.
// CHECK-LABEL: func @tiles
// CHECK: llvm.mlir.global weak @xetile_refused() {{.*}} : !llvm.ptr {
// CHECK: llvm.mlir.zero
// CHECK: llvm.mlir.global internal constant @xetile_no_tile_registers("expected Linux to lend this process the tile registers of AMX
// CHECK: llvm.func internal @xetile_request_tile_registers() {
// CHECK-DAG: %[[CALL:.*]] = llvm.mlir.constant(158 : i64)
// CHECK-DAG: %[[WHAT:.*]] = llvm.mlir.constant(4131 : i64)
// CHECK-DAG: %[[TILES:.*]] = llvm.mlir.constant(18 : i64)
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}" %[[CALL]], %[[WHAT]], %[[TILES]]
// CHECK: %[[LENT:.*]] = llvm.icmp "eq"
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @xetile_no_tile_registers
// CHECK: %[[SAID:.*]] = llvm.select %[[LENT]], %{{.*}}, %[[TEXT]]
// CHECK: %[[REFUSED:.*]] = llvm.mlir.addressof @xetile_refused
// CHECK: llvm.store %[[SAID]], %[[REFUSED]]
// CHECK: llvm.mlir.global_ctors ctors = [@xetile_request_tile_registers], priorities = [0 : i32], data = [#llvm.zero]
// CHECK-NOT: global_ctors
llvm.func @tiles() {
  %0 = llvm.mlir.constant(16 : i16) : i16
  %1 = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%0, %0) : (i16, i16) -> !llvm.x86_amx
  llvm.return
}

// -----

// CHECK-LABEL: func @none
// CHECK-NOT: inline_asm
llvm.func @none() {
  llvm.return
}

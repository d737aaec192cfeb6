// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-cpu-features="features=avx2,avxvnni"
// RUN: xetile-opt %s --split-input-file --xetile-check-cpu-features="features=avx512f,avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16" | FileCheck %s

// CHECK-LABEL: llvm.func @tiles
llvm.func @tiles(%rows: i16, %bytes: i16, %tile: !llvm.x86_amx) {
  // expected-error @+1 {{llvm.x86.tilezero.internal is an instruction of amx-tile, which the CPU does not have; a DLTI entry "CPU" of the module or an operation of amx or x86vector asks for it: remove that, or compile on such a CPU}}
  %a = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%rows, %bytes) : (i16, i16) -> !llvm.x86_amx
  // Each feature is told once.
  %b = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%rows, %bytes) : (i16, i16) -> !llvm.x86_amx
  // expected-error @+1 {{llvm.x86.tdpbf16ps.internal is an instruction of amx-bf16}}
  %c = llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"(%rows, %rows, %bytes, %tile, %a, %b)
      : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx
  // expected-error @+1 {{llvm.x86.tdpbssd.internal is an instruction of amx-int8}}
  %d = llvm.call_intrinsic "llvm.x86.tdpbssd.internal"(%rows, %rows, %bytes, %tile, %a, %b)
      : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx
  llvm.return
}

// -----

// Vectors of 256 bits have the products of bytes in AVX-VNNI, too.
// CHECK-LABEL: llvm.func @bytes
llvm.func @bytes(%few: vector<8xi32>, %many: vector<16xi32>) {
  %a = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%few, %few, %few)
      : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  // expected-error @+1 {{llvm.x86.avx512.vpdpbusd.512 is an instruction of avx512vnni}}
  %b = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%many, %many, %many)
      : (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  llvm.return
}

// -----

// Functions are called by name as well; other intrinsics are every CPU's.
// CHECK-LABEL: llvm.func @named
llvm.func @llvm.x86.avx512bf16.dpbf16ps.512(vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
llvm.func @named(%sums: vector<16xf32>, %halves: vector<32xbf16>) -> vector<16xf32> {
  // expected-error @+1 {{llvm.x86.avx512bf16.dpbf16ps.512 is an instruction of avx512bf16}}
  %a = llvm.call @llvm.x86.avx512bf16.dpbf16ps.512(%sums, %halves, %halves)
      : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  %b = llvm.intr.fabs(%a) : (vector<16xf32>) -> vector<16xf32>
  llvm.return %b : vector<16xf32>
}

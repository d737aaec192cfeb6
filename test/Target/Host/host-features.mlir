// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %s --verify-diagnostics --xetile-check-cpu-features
// RUN: env XETILE_CPU_WITHOUT=avx512f,amx not xetile-opt %s --xetile-check-cpu-features -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: env XETILE_CPU_WITHOUT=amx not xetile-opt %s --xetile-check-cpu-features
// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %s --xetile-check-cpu-features="features=avx,avx2,avx512f,avx512vnni"

// WRONG: error: XETILE_CPU_WITHOUT=avx512f,amx: 'amx' is no feature of a CPU; expected LLVM's names with commas between, as 'avx512f' or 'amx-tile'

// What needs a feature that is taken from this CPU is gone as well. A list of features of the pass is not the CPU's.
llvm.func @wide(%a: vector<8xf32>, %many: vector<16xi32>, %bytes: vector<32xi8>) {
  // expected-error @+1 {{llvm.x86.avx.rcp.ps.256 is an instruction of avx, which this CPU does not have}}
  %0 = llvm.call_intrinsic "llvm.x86.avx.rcp.ps.256"(%a) : (vector<8xf32>) -> vector<8xf32>
  // expected-error @+1 {{llvm.x86.avx2.pshuf.b is an instruction of avx2, which this CPU does not have}}
  %1 = llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"(%bytes, %bytes) : (vector<32xi8>, vector<32xi8>) -> vector<32xi8>
  // expected-error @+1 {{llvm.x86.avx512.vpdpbusd.512 is an instruction of avx512vnni, which this CPU does not have}}
  %2 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%many, %many, %many)
      : (vector<16xi32>, vector<16xi32>, vector<16xi32>) -> vector<16xi32>
  llvm.return
}

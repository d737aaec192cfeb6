// What is said about ocloc, chips and directories.
//
// RUN: not env XETILE_OCLOC=/nowhere/ocloc xetile-opt %s --xetile-emit-binary="native=require" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// RUN: not xetile-opt %s --xetile-emit-binary="native=require ocloc=/nowhere/ocloc" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING-AT
// RUN: env XETILE_OCLOC=/nowhere/ocloc xetile-opt %s --xetile-emit-binary="native=auto" \
// RUN:   | FileCheck %s --check-prefix=AUTO
// RUN: not xetile-opt %s --xetile-emit-binary="native=maybe" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not xetile-opt %s --xetile-emit-binary="native-chips=pvc,rtx" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not xetile-opt %s --xetile-emit-binary="ocloc=%S/Inputs/failing-ocloc" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILING
// RUN: not xetile-opt %s --xetile-emit-binary="native=off dump-dir=/dev/null/x" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DUMP

// MISSING: error: machine code is required but ocloc was not found at '/nowhere/ocloc' (XETILE_OCLOC): run scripts/install-ocloc, put ocloc on PATH, or name it in XETILE_OCLOC
// MISSING-AT: error: machine code is required but ocloc was not found at '/nowhere/ocloc'
// AUTO: gpu.binary @kernels
// AUTO-NOT: native
// OPTION: error: option native is 'maybe', expected 'auto', 'require' or 'off'
// CHIP: error: option native-chips: unknown chip 'rtx'; known: pvc, bmg, lnl
// FAILING: error: 'gpu.module' op cannot be compiled to machine code: {{.*}}failing-ocloc failed for device pvc (status 3)
// FAILING-NEXT: internal compiler error of the test
// DUMP: error: 'gpu.module' op cannot write /dev/null/x/k.ll

gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k() attributes {gpu.kernel} {
    llvm.return
  }
}

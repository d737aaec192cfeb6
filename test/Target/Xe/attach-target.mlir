// RUN: xetile-opt %s --xetile-attach-target="chip=bmg O=3" | FileCheck %s --check-prefix=BMG
// RUN: xetile-opt %s --xetile-attach-target="chip=lnl" | FileCheck %s --check-prefix=LNL
// RUN: xetile-opt %s --xetile-attach-target="chip=lnl" | xetile-opt --xetile-attach-target="chip=lnl" \
// RUN:   | FileCheck %s --check-prefix=LNL
// RUN: not xetile-opt %s --xetile-attach-target="chip=rtx" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not xetile-opt %s --xetile-attach-target="chip=dg2" 2>&1 | FileCheck %s --check-prefix=NO-BLOCKS
// RUN: not xetile-opt %s --xetile-attach-target="O=7" 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: xetile-opt %s --xetile-attach-target="chip=pvc" \
// RUN:   | not xetile-opt --xetile-attach-target="chip=lnl" 2>&1 | FileCheck %s --check-prefix=OTHER

// bmg is the default of the attribute and is not printed.
// BMG: gpu.module @kernels [#xevm.target<O = 3>]
// LNL: gpu.module @kernels [#xevm.target<flags = {xetile.chip = "lnl"}>]
// UNKNOWN: error: unknown chip 'rtx'; known: pvc, bmg, lnl
// NO-BLOCKS: error: chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages; supported: pvc, bmg, lnl
// LEVEL: error: optimization level is 7, expected 0 to 3
// OTHER: error: 'gpu.module' op has the target [#xevm.target<chip = "pvc">], expected chip 'lnl'
gpu.module @kernels {
}

// Names that drivers abort on are refused, and none of them is a path. A long name is cut in the names of files only.
//
// RUN: rm -rf %t && split-file %s %t && mkdir -p %t/out/a/b
// RUN: not xetile-opt %t/path.mlir --xetile-emit-binary="native=off dump-dir=%t/out/a/b" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PATH
// RUN: not xetile-opt %t/bytes.mlir --xetile-emit-binary="native=off dump-dir=%t/out/a/b" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BYTES
// RUN: not xetile-opt %t/module.mlir --xetile-emit-binary="native=off" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MODULE
// RUN: find %t/out -type f | count 0
// RUN: xetile-opt %t/long.mlir --xetile-emit-binary="native=off dump-dir=%t/out" -o /dev/null
// RUN: ls %t/out | FileCheck %s --check-prefix=LONG

// PATH: path.mlir:3:3: error: 'llvm.func' op has the name '../../escape', which drivers do not take; expected a letter or '_', then letters, digits, '_', '-', '.' and '$': rename the function
// BYTES: error: 'llvm.func' op has the name 'a\FF$(b)\00', which drivers do not take
// MODULE: error: 'gpu.module' op has the name 'a b', which drivers do not take
// LONG: {{^k_{199}-[0-9A-F]+\.ll$}}
// LONG: {{^k_{199}-[0-9A-F]+\.spv$}}

//--- path.mlir
module attributes {gpu.container_module} {
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @"../../escape"(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    llvm.return
  }
}
}
//--- bytes.mlir
module attributes {gpu.container_module} {
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @"a\FF$(b)\00"(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    llvm.return
  }
}
}
//--- module.mlir
module attributes {gpu.container_module} {
gpu.module @"a b" [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    llvm.return
  }
}
}
//--- long.mlir
module attributes {gpu.container_module} {
gpu.module @kernels [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k___________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________________(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    llvm.return
  }
}
}

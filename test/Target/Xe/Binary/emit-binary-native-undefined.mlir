// REQUIRES: ocloc
// RUN: xetile-opt %s --xetile-emit-binary="native=require native-chips=pvc" --verify-diagnostics

// ocloc succeeds and leaves the call to a linker; nothing links the kernel later.
// expected-error @below {{machine code for device pvc cannot be used: it calls functions that the driver does not have: _Z12no_such_namei}}
gpu.module @undefined [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z12no_such_namei(i32) -> i32
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> i32
    %y = llvm.call spir_funccc @_Z12no_such_namei(%x) : (i32) -> i32
    llvm.store %y, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}

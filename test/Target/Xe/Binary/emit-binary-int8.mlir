// XeVM's name for signed bytes is not the one that GPU drivers know.
// RUN: rm -rf %t && xetile-opt %s --xetile-emit-binary="native=off dump-dir=%t" -o /dev/null
// RUN: FileCheck %s < %t/k.ll
// CHECK: declare {{.*}} @_Z36intel_sub_group_i8_i8_matrix_mad_k32Dv8_sDv8_iS0_(
// CHECK-NOT: _s8_

gpu.module @int8 [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z36intel_sub_group_s8_s8_matrix_mad_k32Dv8_sDv8_iS0_(vector<8xi16>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
      attributes {convergent, no_unwind, will_return}
  llvm.func spir_kernelcc @k(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {gpu.kernel} {
    %a = llvm.load %pa : !llvm.ptr<1> -> vector<8xi16>
    %b = llvm.load %pb : !llvm.ptr<1> -> vector<8xi32>
    %c = llvm.load %pc : !llvm.ptr<1> -> vector<8xi32>
    %d = llvm.call spir_funccc @_Z36intel_sub_group_s8_s8_matrix_mad_k32Dv8_sDv8_iS0_(%a, %b, %c)
        : (vector<8xi16>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    llvm.store %d, %pc : vector<8xi32>, !llvm.ptr<1>
    llvm.return
  }
}

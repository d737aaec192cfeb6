// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-emit-binary="native=off"

// expected-error @below {{has no #xevm.target: run xetile-attach-target first}}
gpu.module @no_target {
}

// -----

// expected-error @below {{unknown chip 'rtx'; known: pvc, bmg, lnl}}
gpu.module @unknown_chip [#xevm.target<chip = "rtx">] {
}

// -----

// expected-error @below {{chip 'dg2' (Arc A-Series (Alchemist)) has no 2D block messages}}
gpu.module @no_block_messages [#xevm.target<chip = "dg2">] {
}

// -----

gpu.module @leftover_op [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%x: i32) attributes {gpu.kernel} {
    // expected-error @below {{'arith.addi' op is left in device code, expected only the LLVM dialect: lower it before xetile-emit-binary}}
    %y = arith.addi %x, %x : i32
    llvm.return
  }
}

// -----

gpu.module @leftover_cast [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%x: i64) attributes {gpu.kernel} {
    // expected-error @below {{'builtin.unrealized_conversion_cast' op is left in device code}}
    %y = builtin.unrealized_conversion_cast %x : i64 to index
    llvm.return
  }
}

// -----

gpu.module @subgroup_size [#xevm.target<chip = "pvc">] {
  // expected-error @below {{requires subgroups of 32 lanes, expected 16 on pvc}}
  llvm.func spir_kernelcc @k() attributes {gpu.kernel, intel_reqd_sub_group_size = 32 : i32} {
    llvm.return
  }
}

// -----

// expected-error @below {{cannot be prepared for SPIR-V: no code generator for the triple 'vax-dec-vms'}}
gpu.module @triple [#xevm.target<triple = "vax-dec-vms", chip = "pvc">] {
  llvm.func spir_kernelcc @k() attributes {gpu.kernel} {
    llvm.return
  }
}

// -----

gpu.module @wide_call [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @somewhere(vector<32xf32>)
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<32xf32>
    // expected-error @below {{'llvm.call' op passes 'vector<32xf32>' from or to 'somewhere', which is defined elsewhere; SPIR-V has vectors of 2, 3, 4, 8 and 16 elements: pass it in several, or in memory}}
    llvm.call spir_funccc @somewhere(%x) : (vector<32xf32>) -> ()
    llvm.return
  }
}

// -----

// expected-error @below {{'k': insertelement uses the vector <32 x float>}}
gpu.module @wide_index [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>, %i: i32) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<32xf32>
    %y = llvm.fadd %x, %x : vector<32xf32>
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %z = llvm.insertelement %one, %y[%i : i32] : vector<32xf32>
    llvm.store %z, %p : vector<32xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// An extension that consumers may not have is refused, not declared.
// expected-error @below {{cannot be translated to SPIR-V: OpTypeFloat type with bfloat requires the following SPIR-V extension: SPV_KHR_bfloat16}}
gpu.module @needs_extension [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> bf16
    %y = llvm.fadd %x, %x : bf16
    llvm.store %y, %p : bf16, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// What the backend would end the process for.
// expected-error @below {{cannot be translated to SPIR-V: Intrinsic selection not implemented}}
gpu.module @not_selectable [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.call_intrinsic "llvm.x86.rdtsc"() : () -> i64
    llvm.store %x, %p : i64, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// The backend accepts any width, the validator does not.
// expected-error-re @below {{became SPIR-V that is not valid: word {{[0-9]+}}: Invalid number of bits (80) used for OpTypeFloat.}}
gpu.module @not_valid [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> f80
    %y = llvm.fadd %x, %x : f80
    llvm.store %y, %p : f80, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @below {{'k': load uses the vector <vscale x 4 x float>}}
gpu.module @scalable [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<[4]xf32>
    %y = llvm.fadd %x, %x : vector<[4]xf32>
    llvm.store %y, %p : vector<[4]xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_read_16b_64r16x1cPU3AS1viiiDv2_iPt(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) 
  llvm.func spir_kernelcc @k(%a0: !llvm.ptr<1>, %a1: i32, %a2: i32, %a3: i32, %a4: vector<2xi32>, %a5: !llvm.ptr) attributes {gpu.kernel} {
    // expected-error @below {{'llvm.call' op calls '_Z42intel_sub_group_2d_block_read_16b_64r16x1cPU3AS1viiiDv2_iPt', which pvc does not have: height of a 2D block load is 64 rows, expected 1 to 32}}
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_read_16b_64r16x1cPU3AS1viiiDv2_iPt(%a0, %a1, %a2, %a3, %a4, %a5) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z51intel_sub_group_2d_block_read_transform_32b_8r16x1cPU3AS1viiiDv2_iPj(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) 
  llvm.func spir_kernelcc @k(%a0: !llvm.ptr<1>, %a1: i32, %a2: i32, %a3: i32, %a4: vector<2xi32>, %a5: !llvm.ptr) attributes {gpu.kernel} {
    // expected-error @below {{which pvc does not have: element size of a transforming 2D block load is 32 bits, expected 8 or 16}}
    llvm.call spir_funccc @_Z51intel_sub_group_2d_block_read_transform_32b_8r16x1cPU3AS1viiiDv2_iPj(%a0, %a1, %a2, %a3, %a4, %a5) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x2cPU3AS1viiiDv2_iPt(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) 
  llvm.func spir_kernelcc @k(%a0: !llvm.ptr<1>, %a1: i32, %a2: i32, %a3: i32, %a4: vector<2xi32>, %a5: !llvm.ptr) attributes {gpu.kernel} {
    // expected-error @below {{which pvc does not have: number of blocks of a 2D block store is 2, expected 1}}
    llvm.call spir_funccc @_Z42intel_sub_group_2d_block_write_16b_8r16x2cPU3AS1viiiDv2_iPt(%a0, %a1, %a2, %a3, %a4, %a5) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z38intel_sub_group_2d_block_fetch_8r16x2cPU3AS1viiiDv2_iPt(!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) 
  llvm.func spir_kernelcc @k(%a0: !llvm.ptr<1>, %a1: i32, %a2: i32, %a3: i32, %a4: vector<2xi32>, %a5: !llvm.ptr) attributes {gpu.kernel} {
    // expected-error @below {{a 2D block access is a read, read_transform, read_transpose, write or prefetch}}
    llvm.call spir_funccc @_Z38intel_sub_group_2d_block_fetch_8r16x2cPU3AS1viiiDv2_iPt(%a0, %a1, %a2, %a3, %a4, %a5) : (!llvm.ptr<1>, i32, i32, i32, vector<2xi32>, !llvm.ptr) -> ()
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z38intel_sub_group_f16_f16_matrix_mad_k32Dv8_sDv8_iDv8_f(vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
  llvm.func spir_kernelcc @k(%a0: vector<8xi16>, %a1: vector<8xi32>, %a2: vector<8xf32>) attributes {gpu.kernel} {
    // expected-error @below {{which pvc does not have: k of a dpas on 16-bit elements is 32, expected 16}}
    %r = llvm.call spir_funccc @_Z38intel_sub_group_f16_f16_matrix_mad_k32Dv8_sDv8_iDv8_f(%a0, %a1, %a2) : (vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
    llvm.return
  }
}

// -----

gpu.module @builtin [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @_Z39intel_sub_group_f16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f(vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
  llvm.func spir_kernelcc @k(%a0: vector<8xi16>, %a1: vector<8xi32>, %a2: vector<8xf32>) attributes {gpu.kernel} {
    // expected-error @below {{matrices of f16 and bf16 are not multiplied, expected f16, bf16 or tf32 twice, or integers of 4 or 8 bits}}
    %r = llvm.call spir_funccc @_Z39intel_sub_group_f16_bf16_matrix_mad_k16Dv8_sDv8_iDv8_f(%a0, %a1, %a2) : (vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
    llvm.return
  }
}

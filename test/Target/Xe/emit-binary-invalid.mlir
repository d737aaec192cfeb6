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

// expected-error @below {{the signature of 'somewhere' uses the vector <32 x float>; SPIR-V has vectors of 2, 3, 4, 8 and 16 elements}}
gpu.module @wide_call [#xevm.target<chip = "pvc">] {
  llvm.func spir_funccc @somewhere(vector<32xf32>)
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<32xf32>
    llvm.call spir_funccc @somewhere(%x) : (vector<32xf32>) -> ()
    llvm.return
  }
}

// -----

// expected-error @below {{'k': extractelement uses the vector <32 x float>}}
gpu.module @wide_index [#xevm.target<chip = "pvc">] {
  llvm.func spir_kernelcc @k(%p: !llvm.ptr<1>, %i: i32) attributes {gpu.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> vector<32xf32>
    %y = llvm.fadd %x, %x : vector<32xf32>
    %z = llvm.extractelement %y[%i : i32] : vector<32xf32>
    llvm.store %z, %p : f32, !llvm.ptr<1>
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

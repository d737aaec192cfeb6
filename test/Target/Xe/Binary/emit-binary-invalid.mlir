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

// -----

gpu.module @arguments [#xevm.target<chip = "pvc">] {
  // expected-error @below {{'llvm.func' op has 256 arguments in SPIR-V, whose functions take at most 255; a memref is three and two for each of its dimensions, a vector one for each block: expected fewer memrefs, and vectors to be loaded where they are used}}
  llvm.func spir_kernelcc @k(%a0: i64, %a1: i64, %a2: i64, %a3: i64, %a4: i64, %a5: i64, %a6: i64, %a7: i64, %a8: i64, %a9: i64, %a10: i64, %a11: i64, %a12: i64, %a13: i64, %a14: i64, %a15: i64, %a16: i64, %a17: i64, %a18: i64, %a19: i64, %a20: i64, %a21: i64, %a22: i64, %a23: i64, %a24: i64, %a25: i64, %a26: i64, %a27: i64, %a28: i64, %a29: i64, %a30: i64, %a31: i64, %a32: i64, %a33: i64, %a34: i64, %a35: i64, %a36: i64, %a37: i64, %a38: i64, %a39: i64, %a40: i64, %a41: i64, %a42: i64, %a43: i64, %a44: i64, %a45: i64, %a46: i64, %a47: i64, %a48: i64, %a49: i64, %a50: i64, %a51: i64, %a52: i64, %a53: i64, %a54: i64, %a55: i64, %a56: i64, %a57: i64, %a58: i64, %a59: i64, %a60: i64, %a61: i64, %a62: i64, %a63: i64, %a64: i64, %a65: i64, %a66: i64, %a67: i64, %a68: i64, %a69: i64, %a70: i64, %a71: i64, %a72: i64, %a73: i64, %a74: i64, %a75: i64, %a76: i64, %a77: i64, %a78: i64, %a79: i64, %a80: i64, %a81: i64, %a82: i64, %a83: i64, %a84: i64, %a85: i64, %a86: i64, %a87: i64, %a88: i64, %a89: i64, %a90: i64, %a91: i64, %a92: i64, %a93: i64, %a94: i64, %a95: i64, %a96: i64, %a97: i64, %a98: i64, %a99: i64, %a100: i64, %a101: i64, %a102: i64, %a103: i64, %a104: i64, %a105: i64, %a106: i64, %a107: i64, %a108: i64, %a109: i64, %a110: i64, %a111: i64, %a112: i64, %a113: i64, %a114: i64, %a115: i64, %a116: i64, %a117: i64, %a118: i64, %a119: i64, %a120: i64, %a121: i64, %a122: i64, %a123: i64, %a124: i64, %a125: i64, %a126: i64, %a127: i64, %a128: i64, %a129: i64, %a130: i64, %a131: i64, %a132: i64, %a133: i64, %a134: i64, %a135: i64, %a136: i64, %a137: i64, %a138: i64, %a139: i64, %a140: i64, %a141: i64, %a142: i64, %a143: i64, %a144: i64, %a145: i64, %a146: i64, %a147: i64, %a148: i64, %a149: i64, %a150: i64, %a151: i64, %a152: i64, %a153: i64, %a154: i64, %a155: i64, %a156: i64, %a157: i64, %a158: i64, %a159: i64, %a160: i64, %a161: i64, %a162: i64, %a163: i64, %a164: i64, %a165: i64, %a166: i64, %a167: i64, %a168: i64, %a169: i64, %a170: i64, %a171: i64, %a172: i64, %a173: i64, %a174: i64, %a175: i64, %a176: i64, %a177: i64, %a178: i64, %a179: i64, %a180: i64, %a181: i64, %a182: i64, %a183: i64, %a184: i64, %a185: i64, %a186: i64, %a187: i64, %a188: i64, %a189: i64, %a190: i64, %a191: i64, %a192: i64, %a193: i64, %a194: i64, %a195: i64, %a196: i64, %a197: i64, %a198: i64, %a199: i64, %a200: i64, %a201: i64, %a202: i64, %a203: i64, %a204: i64, %a205: i64, %a206: i64, %a207: i64, %a208: i64, %a209: i64, %a210: i64, %a211: i64, %a212: i64, %a213: i64, %a214: i64, %a215: i64, %a216: i64, %a217: i64, %a218: i64, %a219: i64, %a220: i64, %a221: i64, %a222: i64, %a223: i64, %a224: i64, %a225: i64, %a226: i64, %a227: i64, %a228: i64, %a229: i64, %a230: i64, %a231: i64, %a232: i64, %a233: i64, %a234: i64, %a235: i64, %a236: i64, %a237: i64, %a238: i64, %a239: i64, %a240: i64, %a241: i64, %a242: i64, %a243: i64, %a244: i64, %a245: i64, %a246: i64, %a247: i64, %a248: i64, %a249: i64, %a250: i64, %a251: i64, %a252: i64, %a253: i64, %a254: i64, %a255: i64) attributes {gpu.kernel} {
    llvm.return
  }
}

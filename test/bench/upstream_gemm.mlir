// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GEMM of schedules/matmul.mlir in workgroup-level XeGPU, with layouts and a prefetch as upstream's transform ops
// (set_desc_layout, set_op_layout_attr, insert_prefetch) leave them: what machine_code.py gives upstream's pipeline.
// ELEMENT stands for f16 or bf16, KxELEMENT and EXTENT for the size along k.
#c = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 64], inst_data = [8, 16]>
#a = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 64], inst_data = [16, 16]>
#a_shared = #xegpu.layout<sg_layout = [32, 1], sg_data = [8, 32], inst_data = [8, 16]>
#b_shared = #xegpu.layout<sg_layout = [4, 8], sg_data = [8, 32], inst_data = [8, 16]>
#inside = #xegpu.block_tdesc_attr<boundary_check = false>
module attributes {gpu.container_module} {
  gpu.module @kernels [#xevm.target<chip = "pvc">] {
    gpu.func @gemm(%c: memref<4096x4096xf32>, %a: memref<4096xEXTENTxELEMENT>, %b: memref<EXTENTx4096xELEMENT>) kernel
        attributes {known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 16, 16, 1>,
                    intel_reqd_sub_group_size = 16 : i32} {
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c256 = arith.constant 256 : index
      %k_end = arith.constant EXTENT : index
      %x = gpu.block_id x
      %y = gpu.block_id y
      %m = arith.muli %x, %c256 : index
      %n = arith.muli %y, %c256 : index
      %c_tile = xegpu.create_nd_tdesc %c : memref<4096x4096xf32> -> !xegpu.tensor_desc<256x256xf32, #inside, #c>
      %start = xegpu.load_nd %c_tile[%m, %n] <{layout = #c}> : !xegpu.tensor_desc<256x256xf32, #inside, #c> -> vector<256x256xf32>
      %a_ahead = xegpu.create_nd_tdesc %a : memref<4096xEXTENTxELEMENT> -> !xegpu.tensor_desc<256x32xELEMENT, #inside, #a_shared>
      %b_ahead = xegpu.create_nd_tdesc %b : memref<EXTENTx4096xELEMENT> -> !xegpu.tensor_desc<32x256xELEMENT, #inside, #b_shared>
      xegpu.prefetch_nd %a_ahead[%m, %c0] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<256x32xELEMENT, #inside, #a_shared>
      xegpu.prefetch_nd %b_ahead[%c0, %n] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<32x256xELEMENT, #inside, #b_shared>
      %a_tile = xegpu.create_nd_tdesc %a : memref<4096xEXTENTxELEMENT> -> !xegpu.tensor_desc<256x32xELEMENT, #inside, #a>
      %b_tile = xegpu.create_nd_tdesc %b : memref<EXTENTx4096xELEMENT> -> !xegpu.tensor_desc<32x256xELEMENT, #inside, #b>
      %sum = scf.for %k = %c0 to %k_end step %c32 iter_args(%acc = %start) -> (vector<256x256xf32>) {
        %next = arith.addi %k, %c32 : index
        xegpu.prefetch_nd %b_ahead[%next, %n] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<32x256xELEMENT, #inside, #b_shared>
        xegpu.prefetch_nd %a_ahead[%m, %next] <{l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<256x32xELEMENT, #inside, #a_shared>
        %left = xegpu.load_nd %a_tile[%m, %k] : !xegpu.tensor_desc<256x32xELEMENT, #inside, #a> -> vector<256x32xELEMENT>
        %right = xegpu.load_nd %b_tile[%k, %n] : !xegpu.tensor_desc<32x256xELEMENT, #inside, #b> -> vector<32x256xELEMENT>
        %d = xegpu.dpas %left, %right, %acc {layout_a = #a, layout_b = #b, layout_cd = #c} : vector<256x32xELEMENT>, vector<32x256xELEMENT>, vector<256x256xf32> -> vector<256x256xf32>
        scf.yield %d : vector<256x256xf32>
      }
      xegpu.store_nd %sum, %c_tile[%m, %n] : vector<256x256xf32>, !xegpu.tensor_desc<256x256xf32, #inside, #c>
      gpu.return
    }
  }
}

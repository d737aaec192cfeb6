# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes N gpu.modules in the LLVM dialect, each with one kernel of 3 to 27 blocks."""

import sys

print("module attributes {gpu.container_module} {")
for number in range(int(sys.argv[1])):
    print(f"""gpu.module @m{number} [#xevm.target<chip = "pvc">] {{
  llvm.func spir_kernelcc @k{number}(%p: !llvm.ptr<1>, %n: i32) attributes {{gpu.kernel}} {{""")
    for step in range(1 + number * 7 % 13):
        print(f"""    %c{step} = llvm.mlir.constant({step + 1} : i32) : i32
    %q{step} = llvm.icmp "eq" %n, %c{step} : i32
    llvm.cond_br %q{step}, ^then{step}, ^next{step}
  ^then{step}:
    llvm.store volatile %c{step}, %p : i32, !llvm.ptr<1>
    llvm.br ^next{step}
  ^next{step}:""")
    print("    llvm.return\n  }\n}")
print("}")

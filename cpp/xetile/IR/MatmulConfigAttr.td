// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_MATMULCONFIGATTR_TD
#define XETILE_IR_MATMULCONFIGATTR_TD

include "xetile/IR/MatmulFields.td"
include "xetile/IR/XeTileAttrs.td"

def XeTile_MatmulConfigAttr : XeTile_Attr<"MatmulConfig", "matmul_config"> {
  let summary = "How a matmul is cut into threads and blocks; any part of it";
  let description = !strconcat([{
    Threads share m, n and k; blocks cut a thread's part for the second-level cache, innermost blocks cut these for
    registers and the first-level cache. Sizes are in elements. `loopOrder` is the order of the loops over blocks, from
    the outermost, as a number or by its name (`"nkm"`). Fields that are left out are chosen by the heuristic.

}], matmulFieldRows, [{
    ```mlir
    %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, KBlock = 256>} ins(...) outs(...)
    ```

    Constraints:
    - matmul_config_c1: every thread count and size is positive; `loopOrder` is 0 to 5 or a name.
    - matmul_config_c2: a block is a multiple of the innermost block, where both are given.
  }]);
  let parameters = (ins "::xetile::PartialConfig":$fields);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = !strconcat([{
    static constexpr ::llvm::StringLiteral kLoopOrders[] = }], "{", matmulLoopOrderTable, "};", [{

    /// Calls `visit` with each field of a MatmulFields: its name, its value, what it means, and what leaves it open where
    /// a value has to be given.
    template <typename Fields, typename Visit> static void visitFields(Fields &&fields, Visit visit) {
}], matmulFieldVisits, [{
    }
  }]);
}

#endif // XETILE_IR_MATMULCONFIGATTR_TD

#ifndef XETILE_IR_MATMULCONFIGATTR_TD
#define XETILE_IR_MATMULCONFIGATTR_TD

include "xetile/IR/XeTileAttrs.td"

def XeTile_MatmulConfigAttr : XeTile_Attr<"MatmulConfig", "matmul_config"> {
  let summary = "How a matmul is cut into threads and blocks; any part of it";
  let description = [{
    `MThreads`, `NThreads`, `KThreads` share m, n and k between threads; `MBlock`, `NBlock`, `KBlock` cut a thread's
    part for the second-level cache, `innermostMBlock`, `innermostNBlock`, `innermostKBlock` cut blocks for registers
    and the first-level cache. `loopOrder` is the order of the loops over blocks, from the outermost: 0 mnk, 1 mkn,
    2 nmk, 3 nkm, 4 kmn, 5 knm. Sizes are in elements. Fields that are left out are chosen by the heuristic.

    ```mlir
    %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, KBlock = 256>} ins(...) outs(...)
    ```

    Constraints:
    - matmul_config_c1: every thread count and size is positive; `loopOrder` is 0 to 5.
    - matmul_config_c2: a block is a multiple of the innermost block, where both are given.
  }];
  // The ten values in the order above; kUnset for those that are left out.
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kUnset = INT64_MIN;
  }];
}

#endif // XETILE_IR_MATMULCONFIGATTR_TD

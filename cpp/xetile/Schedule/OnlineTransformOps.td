// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_ONLINETRANSFORMOPS_TD
#define XETILE_SCHEDULE_ONLINETRANSFORMOPS_TD

include "xetile/Schedule/TransformOpBase.td"

def OnlineOp : XeTile_TransformOp<"online", [AttrSizedOperandSegments]> {
  let summary = "Computes reductions that depend on a maximum, a mean or products in one loop over blocks";
  let description = [{
    A softmax needs the maximum of a row before it can sum powers, and the sums before it can divide:

        m = max_n S[n];  P[n] = exp(S[n] - m);  l = sum_n P[n];  O = sum_n P[n] V[n];  Y = O / l

    Sums of powers are proportional to exp(-m). One loop over blocks of n carries all reductions with the maximum of what it
    has seen, and multiplies the sums so far by exp(m before - m now) where that grows. Scores S are computed a block at a
    time, by a contraction of queries and keys, say, and never exist as a whole.

    A variance needs the mean before it can sum squares:

        s = sum_n x[n];  q = sum_n (x[n] - s / N)^2

    The loop carries the sum s and the squares q about the mean of what it has seen, b elements; a block of c, whose sum is s' and
    whose squares about its own mean are q', makes them s + s' and q + q' + (s' / c - s / b)^2 b c / (b + c), by which numbers far
    from zero keep their digits.

    `target` is the last of the reductions, a sum or a contraction in a `linalg.generic`, or a function, of which the last such
    is taken. With it go the reductions along the same dimension that it depends on, and those of the same elements beside
    it. `block` is the number of elements of n in a block, 0 leaves it to the op: 64, or 128 where O has 65 to 128
    columns and no operand is bf16. What is left over of n, less than a block, follows behind the loop. `loops` are the loops.

    Of a `target` whose tiles have sizes of its own, as "sm_90a", what is left over is a block like the others, in the same
    loop: scores of elements that do not exist are minus infinity, and tiles read zeros there.

    ```mlir
    %loop = transform.xetile.online %func block = %keys : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    ```

    With blocks of 64 of 256 keys, bodies of `linalg.generic` in short,

    ```mlir
    %S = linalg.generic ins(%Q, %K : tensor<128x64xf16>, tensor<256x64xf16>) -> tensor<128x256xf32>     // sum_d Q[m, d] K[n, d]
    %m = linalg.generic ins(%S) outs(%lowest) -> tensor<128xf32>                                        // max_n S[m, n]
    %P = linalg.generic ins(%S, %m) -> tensor<128x256xf16>                                              // exp(S[m, n] - m[m])
    %l = linalg.generic ins(%P) outs(%zero) -> tensor<128xf32>                                          // sum_n P[m, n]
    %N = linalg.generic ins(%P, %l) -> tensor<128x256xf16>                                              // P[m, n] / l[m]
    %Y = linalg.generic ins(%N, %V : tensor<128x256xf16>, tensor<256x64xf16>) -> tensor<128x64xf32>     // sum_n N[m, n] V[n, d]
    ```

    becomes

    ```mlir
    %r:3 = scf.for %n = %c0 to %c256 step %c64 iter_args(%mo = %lowest, %lo = %zero, %Oo = %zeros) {
      %Kn = tensor.extract_slice %K[%n, 0] [64, 64] [1, 1]
      %Sn = linalg.generic ins(%Q, %Kn) -> tensor<128x64xf32>
      %mn = linalg.generic ins(%Sn) outs(%mo) -> tensor<128xf32>
      %Pn = linalg.generic ins(%Sn, %mn) -> tensor<128x64xf16>         // exp(S - max(m, lowest number))
      %f  = linalg.generic ins(%mo, %mn) -> tensor<128xf32>            // exp(mo - max(mn, lowest number))
      %ln = linalg.generic ins(%Pn) outs(%lo * %f) -> tensor<128xf32>
      %Vn = tensor.extract_slice %V[%n, 0] [64, 64] [1, 1]
      %On = linalg.generic ins(%Pn, %Vn) outs(%Oo * %f) -> tensor<128x64xf32>
      scf.yield %mn, %ln, %On
    }
    %l = linalg.generic ins(%r#0, %r#1)                                // m == -inf ? NaN : l, without a comparison
    %Y = linalg.generic ins(%r#0, %r#2, %l)                            // (m == -inf ? NaN : O) / l
    ```

    Sums of f16 and bf16 are carried as f32. Rows of which a block, or all so far, is minus infinity are sums of zero; rows that
    are minus infinity as a whole are NaN in the end, as exp(-inf - -inf) was, unless the payload itself subtracts something
    else from them. NaN among the scores makes the row NaN.

    And a variance, with blocks of 1024 of 100,000 elements,

    ```mlir
    %s = linalg.generic ins(%x : tensor<4x100000xf32>) outs(%zero) -> tensor<4xf32>                     // sum_n x[m, n]
    %d = linalg.generic ins(%x, %s) -> tensor<4x100000xf32>                                             // x[m, n] - s[m] / 100000
    %q = linalg.generic ins(%d) outs(%zero) -> tensor<4xf32>                                            // sum_n d[m, n]^2
    ```

    becomes

    ```mlir
    %r:2 = scf.for %n = %c0 to %c99328 step %c1024 iter_args(%so = %zero, %qo = %zero) {
      %xn = tensor.extract_slice %x[0, %n] [4, 1024] [1, 1]
      %sn = linalg.generic ins(%xn) outs(%zeros) -> tensor<4xf32>      // of the block alone
      %st = linalg.generic ins(%so, %sn) -> tensor<4xf32>              // so + sn
      %qn = linalg.generic ins(%xn, %sn) outs(%zeros) -> tensor<4xf32> // sum (x - sn / 1024)^2
      %qt = linalg.generic ins(%qo, %qn, %so, %sn) -> tensor<4xf32>    // qo + qn + (sn / 1024 - so / n)^2 * 1024 n / (n + 1024)
      scf.yield %st, %qt
    }
    ...                                                                // the 672 elements that are left, alike
    %q = linalg.generic ins(%q', %s)                                   // q' + 100000 (s / 100000 - r)^2, r: what was subtracted
    ```

    With `products` the last one may also be a product, or another reduction, of what other products make, as layers of a
    perceptron are:

        H[m, n] = f(sum_k X[m, k] W[k, n], sum_k X[m, k] U[k, n]);  Y[m, p] = sum_n H[m, n] V[n, p]

    The loop carries Y, and computes a block of H, which never exists as a whole, where it is read. With blocks of 64 of 256
    hidden values,

    ```mlir
    %S = linalg.generic ins(%X, %W : tensor<128x64xf16>, tensor<64x256xf16>) -> tensor<128x256xf32>     // sum_k X[m, k] W[k, n]
    %H = linalg.generic ins(%S) -> tensor<128x256xf16>                                                  // f(S[m, n])
    %Y = linalg.generic ins(%H, %V : tensor<128x256xf16>, tensor<256x32xf16>) -> tensor<128x32xf32>     // sum_n H[m, n] V[n, p]
    ```

    becomes

    ```mlir
    %r = scf.for %n = %c0 to %c256 step %c64 iter_args(%Yo = %zeros) {
      %Wn = tensor.extract_slice %W[0, %n] [64, 64] [1, 1]
      %Sn = linalg.generic ins(%X, %Wn) -> tensor<128x64xf32>
      %Hn = linalg.generic ins(%Sn) -> tensor<128x64xf16>
      %Vn = tensor.extract_slice %V[%n, 0] [64, 32] [1, 1]
      %Yn = linalg.generic ins(%Hn, %Vn) outs(%Yo) -> tensor<128x32xf32>
      scf.yield %Yn
    }
    ```

    With `lazy`, a number t of 2 or more, maxima need not be those of each step: 2^t is a sum of powers up to which any
    maximum of an earlier step goes. The loop says so (`xetile.lazy`), and is otherwise as without it; what is right for tiles of
    a subgroup, a maximum that is only taken where a sum passes 2^t, is made of it later (`xetile-lazy-maxima`). The
    difference is rounding, as the sums are of larger numbers. 0 is a maximum in each step.

    Other uses of what lies between stay as they are, behind the loop: with `%l` as target the powers of a row softmax are
    computed of both statistics, m and l.

    Where all reductions see minus infinity of rows below or above their own elements by a constant, as a causal mask or a window
    that is compared of `linalg.index` makes it, the loop says so: `xetile.reach` is which result and dimension the rows are,
    and the offsets of the first and last element that row r sees, r + first and r + last (2^40 where they begin or end with the loop).
    Comparisons that make the mask have their result in between, `xetile.seen`. `to_tiles` leaves out the steps that no row of
    a tile sees. Masks of other forms are computed in each step.

    Silenceable failures, at the op that does not fit:
    - online_c1: the target is a `linalg.generic` with one reduced dimension, or a function with one; it and what it depends on up
      to contractions have one result, sizes that are known, and operands that are indexed by dimensions alone, each by one.
    - online_c2: elements of the target are products with exp(x - m) or exp2(x - m), maybe of that difference times a constant; they
      may be divided and multiplied by what depends on the reductions, and a condition of that may replace them by zero. Or they
      are products with (x - r)^2.
    - online_c3: m is computed of maxima of the same x.
    - online_c4: such elements are summed from zero, and the sum keeps all dimensions of what it depends on.
    - online_c6: r is computed of a sum of the same x from zero, by whatever factor; x does not depend on its place.
    - online_c7: with `products`, where nothing depends on another, the target reduces what is computed of products
      with a dimension along n.
    - online_c8: with `lazy`, scores are products of f16 or bf16, times constants, and only powers use the maxima.
    Definite failures:
    - online_c5: the block is 0 to 1048576.
    - online_c9: 2^`lazy`, sums of powers, times the largest value is a number of f32: at most 111 for values of f16, 63
      for others, which may be as large as sums are; and powers of one of a block are lost beside it, 26 + log2 of the
      block at least, so that a step is not done again for ever.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$block,
      Optional<TransformParamTypeInterface>:$lazy, Optional<TransformParamTypeInterface>:$chip, UnitAttr:$products);
  let results = (outs TransformHandleTypeInterface:$loops);
  let assemblyFormat = [{
    $target `block` `=` $block (`lazy` `=` $lazy^)? (`target` `=` $chip^)? (`products` $products^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def SplitKeysOp : XeTile_TransformOp<"split_keys"> {
  let summary = "Splits the keys of an attention with few queries among workgroups";
  let description = [{
    An attention of one or few queries, as decoders compute it, has few workgroups, each of which walks over all keys. The
    keys become parts, of each of which workgroups of their own compute maximum, sum and output, and what these give
    together is computed behind them:

        m_s = max_n S_s[n];  l_s = sum_n exp(S_s[n] - m_s);  O_s = sum_n exp(S_s[n] - m_s) V_s[n]      (n in part s)
        m = max_s m_s;  l = sum_s l_s exp(m_s - m);  O = sum_s O_s exp(m_s - m);  Y = O / l

    `target` are functions after `xetile-simplify-attention`, of which the last reductions that `online` takes are split if
    they end with a product of powers and values. The ops of the parts have the number of a kernel, `xetile.kernel`, and are
    of the schedule "attention"; `isolate_kernel` takes them out, and `online` makes a loop of them. Products of a single
    query have a dimension of rows there.

    ```mlir
    transform.xetile.split_keys %func parts = %parts target = %target
        : !transform.any_op, !transform.param<i64>, !transform.any_param
    ```

    With 4 parts of 4096 keys, bodies in short,

    ```mlir
    %S = linalg.generic ins(%Q, %K : tensor<16x1x64xf16>, tensor<16x4096x64xf16>) -> tensor<16x1x4096xf32>
    %m = linalg.generic ins(%S) outs(%lowest) -> tensor<16x1xf32>
    %P = linalg.generic ins(%S, %m) -> tensor<16x1x4096xf16>
    %l = linalg.generic ins(%P) outs(%zero) -> tensor<16x1xf32>
    %O = linalg.generic ins(%P, %V : tensor<16x1x4096xf16>, tensor<16x4096x64xf16>) -> tensor<16x1x64xf32>
    ```

    becomes

    ```mlir
    %Ks = tensor.expand_shape %K : tensor<16x4096x64xf16> into tensor<16x4x1024x64xf16>
    %Vs = tensor.expand_shape %V : tensor<16x4096x64xf16> into tensor<16x4x1024x64xf16>
    %Ss = linalg.generic {xetile.kernel = 0, ..} ins(%Q, %Ks) -> tensor<4x16x1x1024xf32>
    %ms = linalg.generic {xetile.kernel = 0, ..} ins(%Ss) outs(%lowests) -> tensor<4x16x1xf32>
    %Ps = linalg.generic {xetile.kernel = 0, ..} ins(%Ss, %ms) -> tensor<4x16x1x1024xf16>
    %ls = linalg.generic {xetile.kernel = 0, ..} ins(%Ps) outs(%zeros) -> tensor<4x16x1xf32>
    %Os = linalg.generic {xetile.kernel = 0, ..} ins(%Ps, %Vs) -> tensor<4x16x1x64xf32>
    %m = linalg.generic ins(%ms) outs(%lowest) -> tensor<16x1xf32>                     // over parts
    %l = linalg.generic ins(%ls, %ms, %m) outs(%zero) -> tensor<16x1xf32>
    %O = linalg.generic ins(%Os, %ms, %m) outs(%zero) -> tensor<16x1x64xf32>
    ```

    Where parts do not divide the keys, keys and values are filled up with zeros (`tensor.pad`, which tiles read beyond the
    end of memory), and scores there are minus infinity.

    A part is ceil(keys / parts) keys as a multiple of 16. With 0 parts the keys are split where workgroups fill half of
    their places on the device or less: into as many parts as there are places, of at least 256 keys and 16 keys for each
    query of a workgroup, and at most 64, rather into such that are of one size. 1 splits nothing, but an attention of one
    query is one part at least, as its products have rows there only. Functions without an attention stay.

    Definite failures, of 2 parts or more at the last product:
    - split_keys_c1: `parts` is 0 to 1048576, `target` a chip of the device tables.
    - split_keys_c2: maxima are subtracted from exponents, sums are of their powers, the last one a product with values in
      memory that have one dimension besides keys.
    - split_keys_c3: the keys are that many parts: ceil(keys / (ceil(keys / parts) as a multiple of 16)) is `parts`.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, TransformParamTypeInterface:$parts,
      TransformParamTypeInterface:$chip);
  let assemblyFormat = [{
    $target `parts` `=` $parts `target` `=` $chip attr-dict `:` type($target) `,` type($parts) `,` type($chip)
  }];
}

#endif // XETILE_SCHEDULE_ONLINETRANSFORMOPS_TD

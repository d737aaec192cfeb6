# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text of attentions on tensors, and what they give in f64."""

from __future__ import annotations

from dataclasses import dataclass

import element_types
import numpy as np

DTYPES = element_types.scalars("f16", "bf16", "f32")


@dataclass(frozen=True)
class Attention:
    """softmax(mask(scale Q K^T)) V; heads share `key_heads` of keys, `mask` is none, causal, window, added or selected.

    Of a causal mask query i sees keys up to i + `offset`, of a window those from i + `first` on.
    """

    batch: int = 1
    heads: int = 2
    rows: int = 64
    keys: int = 64
    inner: int = 64
    values: int = 64
    dtype: str = "f16"
    key_heads: int = 0
    mask: str = "none"
    scale: float = 0.125
    result: str = "f32"
    offset: int = 0
    first: int = 0
    low: float = -np.inf

    def shared(self) -> int:
        return self.key_heads or self.heads

    def text(self) -> str:
        b, h, m, n, d, v, t = (
            self.batch, self.shared(), self.rows, self.keys, self.inner, self.values, self.dtype,
        )  # fmt: skip
        g = self.heads // h
        kinds = {
            "Q": f"tensor<{b}x{h}x{g}x{m}x{d}x{t}>",
            "K": f"tensor<{b}x{h}x{n}x{d}x{t}>",
            "V": f"tensor<{b}x{h}x{n}x{v}x{t}>",
        }
        if self.mask == "added":
            kinds["M"] = f"tensor<{m}x{n}xf32>"
        if self.mask == "selected":
            kinds["M"] = f"tensor<{m}x{n}xi8>"
        score, power = f"tensor<{b}x{h}x{g}x{m}x{n}xf32>", f"tensor<{b}x{h}x{g}x{m}x{n}x{t}>"
        row, out = f"tensor<{b}x{h}x{g}x{m}xf32>", f"tensor<{b}x{h}x{g}x{m}x{v}xf32>"
        done = f"tensor<{b}x{h}x{g}x{m}x{v}x{self.result}>"
        args = ", ".join(f"%{name}: {kind}" for name, kind in kinds.items())
        extend = "" if t == "f32" else f"%xe = arith.extf %x : {t} to f32\n%ye = arith.extf %y : {t} to f32"
        x, y = ("%x", "%y") if t == "f32" else ("%xe", "%ye")
        product = f"""^bb0(%x: {t}, %y: {t}, %o: f32):
          {extend}
          %xy = arith.mulf {x}, {y} : f32
          %r = arith.addf %o, %xy : f32
          linalg.yield %r : f32"""
        masked = (
            {
                "none": "%r = arith.mulf %s, %scale : f32",
                "causal": """%f = arith.mulf %s, %scale : f32
              %i = linalg.index 3 : index
              %j = linalg.index 4 : index
              %by = arith.constant OFFSET : index
              %to = arith.addi %i, %by : index
              %c = arith.cmpi sle, %j, %to : index
              %r = arith.select %c, %f, %low : f32""",
                "window": """%f = arith.mulf %s, %scale : f32
              %i = linalg.index 3 : index
              %j = linalg.index 4 : index
              %by = arith.constant OFFSET : index
              %to = arith.addi %i, %by : index
              %c = arith.cmpi sle, %j, %to : index
              %less = arith.constant FIRST : index
              %from = arith.addi %i, %less : index
              %d = arith.cmpi sge, %j, %from : index
              %e = arith.andi %c, %d : i1
              %r = arith.select %e, %f, %low : f32""",
                "added": "%f = arith.mulf %s, %scale : f32\n%r = arith.addf %f, %mask : f32",
                "selected": """%f = arith.mulf %s, %scale : f32
              %zero8 = arith.constant 0 : i8
              %c = arith.cmpi ne, %mask, %zero8 : i8
              %r = arith.select %c, %f, %low : f32""",
            }[self.mask]
            .replace("OFFSET", str(self.offset))
            .replace("FIRST", str(self.first))
        )
        has_mask = "M" in kinds
        mask_map = "affine_map<(b, h, g, m, n) -> (m, n)>, " if has_mask else ""
        mask_arg = f"%mask: {'f32' if self.mask == 'added' else 'i8'}, " if has_mask else ""
        mask_in = f", {kinds['M']}" if has_mask else ""
        all5 = "affine_map<(b, h, g, m, n) -> (b, h, g, m, n)>"
        row5 = "affine_map<(b, h, g, m, n) -> (b, h, g, m)>"
        five, four = ", ".join(['"parallel"'] * 5), ", ".join(['"parallel"'] * 4)
        narrow = "linalg.yield %q : f32" if t == "f32" else f"%z = arith.truncf %q : f32 to {t}\nlinalg.yield %z : {t}"
        return f"""func.func @attention({args}) -> {done} {{
          %zero = arith.constant 0.0 : f32
          %low = arith.constant {"0xFF800000" if np.isinf(self.low) else format(self.low, ".6e")} : f32
          %least = arith.constant 0xFF800000 : f32
          %scale = arith.constant {self.scale} : f32
          %es = tensor.empty() : {score}
          %ep = tensor.empty() : {power}
          %er = tensor.empty() : {row}
          %eo = tensor.empty() : {out}
          %zs = linalg.fill ins(%zero : f32) outs(%es : {score}) -> {score}
          %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
          %lr = linalg.fill ins(%least : f32) outs(%er : {row}) -> {row}
          %zo = linalg.fill ins(%zero : f32) outs(%eo : {out}) -> {out}
          %S = linalg.generic {{indexing_maps = [affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>,
              affine_map<(b, h, g, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>],
              iterator_types = [{five}, "reduction"]}} ins(%Q, %K : {kinds["Q"]}, {kinds["K"]}) outs(%zs : {score}) {{
          {product}
          }} -> {score}
          %F = linalg.generic {{indexing_maps = [{all5}, {mask_map}{all5}], iterator_types = [{five}]}}
              ins(%S{", %M" if has_mask else ""} : {score}{mask_in}) outs(%es : {score}) {{
          ^bb0(%s: f32, {mask_arg}%o: f32):
            {masked}
            linalg.yield %r : f32
          }} -> {score}
          %m = linalg.generic {{indexing_maps = [{all5}, {row5}], iterator_types = [{four}, "reduction"]}}
              ins(%F : {score}) outs(%lr : {row}) {{
          ^bb0(%s: f32, %o: f32):
            %r = arith.maximumf %o, %s : f32
            linalg.yield %r : f32
          }} -> {row}
          %E = linalg.generic {{indexing_maps = [{all5}, {row5}, {all5}], iterator_types = [{five}]}}
              ins(%F, %m : {score}, {row}) outs(%es : {score}) {{
          ^bb0(%s: f32, %t: f32, %o: f32):
            %d = arith.subf %s, %t : f32
            %r = math.exp %d : f32
            linalg.yield %r : f32
          }} -> {score}
          %l = linalg.generic {{indexing_maps = [{all5}, {row5}], iterator_types = [{four}, "reduction"]}}
              ins(%E : {score}) outs(%zr : {row}) {{
          ^bb0(%s: f32, %o: f32):
            %r = arith.addf %o, %s : f32
            linalg.yield %r : f32
          }} -> {row}
          %P = linalg.generic {{indexing_maps = [{all5}, {row5}, {all5}], iterator_types = [{five}]}}
              ins(%E, %l : {score}, {row}) outs(%ep : {power}) {{
          ^bb0(%s: f32, %t: f32, %o: {t}):
            %q = arith.divf %s, %t : f32
            {narrow}
          }} -> {power}
          %O = linalg.generic {{indexing_maps = [affine_map<(b, h, g, m, n, d) -> (b, h, g, m, n)>,
              affine_map<(b, h, g, m, n, d) -> (b, h, n, d)>, affine_map<(b, h, g, m, n, d) -> (b, h, g, m, d)>],
              iterator_types = [{four}, "reduction", "parallel"]}}
              ins(%P, %V : {power}, {kinds["V"]}) outs(%zo : {out}) {{
          {product}
          }} -> {out}
          return %O : {done}
        }}"""

    def arrays(self, seed: int = 0, size: float = 1.0) -> list[np.ndarray]:
        """Q, K, V and the mask; `size` times the scores of numbers around one."""
        rng = np.random.default_rng(seed)
        h, dtype = self.shared(), DTYPES[self.dtype]
        shapes = [
            (self.batch, h, self.heads // h, self.rows, self.inner),
            (self.batch, h, self.keys, self.inner),
            (self.batch, h, self.keys, self.values),
        ]
        arrays = [rng.standard_normal(shape).astype(np.float32).astype(dtype) for shape in shapes]
        arrays[0] = (arrays[0] * dtype(size)).astype(dtype)
        if self.mask == "added":
            arrays.append(rng.standard_normal((self.rows, self.keys)).astype(np.float32))
        if self.mask == "selected":
            seen = rng.random((self.rows, self.keys)) < 0.5
            seen[:, 0] = True
            arrays.append(seen.astype(np.int8))
        return arrays

    def reference(self, arrays: list[np.ndarray]) -> np.ndarray:
        q, k, v = (array.astype(np.float64) for array in arrays[:3])
        scores = np.einsum("bhgmd,bhnd->bhgmn", q, k) * self.scale
        if self.mask in ("causal", "window"):
            seen = np.tril(np.ones((self.rows, self.keys), bool), self.offset)
            if self.mask == "window":
                seen &= np.triu(np.ones((self.rows, self.keys), bool), self.first)
            scores = np.where(seen, scores, self.low)
        if self.mask == "added":
            scores = scores + arrays[3]
        if self.mask == "selected":
            scores = np.where(arrays[3] != 0, scores, -np.inf)
        with np.errstate(invalid="ignore"):
            powers = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bhgmn,bhnd->bhgmd", powers / powers.sum(-1, keepdims=True), v)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md and docs/torch.md show of PyTorch."""

import re

import pytest
import readme_blocks

torch = pytest.importorskip("torch", reason="needs the extra: pip install 'xetile[torch]'")
pytest.importorskip("torch_mlir", reason="needs the extra: pip install 'xetile[torch]'")


def test_lines_of_the_readme():
    (source,) = readme_blocks.blocks_after("test: torch")
    torch._dynamo.reset()
    names: dict = {}
    exec(source, names)
    model, compiled = names["model"], names["compiled"]
    gradients = [parameter.grad for parameter in model.parameters()]
    assert len(gradients) == 4 and all(gradient is not None for gradient in gradients)
    # Compiled by us, with the gradient of the model itself.
    x = torch.rand(32, 64)
    model.zero_grad()
    compiled(x).sum().backward()
    got = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for ours, theirs in zip(got, (parameter.grad for parameter in model.parameters()), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_lines_of_the_page():
    import xetile.torch

    text = (readme_blocks.ROOT / "docs" / "torch.md").read_text()
    (source,) = re.findall(r"^```\n(compiled = .*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    torch._dynamo.reset()
    names = {"torch": torch, "xetile": xetile, "model": torch.nn.Linear(8, 4), "x": torch.rand(3, 8)}
    exec(source, names)
    expected = names["model"](names["x"]).detach()
    torch.testing.assert_close(names["compiled"](names["x"]).detach(), expected)
    torch.testing.assert_close(torch.as_tensor(names["kernel"](names["x"])), expected)
    assert "linalg." in str(names["module"])

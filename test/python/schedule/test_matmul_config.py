# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fields of a matmul's configuration: C++ defines them, Python and the schedule follow; loop orders by name."""

from __future__ import annotations

import pickle

import pytest
from deep_tile_cases import SMALL, plain
from xetile import XeTileError, cli, cpu, schedule
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

FIELDS = dict(_xetile.matmul_fields())
ORDERS = _xetile.matmul_loop_orders()


def test_python_has_the_fields_of_the_compiler():
    assert list(cpu.MatmulConfig.__dataclass_fields__) == list(FIELDS)
    assert all(
        f"`{name}`" in cpu.MatmulConfig.__doc__ and doc in cpu.MatmulConfig.__doc__ for name, doc in FIELDS.items()
    )
    assert cpu.MatmulConfig().to_json() == "{}"


def test_the_attribute_has_the_fields_of_the_compiler():
    text = f"#xetile.matmul_config<{', '.join(f'{name} = 2' for name in FIELDS)}>"
    with ir.Context():
        assert str(ir.Attribute.parse(text)) == text


def test_the_schedule_has_a_parameter_for_each_field():
    params = {
        name: param for name, param in schedule.load("cpu_matmul").params.items() if name not in ("threads", "pack")
    }
    assert list(params) == list(FIELDS)
    for name, param in params.items():
        assert param.doc.partition(";")[0] == FIELDS[name]
        assert (param.default, param.minimum) == ((-1, -1) if name == "loopOrder" else (0, 0))
    assert (params["loopOrder"].maximum, params["loopOrder"].names) == (len(ORDERS) - 1, tuple(ORDERS))


def test_configurations_are_values():
    config = cpu.MatmulConfig(MBlock=32, loopOrder=4)
    assert repr(config).startswith("MatmulConfig(MThreads=None, ")
    assert pickle.loads(pickle.dumps(config)) == config != cpu.MatmulConfig(MBlock=32)
    assert len({config, cpu.MatmulConfig(MBlock=32, loopOrder=4)}) == 1
    with pytest.raises(AttributeError):
        config.MBlock = 8


@pytest.mark.parametrize("number", range(6))
def test_the_name_of_a_loop_order_is_its_number(number):
    config = cpu.MatmulConfig(loopOrder=ORDERS[number])
    assert config.loopOrder == number
    assert config == cpu.MatmulConfig.of({"loopOrder": number})
    assert cpu.MatmulConfig.from_json(f'{{"loopOrder": "{ORDERS[number]}"}}') == config
    assert config.to_json() == f'{{"loopOrder": {number}}}'


@pytest.mark.parametrize("value", ["mnn", "", "MNK", "3", 2.0, True, ["mnk"], 2**63])
def test_other_loop_orders_are_refused(value):
    with pytest.raises(XeTileError, match="loopOrder: expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm, got "):
        cpu.MatmulConfig(loopOrder=value)


def test_a_size_has_no_name():
    with pytest.raises(XeTileError, match="MBlock: expected an integer of 64 bits, got 'mnk'"):
        cpu.MatmulConfig(MBlock="mnk")


@pytest.fixture(scope="module")
def tiled() -> str:
    """A matmul of several blocks with the loop order that is 5."""
    return cpu.compile(plain(40, 50, 60), config={**SMALL, "loopOrder": 5}, threads=1).stages["1-tiled"]


def test_compile_takes_the_name_of_a_loop_order(tiled):
    named = cpu.compile(plain(40, 50, 60), config={**SMALL, "loopOrder": "knm"}, threads=1)
    assert named.stages["1-tiled"] == tiled
    other = cpu.compile(plain(40, 50, 60), config={**SMALL, "loopOrder": "mnk"}, threads=1)
    assert other.stages["1-tiled"] != tiled


def test_a_schedule_takes_the_name_of_a_loop_order(tiled):
    chosen = schedule.load("cpu_matmul").with_params(**SMALL, threads=1, loopOrder="knm")
    assert chosen.params["loopOrder"].value == 5
    with pytest.raises(XeTileError, match="loopOrder: expected an integer, or one of mnk, .*, got 'kkk'"):
        chosen.with_params(loopOrder="kkk")
    assert cpu.compile(plain(40, 50, 60), schedule=chosen).stages["1-tiled"] == tiled


def test_names_of_a_parameter_are_strings(tmp_path):
    text = schedule.load("cpu_matmul")
    broken = str(text).replace('names = ["mnk", "mkn", "nmk", "nkm", "kmn", "knm"]', "names = [0, 1]")
    (tmp_path / "broken.mlir").write_text(broken)
    with pytest.raises(XeTileError, match="parameter 'loopOrder' of the schedule: names: expected a list of strings"):
        schedule.load(tmp_path / "broken.mlir")


@pytest.mark.parametrize("options", [[], ["--schedule", "cpu_matmul"]], ids=["pass", "schedule"])
def test_the_command_takes_the_name_of_a_loop_order(tmp_path, capsys, tiled, options):
    source = tmp_path / "matmul.mlir"
    source.write_text(str(plain(40, 50, 60)))

    def run(order: str) -> int:
        values = {**SMALL, "threads": 1, "loopOrder": order}
        settings = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        folder = ["--dump-stages", str(tmp_path / order), "-o", str(tmp_path / "k.so")]
        return cli.main(["compile", str(source), "--target", "cpu", *options, *settings, *folder])

    assert run("knm") == 0
    assert (tmp_path / "knm" / "1-tiled.mlir").read_text() == tiled
    assert run("kkk") == 1
    assert "mnk, mkn, nmk, nkm, kmn, knm, got 'kkk'" in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old names of modules: the same objects, with and without `from`, for `python -m`, in a fresh process."""

import subprocess
import sys
from importlib import import_module

import pytest
from xetile import _moved


@pytest.mark.parametrize("name", [*_moved.MOVED, *_moved.PUBLIC])
def test_an_old_name_is_the_module(name):
    now = {**_moved.MOVED, **_moved.PUBLIC}[name]
    module = import_module(name)
    assert module is import_module(now) is sys.modules[name]
    assert module.__spec__ is not None and module.__name__ == module.__spec__.name == now


def test_old_names_are_found_first_and_later():
    code = (
        "from xetile.signature import Signature\n"
        "import xetile.kernels.signature as now, xetile.signature as old\n"
        "import xetile\nfrom xetile import files, signature\n"
        "assert xetile.tools.__name__ == 'xetile.system.tools' and files is xetile.files\n"
        "assert signature is old is now and Signature is now.Signature"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_old_name_runs():
    code = subprocess.run([sys.executable, "-m", "xetile.files"], capture_output=True, text=True)
    assert (code.returncode, code.stdout, code.stderr) == (0, "", "")


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError, match="No module named 'xetile.dreams'"):
        import_module("xetile.dreams")

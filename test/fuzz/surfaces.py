# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kind "surfaces": the Python functions and the command with wrong types and values, odd arrays, files, environments.

A case has "what" it does and "env", variables that are set meanwhile:
  call     {"function", "arguments": {name: expression}}    a Python function
  kernel   {"kernel", "arguments": [expression], "out"}     a kernel, with odd arrays
  command  {"argv", "child", "stdout"}                      the command, here or in a process of its own
Right outcomes are success and XeTileError, for the command status 0, or 1 or 2 with one message. Everything else is a
finding, as is a file outside of the worker's directory.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import native
import numpy as np
import surface_values as values
from harness import count
from surface_names import KERNELS, SMALL, Names

Case = dict[str, Any]


class Surfaces:
    name = "surfaces"
    time_limit = 20.0
    memory = 3 << 30

    def prepare(self) -> None:
        import xetile
        from xetile import cli
        from xetile.system import tools

        self.xetile, self.cli = xetile, cli
        self.home = Path.cwd()
        if ocloc := tools.find_ocloc():
            os.environ["XETILE_OCLOC"] = str(ocloc)
        os.environ["XETILE_CACHE"] = str(self.shared / "cache")
        os.environ["HOME"] = str(self.home)
        os.environ["XETILE_TRACEBACK"] = "1"
        os.environ.setdefault("OMP_NUM_THREADS", "2")
        self.needed: dict[str, set[str]] = {}
        self.known = Names(self.shared)
        self.names = self.known.all()
        native.print_stack_traces()  # of LLVM, which is loaded by now

    # Making cases.

    def generate(self, rng: random.Random) -> Case:
        kind = rng.random()
        env = {}
        if rng.random() < 0.15:
            name = rng.choice(list(values.ENVIRONMENT))
            env[name] = rng.choice(values.ENVIRONMENT[name])
        if kind < 0.5:
            return {"what": "call", "env": env, **self._call(rng)}
        if kind < 0.72:
            return {"what": "kernel", "env": env, **self._kernel_call(rng)}
        child = rng.random() < 0.12
        stdout = rng.choice(["pipe", "pipe", "full", "closed", "broken"]) if child else "pipe"
        return {"what": "command", "env": env, "argv": self._argv(rng), "child": child, "stdout": stdout}

    def _call(self, rng: random.Random) -> Case:
        names = list(values.CALLS)
        function = rng.choices(names, [values.CALLS[name][0] for name in names])[0]
        arguments = {}
        needed = self._needed(function)
        for name, right in values.CALLS[function][1].items():
            if name in needed or rng.random() < 0.4:
                arguments[name] = rng.choice(values.WRONG) if rng.random() < 0.35 else rng.choice(right)
        return {"function": function, "arguments": arguments}

    def _needed(self, function: str) -> set[str]:
        """The parameters that have no default; Python itself complains about those."""
        if function not in self.needed:
            parameters = list(values.CALLS[function][1])
            try:
                known = inspect.signature(self._value(_inner(function))).parameters.values()
                self.needed[function] = {item.name for item in known if item.default is item.empty}
            except ValueError:
                self.needed[function] = set(parameters[:1])
        return self.needed[function]

    def _kernel_call(self, rng: random.Random) -> Case:
        name = rng.choices(list(KERNELS), [4, 2, 3, 3, 1])[0]
        odd = rng.random()
        arguments = [rng.choice(values.LIKE) for _ in KERNELS[name][1]]
        if odd < 0.5:
            arguments[rng.randrange(len(arguments))] = rng.choice(values.UNLIKE)
        elif odd < 0.6:
            arguments = arguments[:-1] if rng.random() < 0.5 else [*arguments, "plain"]
        out = "None"
        if rng.random() < 0.3 and name != "gpu":
            out = rng.choice(
                [*values.UNLIKE, *values.LIKE, "(plain,plain)", "arguments[0]", "()", "(plain,plain.copy())"]
            )
        return {"kernel": name, "arguments": arguments, "out": out}

    def _argv(self, rng: random.Random) -> list[str]:
        names = list(values.COMMANDS)
        command = rng.choices(names, [values.COMMANDS[name][0] for name in names])[0]
        argv = [command] if command else []
        for option, choices in values.COMMANDS[command][1].items():
            needed = option in ("IN", "-o", "--device", "--shape", "--dpas", "--type")
            if rng.random() > (0.95 if needed else 0.25):
                continue
            if option != "IN":
                argv.append(option)
            if choices:
                # The first ones are right.
                right = choices[: max(2, len(choices) // 3)]
                argv.append(rng.choice(right if rng.random() < 0.6 else choices))
        if rng.random() < 0.05:
            argv.insert(
                rng.randrange(len(argv) + 1), rng.choice(["--nosuch", "", "\udcff", "--", "-", "@good.mlir", "-h"])
            )
        if command in ("compile", "run") and "cpu" not in argv and rng.random() < 0.8:
            argv += [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
        return argv

    # Checking.

    def check(self, case: Case) -> str | None:
        self._tidy()
        before = {*self.home.parent.iterdir()}
        saved = dict(os.environ)
        os.environ.update({name: value for name, value in case["env"].items() if "\0" not in value})
        tempfile.tempdir = None if "TMPDIR" in case["env"] else str(self.home)
        try:
            found = getattr(self, "_check_" + case["what"])(case)
        except Exception as error:  # noqa: BLE001  that is what is looked for
            found = _exception(error)
        finally:
            os.environ.clear()
            os.environ.update(saved)
            os.chdir(self.home)
        return found or "".join(
            f"writes {path} outside of its directory" for path in {*self.home.parent.iterdir()} - before
        )

    def _tidy(self) -> None:
        os.chdir(self.home)
        for path in self.home.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, data in self.known.files.items():
            Path(name).write_bytes(data)
        Path("dir.mlir").mkdir()
        Path("loop.mlir").symlink_to("loop.mlir")
        Path("full").symlink_to("/dev/full")
        os.mkfifo("fifo")

    def _check_call(self, case: Case) -> str | None:
        arguments = {}
        keywords = {}
        for name, expression in case["arguments"].items():
            value = self._value(expression)
            (keywords if name.startswith("*") else arguments)[name.lstrip("*")] = value
        inner = _inner(case["function"])
        function = self._value(inner)
        try:
            result = _call(function, arguments, keywords)
            if inner != case["function"]:
                self._value(case["function"].partition("(")[0])(result)
            count("calls that succeed")
        except self.xetile.XeTileError as error:
            return self._judge_message(str(error))
        except TypeError:
            # A function of the caller's that fails by itself.
            if "len" not in case["arguments"].values():
                raise
        return None

    def _judge_message(self, message: str) -> str | None:
        if not message.strip():
            return "an error without a message"
        return None

    def _value(self, expression: str, **more: Any) -> Any:
        return eval(expression, {**self.names, **more})  # noqa: S307  our own expressions

    def _check_kernel(self, case: Case) -> str | None:
        try:
            kernel = self.known.kernel(case["kernel"])
        except self.xetile.XeTileError as error:
            return self._judge_message(str(error))  # of the environment: no ocloc, no temporary folder
        specs = KERNELS[case["kernel"]][1]
        rng = np.random.default_rng(1)
        plain, arguments, equal = [], [], []
        for number, expression in enumerate(case["arguments"]):
            shape, dtype = specs[min(number, len(specs) - 1)]
            plain.append(rng.uniform(-1, 1, shape).astype(dtype))
            try:
                arguments.append(self._value(expression, plain=plain[-1].copy()))
            except Exception:  # noqa: BLE001  NumPy cannot make this one of that array
                return None
            equal.append(expression in values.LIKE)
        try:
            out = self._value(case["out"], plain=np.zeros((8, 8), "f4"), arguments=arguments)
        except ValueError:
            return None
        before = [argument.tobytes() if _small_array(argument) else None for argument in arguments]
        options = {} if case["kernel"] == "gpu" else {"out": out}
        try:
            got = kernel(*arguments, **options)
        except self.xetile.XeTileError as error:
            count("kernels that refuse")
            return self._judge_message(str(error))
        count("kernels that run")
        if case["out"] != "arguments[0]":
            after = [argument.tobytes() if _small_array(argument) else None for argument in arguments]
            if before != after:
                return "a kernel changed an argument"
        if any(isinstance(argument, np.ma.MaskedArray) for argument in arguments):
            return "a masked array loses its mask"
        if len(arguments) != len(specs):
            return f"a kernel of {len(specs)} arguments takes {len(arguments)}"
        if all(equal):
            wanted = kernel(*plain)
            pairs = zip(_tuple(got), _tuple(wanted), strict=True)
            if not all(np.array_equal(a, b) for a, b in pairs):
                return "an odd array gives another result than the plain one of the same values"
        return None

    def _check_command(self, case: Case) -> str | None:
        if case["child"]:
            return self._check_child(case)
        # As Python itself opens them.
        streams = [
            io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, write_through=True)
            for errors in ("strict", "backslashreplace")
        ]
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            try:
                status = self.cli.main(list(case["argv"]))
            except SystemExit as error:
                status = error.code
        said = streams[1].buffer.getvalue().decode(errors="replace")
        return self._judge_command(case, status, said)

    def _check_child(self, case: Case) -> str | None:
        env = {name: value for name, value in os.environ.items() if name != "XETILE_TRACEBACK"}
        command = [sys.executable, "-m", "xetile.cli", *(os.fsencode(word) for word in case["argv"])]
        stdout: Any = subprocess.PIPE
        close = None
        if case["stdout"] == "full":
            stdout = close = open("/dev/full", "wb")  # noqa: SIM115
        elif case["stdout"] == "broken":
            reader, stdout = os.pipe()
            os.close(reader)
        elif case["stdout"] == "closed":
            command = ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command]
        try:
            run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, env=env)
        finally:
            if close:
                close.close()
            if isinstance(stdout, int) and stdout >= 0:
                os.close(stdout)
        said = run.stderr.decode(errors="replace")
        quiet = case["stdout"] in ("closed", "broken")  # nobody is left to tell
        return self._judge_command(case, run.returncode, said, quiet)

    def _judge_command(self, case: Case, status: Any, said: str, quiet: bool = False) -> str | None:
        if status not in (0, 1, 2):
            return f"the command ends with status {status}\n{said}"
        for word in ("Traceback (most", "internal error"):
            if word in said:
                line = next(line for line in reversed(said.splitlines()) if "rror" in line)
                return f"the command shows: {line.strip()}\n{said}"
        messages = (
            said.count("xetile: error: ") + said.count(": error: argument") + (": error: " in said and status == 2)
        )
        quiet = quiet or case["argv"][:1] == ["doctor"]  # tells on stdout
        if status and not messages and not quiet:
            return f"status {status} without a message\n{said}"
        if status == 1 and said.count("xetile: error: ") > 1:
            return f"more than one message\n{said}"
        count("commands that succeed" if not status else "commands that refuse")
        argv = case["argv"]
        if not status and "-o" in argv[:-1] and argv[0] == "compile" and "-h" not in argv:
            place = argv[argv.index("-o") + 1]
            if place not in ("-", "full") and not Path(place).is_file():
                return "the command succeeds and writes nothing"
        return None

    # Showing.

    def reduced(self, case: Case) -> Iterator[Case]:
        for name in case["env"]:
            yield {**case, "env": {key: value for key, value in case["env"].items() if key != name}}
        if case["what"] == "call":
            for name in case["arguments"]:
                rest = {key: value for key, value in case["arguments"].items() if key != name}
                yield {**case, "arguments": rest}
        elif case["what"] == "kernel":
            if case["out"] != "None":
                yield {**case, "out": "None"}
            for place, expression in enumerate(case["arguments"]):
                if expression != "plain":
                    yield {**case, "arguments": [*case["arguments"][:place], "plain", *case["arguments"][place + 1 :]]}
        else:
            if case["child"]:
                yield {**case, "child": False, "stdout": "pipe"}
                if case["stdout"] != "pipe":
                    yield {**case, "stdout": "pipe"}
            for length in (2, 1):
                for place in range(len(case["argv"])):
                    yield {**case, "argv": case["argv"][:place] + case["argv"][place + length :]}

    def describe(self, case: Case) -> str:
        env = "".join(f"{name}={value!r} " for name, value in case["env"].items())
        if case["what"] == "call":
            arguments = ", ".join(f"{name.lstrip('*')}={value}" for name, value in case["arguments"].items())
            end = ")" if _inner(case["function"]) != case["function"] else ""
            return f"{env}{case['function']}({arguments}){end}"
        if case["what"] == "kernel":
            text, specs = KERNELS[case["kernel"]]
            called = f"kernel({', '.join(case['arguments'])}, out={case['out']})"
            chip = "pvc" if case["kernel"] == "gpu" else "cpu"
            return f"{env}{called}, plain arrays being {specs}; {chip} kernel of\n{text}"
        child = f" in a process, stdout {case['stdout']}" if case["child"] else ""
        return f"{env}xetile {' '.join(repr(word) for word in case['argv'])}{child}"


def _inner(function: str) -> str:
    """`compiler.lower` of `drain(compiler.lower`: what is called first."""
    is_open = function.count("(") > function.count(")")
    return function.partition("(")[2] if is_open else function


def _call(function: Any, arguments: dict[str, Any], keywords: dict[str, Any]) -> Any:
    """By position what must be: the rest by name."""
    names = list(arguments)
    if names and names[0] in ("key", "values", "text", "layout", "spirv"):
        return function(arguments.pop(names[0]), **arguments, **keywords)
    return function(**arguments, **keywords)


def _small_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size < 10**6 and not value.dtype.hasobject


def _exception(error: Exception) -> str:
    """Where it was raised comes first: messages tell of the value."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/xetile/" in frame.filename]
    place = f"{Path(frames[-1].filename).name}, {frames[-1].name}" if frames else "the call"
    return f"{type(error).__name__} in {place}\n{error}\n{''.join(traceback.format_exception(error))}"


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


KIND = Surfaces()

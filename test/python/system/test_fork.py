# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in children of fork(), which is how multiprocessing starts processes by default on Linux."""

import ctypes
import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest
import xetile
from xetile import runtime
from xetile.system import forks

SECONDS = 120  # a child that hangs never ends
_PR_SET_PDEATHSIG = 1


def in_child(work):
    """What `work()` gives in a child of fork(); fails if there is no answer."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def run():
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # one that hangs ends with its parent
        try:
            theirs.send((True, work()))
        except BaseException as error:  # noqa: BLE001  the parent raises it
            theirs.send((False, repr(error)))

    process = context.Process(target=run)
    process.start()
    try:
        assert ours.poll(SECONDS), "the child hangs"
        well, value = ours.recv()
    finally:
        process.kill()
        process.join()
    assert well, value
    return value


def payload(dtype):
    return xetile.matmul(150, 130, 70, dtype=dtype)


def arrays(dtype, seed=3):
    rng = np.random.default_rng(seed)
    shapes = ((150, 70), (70, 130), (150, 130))
    a, b, c = (rng.integers(-3, 4, shape) for shape in shapes)
    return (a.astype(dtype), b.astype(dtype), c.astype(np.float32)), (a @ b + c).astype(np.float32)


CASES = {
    "pvc": ("f16", np.float16, {"target": "pvc", "native": "off"}),
    "cpu, 1 thread": ("f32", np.float32, {"target": "cpu", "threads": 1}),
    "cpu, 2 threads": ("f32", np.float32, {"target": "cpu", "threads": 2}),
}


@pytest.fixture(params=CASES)
def case(request):
    name, dtype, options = CASES[request.param]
    values, expected = arrays(dtype)
    return payload(name), options, values, expected


@pytest.mark.parametrize("called", [False, True], ids=["not called before", "called before"])
def test_a_child_calls_what_was_compiled_before(case, called):
    module, options, values, expected = case
    kernel = xetile.compile(module, **options)
    if called:
        np.testing.assert_array_equal(kernel(*values), expected)
    np.testing.assert_array_equal(in_child(lambda: kernel(*values)), expected)
    np.testing.assert_array_equal(kernel(*values), expected)  # the parent still does


def test_a_child_has_the_constants_that_its_parent_uploaded():
    table = "dense<[" + ", ".join(f"{number}.0" for number in range(40)) + "]> : tensor<40xf32>"
    with xetile.mlir.ir.Context():
        module = xetile.mlir.ir.Module.parse(f"""
func.func @f(%x: tensor<40xf32>) -> tensor<40xf32> {{
  %c = arith.constant {table}
  %e = tensor.empty() : tensor<40xf32>
  %y = linalg.add ins(%x, %c : tensor<40xf32>, tensor<40xf32>) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  return %y : tensor<40xf32>
}}""")
    kernel, x = xetile.compile(module, target="pvc", native="off"), np.ones(40, np.float32)
    uploads = runtime.stats().kept_uploads
    np.testing.assert_array_equal(kernel(x), x + np.arange(40))
    assert runtime.stats().kept_uploads == uploads + 1
    np.testing.assert_array_equal(in_child(lambda: kernel(x)), x + np.arange(40))
    np.testing.assert_array_equal(kernel(x), x + np.arange(40))


def test_a_child_reads_explains_and_saves_what_was_compiled_before(case, tmp_path):
    module, options, values, expected = case
    kernel = xetile.compile(module, **options)
    kernel(*values)

    def work():
        kernel.save(tmp_path / "kernel.so")
        return [len(text) for text in kernel.stages.values()], kernel.explain()

    lengths, explained = in_child(work)
    assert lengths == [len(text) for text in kernel.stages.values()]
    assert explained == kernel.explain()
    np.testing.assert_array_equal(xetile.load(tmp_path / "kernel.so")(*values), expected)


def test_a_child_compiles_a_module_of_its_parent(case):
    module, options, values, expected = case
    xetile.compile(module, **options)
    np.testing.assert_array_equal(in_child(lambda: xetile.compile(module, **options)(*values)), expected)


@pytest.mark.parametrize("called", [False, True], ids=["not called before", "called before"])
def test_a_child_calls_what_was_loaded_before(case, tmp_path, called):
    module, options, values, expected = case
    xetile.compile(module, **options).save(tmp_path / "kernel.so")
    kernel = xetile.load(tmp_path / "kernel.so")
    if called:
        np.testing.assert_array_equal(kernel(*values), expected)
    np.testing.assert_array_equal(in_child(lambda: kernel(*values)), expected)


def test_a_child_of_a_child_calls_too(case):
    module, options, values, expected = case
    kernel = xetile.compile(module, **options)
    np.testing.assert_array_equal(in_child(lambda: in_child(lambda: kernel(*values))), expected)


def test_many_children_call_one_kernel(case):
    module, options, values, expected = case
    kernel = xetile.compile(module, **options)
    kernel(*values)
    with multiprocessing.get_context("fork").Pool(3, initializer=_give, initargs=(kernel, values)) as pool:
        for result in pool.map_async(_call, range(6)).get(timeout=SECONDS):
            np.testing.assert_array_equal(result, expected)


def _give(kernel, values):
    global _given
    _given = kernel, values


def _call(_):
    kernel, values = _given
    return kernel(*values)


def test_a_large_kernel_of_the_device_runs_in_a_child():
    """More workgroups than a runtime's first thread takes at once, after the parent ran as many."""
    kernel = xetile.compile(xetile.matmul(1024, 1024, 64), target="pvc", native="off")
    a, b, c = np.ones((1024, 64), np.float16), np.ones((64, 1024), np.float16), np.zeros((1024, 1024), np.float32)
    assert (kernel(a, b, c) == 64).all()
    assert in_child(lambda: bool((kernel(a, b, c) == 64).all()))


def test_a_lock_that_another_thread_holds_is_open_in_a_child():
    lock = forks.Lock()
    held, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(SECONDS)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(SECONDS)

    def enter():
        with lock, lock_of_another_process():
            return True

    try:
        assert in_child(enter)
    finally:
        done.set()
        thread.join()
    with lock:  # in the parent it is one lock as before
        pass


def lock_of_another_process():
    return forks.Lock()


def test_fork_waits_for_a_launch_of_another_thread():
    started, order = threading.Event(), []

    def launch():
        with runtime.launching():
            started.set()
            time.sleep(0.3)
            order.append("launched")

    thread = threading.Thread(target=launch)
    thread.start()
    started.wait(SECONDS)
    child = os.fork()
    if not child:
        # Its own launch finds the lock open.
        with runtime.launching():
            os._exit(0)
    order.append("forked")
    thread.join()
    deadline = time.monotonic() + SECONDS
    while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.01)
    if not ended[0]:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)
    assert order == ["launched", "forked"]

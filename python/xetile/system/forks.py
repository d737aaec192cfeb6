# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locks that fork() does not leave closed.

A child of fork() has one thread: a lock that another one held is never opened there. `multiprocessing` forks by
default, and so does PyTorch's DataLoader.
"""

from __future__ import annotations

import os
import threading
from typing import Any

__all__ = ["Lock", "held_over_fork"]

_generation = 0


class Lock:
    """A lock for data that a child makes anew if it was not there before fork(): open in each new process."""

    def __init__(self) -> None:
        self._lock, self._made_in = threading.Lock(), _generation

    def __enter__(self) -> None:
        if self._made_in != _generation:
            with _reopening:
                if self._made_in != _generation:
                    self._lock, self._made_in = threading.Lock(), _generation
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


def held_over_fork() -> threading.RLock:
    """A lock for what the parent must not be in the middle of: fork() waits until no other thread holds it."""
    lock = threading.RLock()
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_reopening = threading.Lock()


def _after_in_child() -> None:
    global _generation, _reopening
    _generation += 1
    _reopening = threading.Lock()


os.register_at_fork(after_in_child=_after_in_child)

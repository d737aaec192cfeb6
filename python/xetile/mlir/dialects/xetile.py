"""The XeTile dialect: one class per operation, generated from its definition."""

from ._xetile_ops_gen import *  # noqa: F403
from ._xetile_ops_gen import _Dialect as _Dialect

from collections.abc import Callable, Sequence

class Function:
    def __init__(
        self,
        address: int,
        arguments: Sequence[tuple[object, Sequence[int]]],
        results: Sequence[tuple[object, Sequence[int]]],
        array_type: type,
        check: int,
        reports: bool,
    ) -> None: ...
    def __call__(self, arguments: tuple[object, ...], results: tuple[object, ...]) -> bool: ...

class TensorFunction:
    def __init__(
        self,
        address: int,
        check: int,
        reports: bool,
        arguments: Sequence[tuple[object, ...]],
        results: Sequence[tuple[object, ...]],
        make_result: Callable[..., object],
        types: Sequence[type],
        exchange: object,
        place: Sequence[int],
    ) -> None: ...
    def __call__(self, arguments: list[object]) -> list[object] | None: ...

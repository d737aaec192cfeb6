from collections.abc import Sequence

class Function:
    def __init__(
        self,
        address: int,
        arguments: Sequence[tuple[object, Sequence[int]]],
        results: Sequence[tuple[object, Sequence[int]]],
        array_type: type,
        check: int,
    ) -> None: ...
    def __call__(self, arguments: tuple[object, ...], results: tuple[object, ...]) -> bool: ...

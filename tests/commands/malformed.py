"""Functions that somebody may give to `python -m tensorldp check`, each with the exit code that it must end with.

They are called like what they do. Each claims epsilon 1 on [-1, 1]^2.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

NOT_REFUTED, REFUTED, FAILED, INTERRUPTED = 0, 1, 2, 130
CODES: dict[str, tuple[int, str]] = {}
SCALE = 4.0  # of Laplace noise for an epsilon of 1

F = TypeVar("F", bound=Callable[..., Any])


def must_end_with(code: int, message: str = "") -> Callable[[F], F]:
    def noted(function: F) -> F:
        CODES[function.__name__] = (code, message)
        return function

    return noted


def noise(x: Tensor, g: torch.Generator | None) -> Tensor:
    signs = 2.0 * torch.randint(0, 2, x.shape, generator=g).to(x.dtype) - 1.0
    return SCALE * signs * torch.empty_like(x).exponential_(generator=g)


def geometric(x: Tensor, g: torch.Generator, rate: float) -> Tensor:
    first, second = (torch.empty(x.shape).double().exponential_(generator=g).div(rate).floor() for _ in range(2))
    return first - second


# Honest, in odd ways.


@must_end_with(NOT_REFUTED)
def an_honest_laplace_writes_into_its_argument(x: Tensor, g: torch.Generator) -> Tensor:
    return x.add_(noise(x, g))


BUFFERS: dict[Any, Tensor] = {}


@must_end_with(NOT_REFUTED)
def an_honest_laplace_returns_one_buffer_again_and_again(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.add(x, noise(x, g), out=BUFFERS.setdefault((x.shape, x.dtype), torch.empty_like(x)))


@must_end_with(NOT_REFUTED)
def an_honest_laplace_ignores_the_generator(x: Tensor, g: torch.Generator) -> Tensor:
    return x + noise(x, None)


@must_end_with(NOT_REFUTED)
def an_honest_laplace_keeps_its_graph(x: Tensor, g: torch.Generator) -> Tensor:
    return x.requires_grad_() + noise(x.detach(), g)


class Subclass(Tensor):
    """A tensor of somebody's own."""


@must_end_with(NOT_REFUTED)
def an_honest_laplace_returns_a_subclass(x: Tensor, g: torch.Generator) -> Tensor:
    return (x + noise(x, g)).as_subclass(Subclass)


@must_end_with(NOT_REFUTED)
def an_honest_laplace_is_a_lazily_negated_view(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.complex(torch.zeros_like(x), x + noise(x, g)).conj().imag


@must_end_with(NOT_REFUTED)
def an_honest_laplace_is_an_array_in_reverse_order(x: Tensor, g: torch.Generator) -> np.ndarray:
    return (x + noise(x, g)).numpy()[:, ::-1]


@must_end_with(NOT_REFUTED)
def an_honest_geometric_returns_int64_above_2_to_53(x: Tensor, g: torch.Generator) -> Tensor:
    return (x.round() + geometric(x, g, 0.25)).long() << 55


@must_end_with(NOT_REFUTED)
def an_honest_response_is_boolean(x: Tensor, g: torch.Generator) -> Tensor:
    return (torch.rand(x.shape, generator=g) < 0.62) ^ (x < 0)


@must_end_with(NOT_REFUTED)
def everything_is_nan(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.full_like(x, torch.nan)


@must_end_with(NOT_REFUTED)
def an_honest_laplace_warns_each_time(x: Tensor, g: torch.Generator) -> Tensor:
    warnings.warn("not so fast", stacklevel=1)
    return x + noise(x, g)


an_honest_laplace_has_no_name = partial(lambda x, g: x + noise(x, g))
CODES["an_honest_laplace_has_no_name"] = (NOT_REFUTED, "")


# Leaks that are no matter of floating point.


@must_end_with(REFUTED)
def the_argument_itself_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x


@must_end_with(REFUTED)
def the_lowest_bit_of_int64_is_the_record(x: Tensor, g: torch.Generator) -> Tensor:
    return (torch.randint(0, 2**60, x.shape, generator=g) & ~1) | (x > 0).long()


@must_end_with(REFUTED)
def the_lowest_bit_of_uint64_is_the_record(x: Tensor, g: torch.Generator) -> Tensor:
    return the_lowest_bit_of_int64_is_the_record(x, g).to(torch.uint64)


@must_end_with(REFUTED)
def the_parity_of_whole_floats_is_the_record(x: Tensor, g: torch.Generator) -> Tensor:
    return 2.0 * geometric(x, g, 1e-9) + (x > 0)


@must_end_with(REFUTED)
def the_imaginary_part_is_the_record(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.complex(noise(x, g), x)


@must_end_with(REFUTED)
def the_record_decides_between_nan_and_infinity(x: Tensor, g: torch.Generator) -> Tensor:
    return torch.where(x > 0, torch.nan, torch.inf)


@must_end_with(REFUTED)
def the_record_is_released_as_float8(x: Tensor, g: torch.Generator) -> Tensor:
    return x.to(torch.float8_e4m3fn)


@must_end_with(REFUTED)
def the_generator_gets_a_seed_of_its_own(x: Tensor, g: torch.Generator) -> Tensor:
    return x + noise(x, g.manual_seed(7))


# What cannot be checked.


@must_end_with(FAILED, "must return one tensor of releases, got NoneType")
def nothing_is_returned(x: Tensor, g: torch.Generator) -> None:
    return None


@must_end_with(FAILED, "got tuple: join its parts")
def a_tuple_is_returned(x: Tensor, g: torch.Generator) -> tuple[Tensor, Tensor]:
    return x + noise(x, g), x


@must_end_with(FAILED, "got dict: join its parts")
def a_dictionary_is_returned(x: Tensor, g: torch.Generator) -> dict[str, Tensor]:
    return {"noisy": x + noise(x, g)}


@must_end_with(FAILED, "got list: join its parts")
def a_nested_list_is_returned(x: Tensor, g: torch.Generator) -> Any:
    return (x + noise(x, g)).tolist()


@must_end_with(FAILED, "got str")
def a_text_is_returned(x: Tensor, g: torch.Generator) -> str:
    return "private"


@must_end_with(FAILED, "must return numbers of at most 64 bits, got an array of <U")
def texts_are_returned(x: Tensor, g: torch.Generator) -> np.ndarray:
    return x.numpy().astype(str)


@must_end_with(FAILED, "of its own layout")
def a_ragged_tensor_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    rows = [row[: 1 + index % 2] for index, row in enumerate(x)]
    return torch.nested.nested_tensor(rows, layout=torch.jagged)


@must_end_with(FAILED, "got a sparse_coo one")
def a_sparse_tensor_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x.to_sparse()


@must_end_with(FAILED, "has no values")
def a_tensor_without_values_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x.to("meta")


@must_end_with(FAILED, "releases without elements")
def no_columns_are_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x[:, :0]


@must_end_with(FAILED, "must return one release a record")
def one_number_is_returned_for_all(x: Tensor, g: torch.Generator) -> Tensor:
    return x.sum()


@must_end_with(FAILED, "must return one release a record")
def one_record_too_few_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x[1:]


CALLS = count(1)


@must_end_with(FAILED, "must be alike: one is float64 of shape")
def the_width_changes_with_each_call(x: Tensor, g: torch.Generator) -> Tensor:
    return (x + noise(x, g)).repeat(1, next(CALLS))


@must_end_with(FAILED, "must be alike: one is float32 of shape")
def the_type_changes_with_the_batch(x: Tensor, g: torch.Generator) -> Tensor:
    released = x + noise(x, g)
    return released if len(x) == 2 else released.float()


@must_end_with(FAILED, "GB of memory")
def a_lazy_terabyte_is_returned(x: Tensor, g: torch.Generator) -> Tensor:
    return x[:, :1].expand(-1, 1 << 40)


@must_end_with(FAILED, "RuntimeError: out of order")
def an_error_comes_in_the_middle_of_the_run(x: Tensor, g: torch.Generator) -> Tensor:
    if next(CALLS) % 100 == 0:
        raise RuntimeError("out of order")
    return x + noise(x, g)


@must_end_with(FAILED, "SystemExit: 0")
def the_function_exits_with_code_0(x: Tensor, g: torch.Generator) -> Tensor:
    sys.exit(0)


@must_end_with(FAILED, "SystemExit: thank you")
def the_function_exits_with_a_text(x: Tensor, g: torch.Generator) -> Tensor:
    raise SystemExit("thank you")


@must_end_with(FAILED, "MemoryError")
def there_is_no_memory(x: Tensor, g: torch.Generator) -> Tensor:
    raise MemoryError


@must_end_with(FAILED, "RecursionError")
def it_never_comes_back(x: Tensor, g: torch.Generator) -> Any:
    return it_never_comes_back(x, g)


class Unspeakable(BaseException):
    """An exception that is none of Python's and does not even say what it is."""

    def __str__(self) -> str:
        raise ValueError


@must_end_with(FAILED, "Unspeakable")
def an_exception_cannot_be_named(x: Tensor, g: torch.Generator) -> Tensor:
    raise Unspeakable


@must_end_with(FAILED, "TypeError: it_takes_no_generator() takes 1 positional argument")
def it_takes_no_generator(x: Tensor) -> Tensor:
    return x


a_number_and_no_function = 3.0
CODES["a_number_and_no_function"] = (FAILED, "a check takes a mechanism or a function, got float")


@must_end_with(INTERRUPTED, "interrupted")
def somebody_presses_control_c(x: Tensor, g: torch.Generator) -> Tensor:
    raise KeyboardInterrupt


# What only a process of its own survives.


def the_process_is_left(x: Tensor, g: torch.Generator) -> Tensor:
    os._exit(0)


def the_process_is_killed(x: Tensor, g: torch.Generator) -> Tensor:
    os.kill(os.getpid(), signal.SIGKILL)
    return x

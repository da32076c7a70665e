"""What the clients of both APIs share: importing their SDK, and reading what it raises."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from hookwright.errors import MissingExtra, ModelError
from hookwright.models.types import ApiError


def load_sdk(api: str, module: str) -> Any:
    """Import an SDK, which takes up to a second; raise MissingExtra where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(api, module) from None


@contextlib.contextmanager
def api_errors(api: str, sdk: Any, read: Callable[[Any], ApiError | None]) -> Iterator[None]:
    """Turn whatever an SDK raises into an ApiError; `read` handles the errors an API reports itself."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # the SDKs fail in many ways on answers they did not expect
        raise _unreachable(api, sdk, error) or read(error) or unreadable(api, repr(error)) from error


def _unreachable(api: str, sdk: Any, error: Any) -> ApiError | None:
    if not isinstance(error, sdk.APIConnectionError):
        return None
    cause = f" ({error.__cause__})" if error.__cause__ is not None else ""
    return ApiError(f"{api} at {error.request.url.host} cannot be reached: {error}{cause}")


def unreadable(api: str, answer: str) -> ApiError:
    """Return the error for an answer that is not what the API promises."""
    return ApiError(f"{api} sent an answer that cannot be read: {answer}")

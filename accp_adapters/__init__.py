"""The core joined to one outside thing each; import the folder of yours.

`__version__` is the version of the installed package, such as "0.2.0".
"""

from importlib import import_module

__all__: list[str] = []


def __getattr__(name: str) -> str:
    """Return `__version__`; it is read when it is asked for first, because reading it takes longer than importing."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    version: str = import_module("importlib.metadata").version("accp-middleware")
    return version

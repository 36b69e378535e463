"""Uses of the public names that mypy must refuse: each needs the ignore on its line, or mypy complains of that."""

from accp_core import View, preview, read, render, render_text
from accp_core.view import Options

render({"a": 1})  # type: ignore[call-arg]
render({"a": 1}, len)  # type: ignore[call-arg]
render({"a": 1}, counter=str)  # type: ignore[arg-type]
render_text(b"bytes", counter=len)  # type: ignore[arg-type]
preview("text", opening="accp_fetch $cold.1", counter=len)  # type: ignore[call-arg]
read(b"a 1")  # type: ignore[arg-type]
read("a 1")["a"]  # type: ignore[index]
View("text", "as-is", 1, 1)  # type: ignore[call-arg]
Options(False)  # type: ignore[call-arg]
Options(repeated_values=False).repeated_values = True  # type: ignore[misc]

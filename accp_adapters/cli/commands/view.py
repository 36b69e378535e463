"""`accp view`: the view of a text, and the value of a view."""

from __future__ import annotations

from typing import Annotated

import typer

from accp_adapters.cli.errors import InputRefused, refusal
from accp_adapters.cli.sources import STDIN, read_source, say, write_text
from accp_core.error_codes import ErrorCode

__all__ = ["view"]


def view(
    file: Annotated[str, typer.Argument(help="A JSON document or any text; `-` is standard input.")] = STDIN,
    *,
    read: Annotated[bool, typer.Option("--read", help="The inverse: read a view, print compact JSON.")] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Print the text restored from its view; fails if a byte differs.")
    ] = False,
    tokenizer: Annotated[
        str, typer.Option(help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.")
    ] = "o200k_base",
) -> None:
    """Print the view of a text: the same content in fewer tokens.

    Standard output has the view, standard error the token counts. A text whose view is not smaller is printed as it is.

    Example: `curl -s https://api.github.com/repos/python/cpython/issues | accp view`

    Example: `accp view result.json | accp view --read`
    """
    source = read_source(file, exactly=restore)
    if read:
        write_text(_value(source, file))
    else:
        _show(source, file, restore=restore, tokenizer=tokenizer)


def _show(source: str, path: str, *, restore: bool, tokenizer: str) -> None:
    from accp_adapters.tokens import by_name
    from accp_core.view import render_text

    try:
        counter = by_name(tokenizer)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error), param_hint="--tokenizer") from error
    shown = render_text(source, counter=counter)
    restored = shown.restore() if restore else source
    if restored != source:
        raise InputRefused("expected the view to restore this text", path=path, code=ErrorCode.INTERNAL_ERROR)
    if restore:
        write_text(restored, exactly=True)
    else:
        write_text(shown.text.removesuffix("\n"))
    if shown.tokens_after >= shown.tokens_before > 0:
        say(f"{shown.tokens_before:,} tokens: nothing was gained, the text is printed as it is")
        return
    share = f"{100 * shown.tokens_after / shown.tokens_before:.1f} %" if shown.tokens_before else "empty"
    say(f"{shown.tokens_before:,} tokens -> {shown.tokens_after:,} ({share}), {shown.layout}")


def _value(text: str, path: str) -> str:
    from accp_core.errors import DecodeError
    from accp_core.strict_json import compact_json
    from accp_core.view import read as read_view

    try:
        return compact_json(read_view(text.removesuffix("\n")))
    except DecodeError as error:
        raise refusal(error, path=path) from error

"""`accp query`: what a model is answered when it queries a stored result."""

from __future__ import annotations

from typing import Annotated

import typer

from accp_adapters.cli.errors import InputRefused
from accp_adapters.cli.sources import read_source, write_text

__all__ = ["query"]


def query(
    file: Annotated[str, typer.Argument(help="A JSON document or any text; `-` is standard input.")],
    query: Annotated[str, typer.Argument(help="A SELECT, a condition, a path or words; without it: everything.")] = "",
    *,
    offset: Annotated[int, typer.Option(min=0, help="Rows or lines to skip.")] = 0,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows or lines to show at most.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of the answer at most.")] = 4_000,
    tokenizer: Annotated[
        str, typer.Option(help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.")
    ] = "o200k_base",
) -> None:
    """Query a JSON document or a text as a model does with `accp_fetch`.

    Every array of objects is a table, named by its path; a nested object is a column such as `customer.name`. A text is
    the table `lines(n, text)`. A query that is not understood is refused with the tables that there are.

    Example: `accp query orders.json 'SELECT status, count(*) FROM orders GROUP BY status'`

    Example: `accp query orders.json "status = 'returned' and total > 100"`
    """
    from accp_adapters.fetching import FetchRequest, answer
    from accp_adapters.tokens import by_name
    from accp_core.errors import ProtocolError

    try:
        counter = by_name(tokenizer)
    except (ValueError, FileNotFoundError) as error:
        raise typer.BadParameter(str(error), param_hint="--tokenizer") from error
    request = FetchRequest(query=query, offset=offset, limit=limit)
    try:
        text = answer({"": read_source(file)}, request, limit=tokens, counter=counter)
    except ProtocolError as error:
        raise InputRefused(error.reason, path=file, code=error.code) from error
    write_text(text.removesuffix("\n"))

"""A preview of a text says how many lines have the words of the request, and shows those that have most of them."""

from accp_core.previews import preview

LOG = "\n".join(
    f"10:{n // 60:02}:{n % 60:02} {'ERROR' if n % 40 == 7 else 'INFO'} "
    f"{'checkout-api' if n % 2 else 'cart-api'} {'payment refused' if n % 40 == 7 else f'handled request {n}'}"
    for n in range(400)
)


def words(text: str) -> int:
    return len(text) // 4


def shown(request: str, limit: int = 500, text: str = LOG) -> str:
    return preview(text, limit=limit, opening="accp_fetch $cold.abc", counter=words, request=request)


def test_lines_that_do_not_fit_are_counted_only() -> None:
    assert '\ntext has "checkout": 200 lines\n' in shown("checkout handled", 120)

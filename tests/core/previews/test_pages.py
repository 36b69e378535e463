"""Previews of pages, Markdown and HTML: whole sentences that hold the request's words, and whole rows of tables."""

from collections.abc import Callable

import pytest

from accp_core.previews import preview

Page = Callable[..., str]

BANNER = (
    "The banner is changed in the folder called Storefront, under Texts of the week, and goes out with the next night "
    "run, so a change made after nine in the evening is seen a day later."
)
SECTIONS = {
    "Colours": (
        "The palette of the shop has eleven colours, of which four may stand beside each other on one screen. The "
        "darkest one is kept for text. No shade is mixed by hand, because the printers that the branches own show "
        "mixed shades in very different ways, and customers then bring the leaflet back to the till."
    ),
    "Pictures": (
        "A picture shows one product on a plain ground. Pictures that suppliers send are cut by the studio on "
        "Tuesdays. The old pictures of the banner stay in the archive, and nobody needs to ask before taking one out."
    ),
    "Home page": (
        "The banner stands above the list of offers. It is filled on Monday morning by whoever has the week, and that "
        f"person also checks that each offer in it is still in stock. {BANNER}"
    ),
    "Letters": (
        "Letters to customers go out on paper with the green line. A letter is read by two people before it leaves "
        "the house, and the second of them signs the list that hangs beside the franking machine."
    ),
    "Signs": (
        "The signs in the windows are printed in the branch at Harbour Street. Each branch orders them by Thursday "
        "noon, and a sign that names a price also names the day from which it counts."
    ),
}
HEADER = ("branch", "manager", "staff", "opens", "sign")
ROWS = (
    ("Harbour Street", "Mina Okafor", "6", "08:00", "green"),
    ("Old Mill", "Jonas Weber", "4", "09:00", "green"),
    ("Station", "Lucia Prado", "9", "06:30", "blue"),
    ("Castle Road", "Amir Haddad", "3", "09:00", "green"),
    ("North Gate", "Elin Dahl", "5", "08:30", "blue"),
    ("Riverside", "Tomas Novak", "7", "08:00", "green"),
    ("Market Hall", "Grace Lin", "8", "07:00", "grey"),
    ("West Park", "Ola Berg", "2", "10:00", "green"),
    ("Airport", "Nadia Rossi", "11", "05:30", "blue"),
    ("Hillside", "Paul Stern", "4", "09:00", "grey"),
)
END = "Ask the studio where a rule is missing."


def markdown(*, with_table: bool = True) -> str:
    table = "\n".join(f"| {' | '.join(row)} |" for row in (HEADER, ("---",) * len(HEADER), *ROWS))
    sections = "\n\n".join(f"## {title}\n\n{text}" for title, text in SECTIONS.items())
    return f"# House style\n\nFor all who write.\n\n{sections}\n\n{table if with_table else ''}\n\n{END}\n"


def html(*, with_table: bool = True) -> str:
    lines = [f"<h2>{title}</h2>\n<p>{text}</p>" for title, text in SECTIONS.items()]
    if with_table:
        names = "".join(f"<th>{name}</th>" for name in HEADER)
        cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in ROWS)
        lines += ("<table>", *(f"<tr>{row}</tr>" for row in (names, *cells)), "</table>")
    body = "\n".join(lines)
    return f"<html><body>\n<h1>House style</h1>\n{body}\n<p>{END}</p>\n</body></html>\n"


def shown(source: str, request: str, limit: int = 250) -> str:
    text = preview(source, limit=limit, opening="accp_fetch $cold.1f2e3d4c", counter=tokens, request=request)
    assert tokens(text) <= limit
    assert "[preview of " in text
    return text


def tokens(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.parametrize("page", [markdown, html])
def test_the_sentence_asked_for_comes_before_the_ends_and_the_headings_of_a_page(page: Page) -> None:
    assert BANNER in shown(page(with_table=False), "Where is the banner changed", 200)


@pytest.mark.parametrize("page", [markdown, html])
def test_a_long_paragraph_is_cut_between_sentences(page: Page) -> None:
    source = page().replace(SECTIONS["Home page"], " ".join([SECTIONS["Colours"], BANNER, SECTIONS["Letters"]]))
    assert BANNER in shown(source, "Where is the banner changed", 200)

"""Keys of messages and keys of frames."""

import pytest

from accp_core.accp.frame import KeyTable


@pytest.mark.requirement("3.3-2")
def test_an_alias_goes_before_table_8() -> None:
    keys = KeyTable({"d": "document", "dat": "findings"})
    assert [keys.to_wire(key) for key in ("document", "data", "findings")] == ["d", "data", "dat"]
    assert [keys.to_full(key) for key in ("d", "f", "dat")] == ["document", "findings", "findings"]

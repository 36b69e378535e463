"""A frame cut into chunks."""

import pytest

from accp_core.accp.codec import cut_text
from accp_core.errors import EncodeError


def test_a_text_of_which_nothing_fits_is_refused_e2003() -> None:
    with pytest.raises(EncodeError, match="E2003"):
        cut_text("x", lambda piece: False, 5)

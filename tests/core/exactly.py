"""What compares equal only for the same JSON text: types, signs of zero and the order of keys count."""

import json


def exactly(value: object) -> tuple[str, str]:
    """Return what tells `value` apart from every other, `1` from `1.0` and `true`, one order of keys from another."""
    return repr(value), json.dumps(value)

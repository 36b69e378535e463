"""The `accp` command."""

import sys

from accp_adapters.extras import needs

__all__ = ["main"]


def main() -> None:
    """Run the command in `sys.argv`; without the extra `cli` say so and end with 2."""
    try:
        with needs("cli"):
            from accp_adapters.cli.app import main as run
    except ModuleNotFoundError as missing:
        print(f"accp: {missing}", file=sys.stderr)
        sys.exit(2)
    run()

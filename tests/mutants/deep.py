"""A pytest plugin for mutmut: its functions between ours take three times as much of the stack."""

import sys

sys.setrecursionlimit(3 * sys.getrecursionlimit())

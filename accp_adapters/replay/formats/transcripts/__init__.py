"""The formats of programs that log what agents and servers told each other."""

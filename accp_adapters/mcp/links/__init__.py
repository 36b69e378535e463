"""The ways to a server: a child process, or a URL."""

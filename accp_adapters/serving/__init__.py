"""What every server of ours stands on: sockets, admission, bounds of memory and time, and work off the event loop."""

"""What all our servers share: sockets, admission, bounds of memory and time, and work off the event loop."""

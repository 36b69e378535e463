"""What every HTTP server of ours stands on: sockets, allowed names, and bounds of bodies and memory."""

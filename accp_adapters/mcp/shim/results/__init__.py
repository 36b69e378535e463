"""The forms of a tools/call result: frames, views, and what a result contains twice."""

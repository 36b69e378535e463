"""Responses that were recorded as streams: their events, and the response that these come to."""

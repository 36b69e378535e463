"""The formats of agent frameworks: how they keep and dump conversations."""

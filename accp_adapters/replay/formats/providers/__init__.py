"""The formats of model providers: what their interfaces are sent and answer."""

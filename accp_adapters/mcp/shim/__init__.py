"""The shim on decoded JSON-RPC messages, without I/O: `Encoder` at the server, `Decoder` at the client."""

"""Real keys, made on the spot: an issuer of tokens, and its key set."""

from __future__ import annotations

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

__all__ = ["AUDIENCE", "ISSUER", "Issuer"]

ISSUER = "https://issuer.example"
AUDIENCE = "accp.example"


class Issuer:
    """An issuer with one private key at a time."""

    def __init__(self) -> None:
        self.rotate("key-1")

    def rotate(self, key_id: str) -> None:
        """Sign with a new key from now on."""
        self.key_id = key_id
        self.private = ec.generate_private_key(ec.SECP256R1())

    def key(self) -> dict[str, Any]:
        """Return the public key."""
        return {**json.loads(ECAlgorithm.to_jwk(self.private.public_key())), "kid": self.key_id, "use": "sig"}

    def key_set(self) -> dict[str, Any]:
        """Return the key set."""
        return {"keys": [self.key()]}

    def token(self, *, without: str = "", header: dict[str, Any] | None = None, **claims: Any) -> str:
        """Return a token for ann that is valid for a minute, with other or fewer claims."""
        now = int(time.time())
        usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now + 60}
        payload = {name: value for name, value in (usual | claims).items() if name != without}
        return jwt.encode(payload, self.private, algorithm="ES256", headers={"kid": self.key_id, **(header or {})})

"""From a message to frames and back (ACCP sections 3.3, 3.4 and 7)."""

from accp_core.accp.codec.codec import Codec, Encoded
from accp_core.accp.codec.decoding import DECODING, NeedsRefs
from accp_core.accp.codec.encoding import ENCODING

__all__ = ["DECODING", "ENCODING", "Codec", "Encoded", "NeedsRefs"]

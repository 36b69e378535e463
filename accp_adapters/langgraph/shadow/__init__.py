"""Shadow calls: whether a projected prompt changes what a model does next, measured in production."""

from accp_adapters.langgraph.shadow.comparison import Shadow, ShadowCount
from accp_adapters.langgraph.shadow.runner import ShadowRunner

__all__ = ["Shadow", "ShadowCount", "ShadowRunner"]

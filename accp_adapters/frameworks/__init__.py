"""The projection in frameworks that have a place for it, one module each; each imports its own framework only."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.frameworks.openai_agents import AccpInputFilter
    from accp_adapters.frameworks.pydantic_ai import AccpCapability
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_adapters.frameworks.openai_agents": "AccpInputFilter",
            "accp_adapters.frameworks.pydantic_ai": "AccpCapability",
        },
    )

__all__ = ["AccpCapability", "AccpInputFilter"]

"""Every number that decides what a model sees of a tool result, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from accp_adapters.tokens import count_o200k
from accp_core.ports import TokenCounter

__all__ = ["SMALLEST_PREVIEW", "Limits", "Policy"]

# A preview names the reference and says how to go on; in fewer tokens than this it could show nothing else.
SMALLEST_PREVIEW: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one tool result may take, in tokens of what the model reads."""

    inline: int | None
    """A view of more tokens is previewed; None: never."""
    preview: int
    """At most this many tokens of a preview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When a tool result is shown whole, when as a preview, and where the rest goes. Limits are in tokens.

    The defaults are what measurement recommends; `lossless`, `tight` and `draft` are the other presets.
    """

    agent_id: str = "agent"
    """Who acts, for logs and for the frames of later hops; it does not change what the model reads."""
    inline_limit: int | None = 3_000
    """A result whose view takes more is previewed and kept whole in the cold tier; None: nothing ever is."""
    preview_limit: int = 2_000
    """What a preview may take, at least 60: it names the reference and says how to go on."""
    batch_limit: int = 16_000
    """What the results of one model turn (parallel tool calls) may take together, previews included."""
    fetch_limit: int = 4_000
    """What one answer of `accp_fetch` may take; the answer says how to go on."""
    abstract_limit: int = 200
    """What one item's result may take in an AgentContext, at least 60; a longer one is stored whole and cited."""
    repeats: bool = True
    """Lines that stand above in the same prompt are named, not said again: `[as above: 14 lines from "…"]`."""
    other_agents: bool = True
    """Whether this agent reads other agents' words (AIMessages that bear another name) as it reads tool results. The
    state keeps them whole, and so does what their author reads."""
    agent_names: frozenset[str] = frozenset()
    """Names of agents whose words come as HumanMessages, `HumanMessage(text, name="researcher")`; all other
    HumanMessages are a person's, which stay as they are."""
    cache_aware: bool = True
    """Whether a rewriting must pay in the prices of a provider's prompt cache (`worth.py`). False: every token saved
    counts, as it does where no provider keeps a prefix."""
    exclude_tools: frozenset[str] = frozenset()
    """Names of tools whose results stay as they are."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    namespace: str = "accp"
    """First label of the namespace in a LangGraph store."""
    ttl: float | None = None
    """Minutes until a LangGraph store may forget a text. None: never, which time travel needs."""

    def __post_init__(self) -> None:
        """Refuse limits that leave no room for anything (ValueError)."""
        least = {
            "inline_limit": 1,
            "preview_limit": SMALLEST_PREVIEW,
            "batch_limit": 1,
            "fetch_limit": 1,
            "abstract_limit": SMALLEST_PREVIEW,
        }
        for name, tokens in least.items():
            value = getattr(self, name)
            if value is not None and value < tokens:
                raise ValueError(f"expected {name} to be at least {tokens}, found {value!r}")

    @classmethod
    def draft(cls) -> Policy:
        """Return the budgets of the ACCP draft, which are tight: most results become references.

        Values over 50 characters (section 3.3, rule 4; about 13 tokens) are referred to, a summary takes at
        most 100 tokens (section 5.3), and hot state at most 500 (section 5.1).
        """
        return cls(inline_limit=13, preview_limit=100, batch_limit=500, fetch_limit=500, cache_aware=False)

    @classmethod
    def lossless(cls) -> Policy:
        """Return a policy that hides nothing: no preview, no fetch tool, no store."""
        return cls(inline_limit=None)

    @classmethod
    def tight(cls) -> Policy:
        """Return a policy for long runs over large results: what takes over 600 tokens is previewed in 400."""
        return cls(inline_limit=600, preview_limit=400)

    @property
    def previews(self) -> bool:
        """Whether a result can become a preview, so that a fetch tool is needed."""
        return self.inline_limit is not None

    def limits(self, results: int) -> Limits:
        """Return what each of `results` results of one model turn may take.

        Each is limited to an equal share of `batch_limit`: a result is rewritten when its call ends,
        before the sizes of the others are known, and a replay must come to the same text.
        """
        if self.inline_limit is None:
            return Limits(inline=None, preview=self.preview_limit)
        share = self.batch_limit // max(results, 1)
        preview = min(self.preview_limit, max(share, SMALLEST_PREVIEW))
        return Limits(inline=min(self.inline_limit, share), preview=preview)

    def excluding(self, *tools: str) -> Policy:
        """Return this policy with the results of `tools` left as they are, too."""
        return replace(self, exclude_tools=self.exclude_tools | set(tools))

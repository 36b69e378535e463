"""Every number that decides what a model sees of a tool result, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.tokens import count_o200k
from accp_core.compression import ResultLimits
from accp_core.ports import TokenCounter
from accp_core.projection import ProjectionRules, share_batch

__all__ = ["Policy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When a tool result is shown whole and when as a preview, and how the rest is stored. Limits are in tokens.

    The defaults are what measurement recommends; `lossless`, `tight` and `draft` are the other presets.
    """

    agent_id: str = "agent"
    """The name of the agent in logs and in frames; it does not change what the model reads."""
    inline_limit: int | None = 3_000
    """A result whose view takes more becomes a preview, its text goes to the store; None: never."""
    preview_limit: int = 2_000
    """What a preview may take, at least 60: it holds the reference and how to open it."""
    batch_limit: int = 16_000
    """What the results of one model turn (parallel tool calls) may take together, previews included."""
    fetch_limit: int = 4_000
    """What one answer of `accp_fetch` may take; it ends with how to get the rest."""
    abstract_limit: int = 200
    """What the result of one item may take in an AgentContext, at least 60; a longer one is stored and cited."""
    repeats: bool = True
    """Whether lines that are above in the same prompt become a repeat marker: `[as above: 14 lines from "…"]`."""
    other_agents: bool = True
    """Whether the words of other agents (AIMessages with another name) are projected like tool results: views,
    previews and repeat markers. The state keeps them whole, and their author's model is sent them whole."""
    agent_names: frozenset[str] = frozenset()
    """Names of agents whose words come as HumanMessages, `HumanMessage(text, name="researcher")`. All other
    HumanMessages are a person's and stay as they are."""
    cache_aware: bool = True
    """Whether a shorter text must pay in the prices of a provider's prompt cache. False: every token saved counts,
    as it does where the provider has no such cache."""
    exclude_tools: frozenset[str] = frozenset()
    """Names of tools whose results stay as they are."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    namespace: str = "accp"
    """First label of the namespace in a LangGraph store."""
    ttl: float | None = None
    """Minutes until a LangGraph store may delete a text. None: never, which time travel needs."""

    def __post_init__(self) -> None:
        """Refuse limits that leave no room for anything (ValueError)."""
        self.result_limits()
        if self.batch_limit < 1:
            raise ValueError(f"expected the limit 'batch' to be at least 1, found {self.batch_limit!r}")

    @classmethod
    def draft(cls) -> Policy:
        """Return the budgets of the ACCP draft, which are tight: most results become references.

        A value of more than 50 characters (section 3.3, rule 4; about 13 tokens) becomes a reference, a summary takes
        at most 100 tokens (section 5.3), the hot state at most 500 (section 5.1).
        """
        return cls(inline_limit=13, preview_limit=100, batch_limit=500, fetch_limit=500, cache_aware=False)

    @classmethod
    def lossless(cls) -> Policy:
        """Return a policy that hides nothing: no previews, no fetch tool, no store."""
        return cls(inline_limit=None)

    @classmethod
    def tight(cls) -> Policy:
        """Return a policy for long runs with large results: what takes over 600 tokens becomes a preview of 400."""
        return cls(inline_limit=600, preview_limit=400)

    @property
    def previews(self) -> bool:
        """Whether a result can become a preview, so that a fetch tool is needed."""
        return self.inline_limit is not None

    @property
    def rules(self) -> ProjectionRules:
        """The rules by which the core projects messages."""
        return ProjectionRules(
            counter=self.counter,
            limits=self._limits,
            batch_limit=self.batch_limit,
            repeats=self.repeats,
            cache_aware=self.cache_aware,
            exclude_tools=self.exclude_tools,
            open_with=FETCH_NAME,
        )

    @property
    def _limits(self) -> ResultLimits:
        return ResultLimits(
            inline=self.inline_limit,
            preview=self.preview_limit,
            fetch=self.fetch_limit,
            abstract=self.abstract_limit,
        )

    def result_limits(self, results: int = 1) -> ResultLimits:
        """Return the limits of each of the `results` of one model turn.

        Each gets an equal share of `batch_limit`: a result is compressed when its call ends, before the sizes of the
        others are known, and a replay must come to the same text.
        """
        return share_batch(self._limits, results=results, batch=self.batch_limit)

    def excluding(self, *tools: str) -> Policy:
        """Return this policy with the results of `tools` left as they are, too."""
        return replace(self, exclude_tools=self.exclude_tools | set(tools))

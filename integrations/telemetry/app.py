"""An agent whose middleware is observed: it works for a while and exports what the middleware counts.

python app.py --otlp http://localhost:4318        to a collector
python app.py --prometheus 9464 --seconds 60      for Prometheus to scrape
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_core.references import find_references, reference_to

ORDERS = [{"order": n, "customer": f"customer {n % 40}", "status": "paid", "total": n * 3.5} for n in range(400)]
UNKNOWN = "0" * 29


@tool
def orders(day: str) -> str:
    """Return the orders of a day."""
    return json.dumps([{"day": day, **order} for order in ORDERS])


class Clerk(BaseChatModel):
    """A model that needs no key: it asks for orders, queries them, queries what is not there, and answers."""

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        answer = self._step(messages, sum(isinstance(message, AIMessage) for message in messages))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _step(self, messages: list[BaseMessage], step: int) -> AIMessage:
        cited = [reference_to(key) for message in messages for key in find_references(message.text)]
        if step == 0:
            return _call("orders", day="Monday")
        if step == 1:
            return _call("accp_fetch", ref=cited[0], query="SELECT count(*), sum(total) FROM rows")
        if step == 2:
            return _call("accp_fetch", ref=reference_to(UNKNOWN), query="")
        return AIMessage(f"All orders: {cited[0]}")


def _call(name: str, **args: str) -> AIMessage:
    return AIMessage(
        "", tool_calls=[{"name": name, "args": args, "id": f"{name}-{len(str(args))}", "type": "tool_call"}]
    )


def work(rounds: int) -> dict[str, int]:
    """Let the agent do its job `rounds` times; return what the middleware says of it."""
    accp = AccpMiddleware(Policy(inline_limit=600, preview_limit=500))
    agent: Any = create_agent(Clerk(), [orders], middleware=[accp])
    for _ in range(rounds):
        agent.invoke({"messages": "How many orders are there?"})
    return accp.stats().to_json()


def _reader(arguments: argparse.Namespace) -> MetricReader:
    if arguments.otlp:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415  one of two

        return PeriodicExportingMetricReader(OTLPMetricExporter(f"{arguments.otlp}/v1/metrics"))
    from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415  one of two
    from prometheus_client import start_http_server  # noqa: PLC0415  one of two

    start_http_server(arguments.prometheus, addr="127.0.0.1")
    return PrometheusMetricReader()


def main() -> None:
    """Work, and export what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--otlp", help="the address of a collector, such as http://localhost:4318")
    parser.add_argument("--prometheus", type=int, default=9464, help="the port to be scraped")
    parser.add_argument("--seconds", type=float, default=0, help="how long to go on, and to be there to be scraped")
    arguments = parser.parse_args()
    provider = MeterProvider([_reader(arguments)])
    metrics.set_meter_provider(provider)
    end = time.monotonic() + arguments.seconds
    print(json.dumps(work(1)), flush=True)
    while time.monotonic() < end:
        time.sleep(1)
        work(1)
    provider.shutdown()


if __name__ == "__main__":
    main()

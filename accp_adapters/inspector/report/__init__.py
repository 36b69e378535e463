"""The report of a replay as one self-contained HTML page."""

from accp_adapters.inspector.report.page import html_report

__all__ = ["html_report"]

"""Two forms: a YAML document, and several of them with `---` between, as people and programs write them.

Prose has lines such as `Error: File not found`, too, and its colons are part of what it says. So a text is data only
where it is nested as a writer nests it, a map of several keys below a key or in a list, where not nearly all of its
values are sentences, and where no heading of several words stands above what is nested.

A text with comments, flow collections of several lines or other things that the value does not hold has tables
and queries, but no view.
"""

from __future__ import annotations

from accp_core.documents.yaml.writer import DOCUMENT, DOCUMENTS

__all__ = ["DOCUMENT", "DOCUMENTS"]

"""What the conformance suite's tools, resources and prompts say, as data."""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["FORMS", "INPUTS", "ORDERS", "PLAIN", "PROMPTS", "RESOURCES", "SCHEMAS", "Round", "form", "text"]

Json: TypeAlias = dict[str, Any]


def _png() -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + header + pixel + chunk(b"IEND", b"")).decode()


def _wav() -> str:
    layout = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    samples = b"data" + struct.pack("<I", 2) + b"\x80\x80"
    size = struct.pack("<I", len(layout) + len(samples))
    return base64.b64encode(b"RIFF" + size + layout + samples).decode()


PNG: Final = _png()
ORDERS: Final = [
    {"id": 7000 + n, "customer": {"id": n % 7, "name": f"Customer {n % 7}"}, "total": n * 1.5, "paid": n % 2 == 0}
    for n in range(20)
]


def text(value: str) -> Json:
    """Return a text block."""
    return {"type": "text", "text": value}


def image() -> Json:
    """Return an image block."""
    return {"type": "image", "data": PNG, "mimeType": "image/png"}


def resource(uri: str, content: str, kind: str = "text/plain") -> Json:
    """Return a block that embeds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": content}}


def fields(**properties: Any) -> Json:
    """Return the schema of an object that has these properties; a string is a type."""
    found = {name: {"type": each} if isinstance(each, str) else each for name, each in properties.items()}
    return {"type": "object", "properties": found, "required": list(found)}


def form(method: str, *, message: str = "", schema: Json | None = None, prompt: str = "", max_tokens: int = 0) -> Json:
    """Return a request to the client: to ask its user, or its model."""
    if method == "elicitation/create":
        return {"method": method, "params": {"message": message, "requestedSchema": schema}}
    return {
        "method": method,
        "params": {"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": max_tokens},
    }


def _question(message: str, **properties: Any) -> Json:
    return form("elicitation/create", message=message, schema=fields(**properties))


ROOTS: Final[Json] = {"method": "roots/list", "params": {}}

PLAIN: Final[Mapping[str, Json]] = {
    "test_simple_text": {"content": [text("This is a simple text response for testing.")]},
    "test_image_content": {"content": [image()]},
    "test_audio_content": {"content": [{"type": "audio", "data": _wav(), "mimeType": "audio/wav"}]},
    "test_embedded_resource": {
        "content": [resource("test://embedded-resource", "This is an embedded resource content.")]
    },
    "test_multiple_content_types": {
        "content": [
            text("Multiple content types test:"),
            image(),
            resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ]
    },
    "test_error_handling": {"content": [text("This tool intentionally returns an error for testing")], "isError": True},
    "json_schema_2020_12_tool": {"content": [text("ok")]},
    "test_x_mcp_header": {"content": [text("ok")]},
    "orders": {"content": [text(json.dumps(ORDERS, indent=2))], "structuredContent": {"result": ORDERS}},
}
"""Tool to the result that it always has."""

_CHOICES: Final = ["option1", "option2", "option3"]
_TITLED: Final = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
FORMS: Final[Mapping[str, Json]] = {
    "test_elicitation": fields(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    ),
    "test_elicitation_sep1034_defaults": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
    },
    "test_elicitation_sep1330_enums": {
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": _CHOICES},
            "titledSingle": {"type": "string", "oneOf": _TITLED},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _CHOICES}},
            "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
        },
    },
}
"""Tool to the form that it asks the user to fill in."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a result asks the client for."""

    requests: Json
    has_state: bool = False


_ASKED_NAME: Final = _question("What is your name?", name="string")
_CONFIRM: Final = Round({"confirm": _question("Please confirm", ok="boolean")}, has_state=True)
INPUTS: Final[Mapping[str, tuple[list[Round], Callable[[Json], str]]]] = {
    "test_input_required_result_elicitation": (
        [Round({"user_name": _ASKED_NAME})],
        lambda answers: f"Hello, {(answers['user_name'].get('content') or {}).get('name')}!",
    ),
    "test_streaming_elicitation": ([Round({"user_name": _ASKED_NAME})], lambda _: "Thank you."),
    "test_input_required_result_sampling": (
        [
            Round(
                {
                    "capital_question": form(
                        "sampling/createMessage", prompt="What is the capital of France?", max_tokens=100
                    )
                }
            )
        ],
        lambda answers: str(answers["capital_question"]["content"]["text"]),
    ),
    "test_input_required_result_list_roots": (
        [Round({"client_roots": ROOTS})],
        lambda answers: ", ".join(root["uri"] for root in answers["client_roots"]["roots"]),
    ),
    "test_input_required_result_request_state": ([_CONFIRM], lambda _: "state-ok"),
    "test_input_required_result_tampered_state": ([_CONFIRM], lambda _: "state-ok"),
    "test_input_required_result_multiple_inputs": (
        [
            Round(
                {
                    "user_name": _ASKED_NAME,
                    "greeting": form("sampling/createMessage", prompt="Generate a greeting", max_tokens=50),
                    "client_roots": ROOTS,
                },
                has_state=True,
            )
        ],
        lambda _: "All is known.",
    ),
    "test_input_required_result_multi_round": (
        [
            Round({"step1": _question("Step 1: What is your name?", name="string")}, has_state=True),
            Round({"step2": _question("Step 2: What is your favorite color?", color="string")}, has_state=True),
        ],
        lambda _: "Both steps are done.",
    ),
    "test_input_required_result_prompt": (
        [Round({"user_context": _question("What context should the prompt use?", context="string")})],
        lambda answers: f"Use {answers['user_context']['content']['context']}.",
    ),
}
"""Tool (the last is a prompt) to the rounds that it asks for input, and what it says after the last."""

SCHEMAS: Final[Mapping[str, Json]] = {
    "test_sampling": fields(prompt="string"),
    "test_elicitation": fields(message="string"),
    "test_x_mcp_header": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}},
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
}
"""Tool to the schema of its arguments; the others have none."""

RESOURCES: Final[Mapping[str, Json]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched resource content."},
}

PROMPTS: Final[Mapping[str, tuple[list[str], Callable[[Json], list[Json]]]]] = {
    "test_simple_prompt": ([], lambda _: [text("This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: [
            resource(given["resourceUri"], "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
    ),
    "test_prompt_with_image": ([], lambda _: [image(), text("Please analyze the image above.")]),
}
"""Prompt to the names of its arguments, and its blocks."""

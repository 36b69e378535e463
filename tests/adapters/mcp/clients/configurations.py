"""Configuration files of four clients, as people have them: comments, trailing commas, other settings, secrets."""

from __future__ import annotations

from typing import Final

__all__ = ["CLAUDE_CODE", "CLAUDE_DESKTOP", "CONFIGURATIONS", "CURSOR", "VSCODE"]

CLAUDE_DESKTOP: Final = """{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/ada/Desktop"
      ]
    },
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_do-not-show" }
    },
    "linear": { "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.linear.app/mcp"] }
  },
  "preferences": { "menuBarEnabled": false }
}
"""
CURSOR: Final = """{
\t"mcpServers": {
\t\t"playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]},
\t\t"local tools": {
\t\t\t"type": "stdio",
\t\t\t"command": "${workspaceFolder}/.venv/bin/python",
\t\t\t"args": ["-m", "tools.server", "--", "--verbose"],
\t\t\t"envFile": "${workspaceFolder}/.env"
\t\t},
\t\t"bare": {"command": "my-server"},
\t\t"context7": {
\t\t\t"url": "https://mcp.context7.com/mcp",
\t\t\t"headers": {"CONTEXT7_API_KEY": "${env:CONTEXT7_API_KEY}"}
\t\t},
\t\t"tavily": {"url": "https://mcp.tavily.com/mcp/?tavilyApiKey=tvly-do-not-show", "headers": {"X-Team": "red"}},
\t\t"figma": {"url": "http://127.0.0.1:3845/mcp"}
\t}
}"""
VSCODE: Final = """// Servers of this profile.
{
  "inputs": [
    // Asked once, kept by the editor.
    { "type": "promptString", "id": "gh-token", "description": "GitHub token", "password": true, },
  ],
  "servers": {
    /* A local one. */
    "memory": {
      "type": "stdio",
      "command": "npx", // from npm
      "args": [ "-y", "@modelcontextprotocol/server-memory" /* no version */, ],
      "env": { "MEMORY_FILE_PATH": "${input:memory-file}" },
    },
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": {
        "Authorization": "Bearer ${input:gh-token}", // asked
        "X-MCP-Toolsets": "repos,issues"
      },
    },
    "old": { "type": "sse", "url": "https://example.com/sse", "headers": {"a": "b"} },
  }, // all of them
}
""".replace("\n", "\r\n")
CLAUDE_CODE: Final = """{
  "numStartups": 214,
  "tipsHistory": {"shift-enter": 8},
  "mcpServers": {
    "sentry": {"type": "http", "url": "https://mcp.sentry.dev/mcp"},
    "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git", "--repository", "/home/ada/w\\u00fcrfel"], "env": {}}
  },
  "projects": {
    "/home/ada/shop": {
      "allowedTools": [],
      "mcpServers": {
        "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "${SHOP_TOKEN:-none}"}},
        "internal": {"type": "http", "url": "https://mcp.shop.example/mcp", "headersHelper": "./token.sh"}
      },
      "hasTrustDialogAccepted": true
    },
    "/home/ada/blog": {"allowedTools": [], "mcpServers": {}, "lastCost": 0.10}
  },
  "userID": "0f3c"
}"""  # noqa: E501  as one tool writes it
CONFIGURATIONS: Final = {
    "claude-desktop": CLAUDE_DESKTOP, "cursor": CURSOR, "vscode": VSCODE, "claude-code": CLAUDE_CODE,
}  # fmt: skip

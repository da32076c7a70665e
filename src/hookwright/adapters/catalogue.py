"""The adapters there are: one table for the command line, the documentation and the tests."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import msgspec


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """Hooks in one framework."""

    framework: str
    #: The distribution whose version decides; empty for one that needs no package.
    package: str = ""
    #: The version with which the scenarios ran.
    tried: str = ""
    #: What `pip install 'hookwright[…]'` needs; empty if nothing does.
    extra: str = ""
    #: The module to import; empty for a command.
    module: str = ""
    #: What to import from the module.
    name: str = "HookwrightHooks"
    #: The line that adds hooks.
    line: str
    #: Its page in docs/adapters.
    page: str
    #: The make target that runs its tests.
    tests: str = "test"

    @property
    def installed(self) -> str | None:
        """The version that is installed here; None if there is none."""
        try:
            return version(self.package) if self.package else None
        except PackageNotFoundError:
            return None

    @property
    def state(self) -> str:
        """What is installed here, compared with what was tried.

        Law: another major or minor version than the one that was tried is said to be untried; a patch is not.
        """
        found = self.installed
        if not self.package:
            return "needs no package"
        if found is None:
            return "not installed"
        same = found.split(".")[:2] == self.tried.split(".")[:2]
        return f"{found} installed" if same else f"{found} installed, which was not tried"


ADAPTERS: tuple[Adapter, ...] = (
    Adapter(
        framework="Pydantic AI",
        package="pydantic-ai-slim",
        tried="2.66.0",
        extra="pydantic-ai",
        module="hookwright.adapters.pydantic_ai",
        line='Agent(model, capabilities=[HookwrightHooks(".")])',
        page="pydantic-ai.md",
    ),
    Adapter(
        framework="Microsoft Agent Framework",
        package="agent-framework-core",
        tried="1.23.0",
        extra="agent-framework",
        module="hookwright.adapters.agent_framework",
        line='Agent(client=…, middleware=HookwrightHooks(".").middleware)',
        page="agent-framework.md",
    ),
    Adapter(
        framework="LangChain, LangGraph",
        package="langchain",
        tried="1.4.7",
        extra="langchain",
        module="hookwright.adapters.langchain",
        line='create_agent(model, tools, middleware=[HookwrightHooks(".")])',
        page="langchain.md",
        tests="adapter-langchain",
    ),
    Adapter(
        framework="Deep Agents",
        package="deepagents",
        tried="0.7.32",
        extra="langchain",
        module="hookwright.adapters.deepagents",
        name="HookwrightHooks, create_deep_agent",
        line='create_deep_agent(model, hooks=HookwrightHooks("."))',
        page="langchain.md#deep-agents",
        tests="adapter-langchain",
    ),
    Adapter(
        framework="OpenAI Agents SDK",
        package="openai-agents",
        tried="0.24.0",
        extra="openai-agents",
        module="hookwright.adapters.openai_agents",
        name="install",
        line='install(".")',
        page="openai-agents.md",
        tests="adapter-openai-agents",
    ),
    Adapter(
        framework="Google ADK",
        package="google-adk",
        tried="2.13.0",
        extra="google-adk",
        module="hookwright.adapters.google_adk",
        line='App(name=…, root_agent=…, plugins=[HookwrightHooks(".")])',
        page="google-adk.md",
        tests="adapter-google-adk",
    ),
    Adapter(
        framework="Strands",
        package="strands-agents",
        tried="1.62.0",
        extra="strands",
        module="hookwright.adapters.strands",
        line='Agent(model=…, tools=…, hooks=[HookwrightHooks(".")])',
        page="strands.md",
        tests="adapter-strands",
    ),
    Adapter(
        framework="Claude Agent SDK",
        package="claude-agent-sdk",
        tried="0.2.182",
        module="hookwright.adapters.claude_agent_sdk",
        name="hooks",
        line='ClaudeAgentOptions(hooks=hooks("."), setting_sources=[])',
        page="claude-agent-sdk.md",
    ),
    Adapter(
        framework="any MCP client",
        line="hookwright mcp --name files -- npx some-server",
        page="mcp.md",
    ),
    Adapter(
        framework="any MCP client over HTTP",
        package="mcp",
        tried="2.3.0",
        extra="mcp",
        line="hookwright mcp --name files --listen 127.0.0.1:8765 -- npx some-server",
        page="mcp.md#clients-over-http",
        tests="adapter-mcp",
    ),
    Adapter(
        framework="any other",
        module="hookwright.adapters",
        name="Bridge",
        line='Bridge(".")',
        page="writing.md",
    ),
)

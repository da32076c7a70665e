"""What no project may set, trusted or not: where requests and credentials go, what is loaded, who is trusted."""

from __future__ import annotations

import re

#: Whole families of variables: every name of them redirects or loads something.
_PREFIXES = ("ANTHROPIC_", "BASH_FUNC_", "HOOKWRIGHT_", "DYLD_", "LD_", "XDG_")
_SUFFIXES = ("_BASE_URL", "_CA_BUNDLE", "_PROXY")
#: Names that programs read, in families that also have harmless names, such as GIT_AUTHOR_NAME and PYTHON_VERSION.
_FAMILIES = re.compile(
    r"GIT_(?:SSH|ASKPASS|PAGER|EXTERNAL_DIFF|PROXY_|EXEC_PATH|TEMPLATE_DIR|CONFIG|DIR$|WORK_TREE|COMMON_DIR|INDEX_|SSL_"
    r"|OBJECT_DIRECTORY|ALTERNATE_|NAMESPACE|TRACE|REDIRECT_|ATTR_|ALLOW_PROTOCOL|PROTOCOL|HTTP_|CURL_|TERMINAL_PROMPT"
    r"|QUARANTINE|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF|CEILING_|\w*EDITOR$)"
    r"|PYTHON[A-Z0-9]|PYTHON_(?:PRESITE|HISTORY)"
    r"|AWS_(?!(?:DEFAULT_)?REGION$|DEFAULT_OUTPUT$|MAX_ATTEMPTS$|RETRY_MODE$)"
    r"|OTEL_(?!SERVICE_NAME$|RESOURCE_ATTRIBUTES$)"
    r"|OPENAI_(?!\w*MODEL$)"
    r"|(?:AZURE_OPENAI|GEMINI|GOOGLE|MISTRAL|OPENROUTER|BEDROCK|VERTEX)_API_KEY$"
)
_NAMES = frozenset(
    {
        # programs and what they load
        *(
            "PATH",
            "PATHEXT",
            "SHELL",
            "COMSPEC",
            "ENV",
            "BASH_ENV",
            "IFS",
            "PS4",
            "PROMPT_COMMAND",
            "SHELLOPTS",
            "BASHOPTS",
        ),
        *("NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "CLASSPATH"),
        *("EDITOR", "VISUAL", "PAGER", "BROWSER"),
        # which servers a connection trusts
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED"),
        # where this program and its guards read their settings
        *("HOME", "TMPDIR", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"),
        *("CLAUDE_CODE_PROJECT_DIR_NAME", "CLAUDE_CODE_REMOTE", "CLAUDECODE"),
    }
)
#: Modes in which calls run without asking the user.
_MODES = frozenset({"bypassPermissions", "auto"})


def reserved_variable(name: str) -> bool:
    """Return whether a project may not set an environment variable."""
    upper = name.upper()
    if upper in _NAMES or upper.startswith(_PREFIXES) or upper.endswith(_SUFFIXES):
        return True
    return _FAMILIES.match(upper) is not None


def reserved_mode(mode: str) -> bool:
    """Return whether a project may not choose a permission mode."""
    return mode in _MODES

"""What no project may set, trusted or not: where requests and credentials go, what is loaded, who is trusted."""

from __future__ import annotations

_PREFIXES = (
    "ANTHROPIC_",
    "AWS_",
    "BASH_FUNC_",
    "HOOKWRIGHT_",
    "DYLD_",
    "GIT_",
    "LD_",
    "OPENAI_",
    "OTEL_",
    "PYTHON",
    "XDG_",
)
_SUFFIXES = ("_BASE_URL", "_CA_BUNDLE", "_PROXY", "_API_KEY")
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
    return upper in _NAMES or upper.startswith(_PREFIXES) or upper.endswith(_SUFFIXES)


def reserved_mode(mode: str) -> bool:
    """Return whether a project may not choose a permission mode."""
    return mode in _MODES

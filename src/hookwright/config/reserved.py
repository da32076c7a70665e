"""What a project may set: variables by name, and permission modes.

Law: a variable on the allowlist takes effect with the project's settings, if its value is plain where other programs
make it part of a host name or a path. One that loads code into programs, or that
is not known to be harmless, needs its own yes. One that decides where requests and credentials go, or whom Hookwright
trusts, is never a project's to set, trusted or not. The modes that ask nothing are never a project's to choose.
"""

from __future__ import annotations

import enum
import functools
import re


class Variable(enum.Enum):
    """What a project may do with an environment variable."""

    HARMLESS = "takes effect with the project's settings"
    UNKNOWN = "needs its own yes"
    LOADS_CODE = "can load code and needs its own yes"
    RESERVED = "is never a project's to set"


#: Where requests, credentials and this program's own settings go.
_RESERVED = r"""
    ANTHROPIC_.*|OPENAI_(?!\w*MODEL$).*|HOOKWRIGHT_.*|XDG_.*|.*_(?:BASE_URL|CA_BUNDLE|PROXY)
    |(?:AZURE_OPENAI|GEMINI|GOOGLE|MISTRAL|OPENROUTER|BEDROCK|VERTEX)_API_KEY
    |(?:HTTP|HTTPS|ALL|NO|FTP)_PROXY|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN|PROFILE
        |DEFAULT_PROFILE|CONFIG_FILE|SHARED_CREDENTIALS_FILE|ENDPOINT_URL.*|CA_BUNDLE|WEB_IDENTITY_TOKEN_FILE|ROLE_ARN
        |ROLE_SESSION_NAME|CONTAINER_.*|EC2_METADATA_.*|CREDENTIAL_.*|BEARER_TOKEN_.*)
    |OTEL_(?:EXPORTER_.*|RESOURCE_DETECTORS|PYTHON_.*|TRACES_EXPORTER|METRICS_EXPORTER|LOGS_EXPORTER|PROPAGATORS)
    |SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|HOME|USERPROFILE|TMPDIR|TMP|TEMP
    |CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?:SHELL_PREFIX|SUBPROCESS_ENV_SCRUB|PROJECT_DIR_NAME|REMOTE|USE_BEDROCK|USE_VERTEX
        |API_KEY_HELPER.*|OAUTH_.*)|CLAUDECODE|CLAUDE_PROJECT_DIR|CLAUDE_ENV_FILE"""
#: Programs, libraries, options and start files of other programs.
_LOADS_CODE = r"""
    PATH|PATHEXT|SHELL|COMSPEC|ENV|IFS|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_(?:ENV|FUNC_.*|LOADABLES_PATH
        |XTRACEFD)|CDPATH|FPATH|ZDOTDIR|INPUTRC|GLOBIGNORE|FCEDIT
    |LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_TUNABLES|RES_OPTIONS|HOSTALIASES
    |PYTHON(?:PATH|HOME|STARTUP|USERBASE|PLATLIBDIR|PYCACHEPREFIX|BREAKPOINT|INSPECT|EXECUTABLE|WARNINGS|SAFEPATH
        |NOUSERSITE|CASEOK|DEVMODE|MALLOC|PERF.*)|PYTEST_.*|PIP_.*|UV_.*|VIRTUAL_ENV|CONDA_.*|POETRY_.*|MYPYPATH
    |NODE_(?:OPTIONS|PATH|V8_COVERAGE|REPL_.*|CHANNEL_FD|ICU_DATA)|NPM_CONFIG_.*|YARN_.*|PNPM_.*|BUN_.*|DENO_.*|TS_NODE_.*
    |PERL.*|RUBY(?:LIB|OPT|SHELL|PATH)|GEM_.*|BUNDLE_.*|PHPRC|PHP_INI_SCAN_DIR|LUA_.*|R_.*|TCLLIBPATH|ERL_.*|ELIXIR_.*
    |JAVA_(?:TOOL_OPTIONS|OPTS|HOME)|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_.*|GRADLE_.*|SBT_.*|JVM_.*|DOTNET_.*
        |CORECLR_.*|COR_.*|MSBUILD.*|NUGET_.*|ASPNETCORE_HOSTINGSTARTUPASSEMBLIES
    |GIT_(?:SSH.*|EXEC_PATH|CONFIG.*|EDITOR|SEQUENCE_EDITOR|PAGER|ASKPASS|EXTERNAL_DIFF|DIR|WORK_TREE|COMMON_DIR
        |INDEX_.*|OBJECT_DIRECTORY|ALTERNATE_.*|TEMPLATE_DIR|PROXY_.*|TRACE.*|ALLOW_PROTOCOL|PROTOCOL|ATTR_.*|NAMESPACE
        |SSL_.*|HTTP_.*|CURL_.*|REDIRECT_.*|TERMINAL_PROMPT|QUARANTINE.*|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF.*|CEILING_.*)
    |SSH_.*|GPG_.*|GNUPGHOME|SUDO_.*|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS|LESSOPEN|LESSCLOSE|MORE|TERMINFO.*|TERMCAP
    |MAKE(?:FILES|FLAGS|LEVEL)?|MFLAGS|GNUMAKEFLAGS|CMAKE_.*|CC|CXX|LD|AR|CPP|.*FLAGS|GCC_.*|COMPILER_PATH|LIBRARY_PATH
        |C_INCLUDE_PATH|CPATH|PKG_CONFIG.*|RUSTC.*|RUST.*_WRAPPER|CARGO_.*|GO(?:ROOT|PATH|FLAGS|ENV|TOOLCHAIN|PROXY|BIN)
    |TAR_OPTIONS|RSYNC_.*|GREP_OPTIONS|ZIPOPT|UNZIP|XZ_.*|GZIP|CURL_HOME|WGETRC|DOCKER_.*|KUBECONFIG|KUBE_.*|HELM_.*
        |TF_.*|ANSIBLE_.*|VAGRANT_.*|AWK(?:PATH|LIBPATH)|JQ_LIBRARY_PATH|PSMODULEPATH|VIM.*|NVIM.*|EXINIT|TMUX.*|SCREENRC
    |(?:PY|RB|NOD|GO|J|PHP|PL|SWIFT|EX|CR|TF)ENV_.*|(?:ASDF|MISE|RTX|RVM|NVM|FNM|VOLTA|SDKMAN|RUSTUP|NODIST|PROTO)_.*
    |.*_(?:OPTIONS|OPTS|PRELOAD|WRAPPER|EDITOR|PAGER|SHELL|COMMAND|CMD|EXEC|PROGRAM|BINARY|BIN|PLUGINS?|MODULES?|LIBS?
        |LIBRARY|PATH|PATHS|RC|RCFILE|CONFIG|CONFIG_FILE|STARTUP|INIT|HOOKS?|LAUNCHER|INTERPRETER|PYTHON|NODE|AGENT|HOME)
    """
_KNOWN = frozenset(
    "TZ LANG LANGUAGE TERM COLORTERM COLUMNS LINES CI DEBUG VERBOSE QUIET NO_COLOR FORCE_COLOR CLICOLOR NODE_ENV "  # noqa: SIM905
    "RAILS_ENV RACK_ENV FLASK_ENV APP_ENV ENVIRONMENT STAGE REGION PORT LOG_LEVEL "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 MAX_THINKING_TOKENS "
    "MAX_MCP_OUTPUT_TOKENS MCP_TIMEOUT MCP_TOOL_TIMEOUT DISABLE_TELEMETRY DISABLE_AUTOUPDATER".split()
)
#: The last word of names that hold a plain value.
_PLAIN = r"""
    (?:LC|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)_(?:REGION|ZONE|VERSION|BRANCH|NAME|ENV|ENVIRONMENT|MODE|LEVEL|STAGE|STAGING
    |DEBUG|VERBOSE|QUIET|PORT|TIMEOUT|LIMIT|ENABLED|DISABLED|ENABLE|DISABLE|COLOR|LANG|LOCALE|TZ|TIMEZONE
    |COUNT|SIZE|WIDTH|HEIGHT|LENGTH|MS|SECONDS|MINUTES|RETRIES|WORKERS|JOBS|THREADS|TOKENS|ID|SLUG|TITLE|TAG|LABEL|KIND
    |TYPE|FORMAT|ENCODING|CTYPE|ALL|MESSAGES|NUMERIC|TIME|COLLATE|USER|OWNER|TEAM|ORG|PROJECT|SERVICE|ACCOUNT|CURRENCY
    |THRESHOLD|SEED|DATE|YEAR|MAX|MIN|PERCENT|RATE|SUFFIX|STYLE|THEME|QUEUE|TOPIC|TABLE|ATTRIBUTES|MODEL|ATTEMPTS)"""
#: Words in names of variables that decide where something goes, or what is checked.
_WEIGHTY = r"""
    (?:.*_)?(?:SSL|TLS|HTTPS?|VERIFY|CERTS?|CERTIFICATES?|AUTH|SECUR(?:E|ITY)|INSECURE|GUARDS?|POLICY|SANDBOX|TRUST(?:ED)?
    |PROXY|ENDPOINTS?|URLS?|URI|ADDR|ADDRESS|TOKEN|SECRETS?|PASSWORD|PWD|KEYS?|CREDENTIALS?|HOOKS?|PERMISSIONS?|ALLOW(?:ED)?
    |DENY|DENIED|CONFIRM|APPROVAL|REVIEW|CHECKS?|SCRUB|REGISTRY|REMOTE|SERVER|DOMAIN|UNIVERSE)(?:_.*)?"""
#: Values of variables that other programs put into a host name or a path: a region, a locale, a version.
_PART_OF_ADDRESS = r"(?:.*_)?(?:REGION|ZONE|VERSION|LANG|LANGUAGE|LOCALE|TERM|PORT|ENV|ENVIRONMENT|STAGE)|LC_.*"
_LABEL = r"[A-Za-z0-9_.,:+@\ -]*"
#: Modes in which calls run without asking the user.
_MODES = frozenset({"bypassPermissions", "auto"})


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern at its first use: most projects set no variables, and these patterns take 8 ms."""
    return re.compile(pattern, re.VERBOSE)


def _is(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None


def variable_kind(name: str, value: str = "") -> Variable:
    """Return what a project may do with an environment variable, whatever the case of its name."""
    kind = _kind(name.upper())
    if kind is Variable.HARMLESS and _is(_PART_OF_ADDRESS, name.upper()) and not _is(_LABEL, value):
        return Variable.UNKNOWN
    return kind


def _kind(upper: str) -> Variable:
    if _is(_RESERVED, upper):
        return Variable.RESERVED
    if upper in _KNOWN:
        return Variable.HARMLESS
    if _is(_LOADS_CODE, upper):
        return Variable.LOADS_CODE
    return Variable.HARMLESS if _is(_PLAIN, upper) and not _is(_WEIGHTY, upper) else Variable.UNKNOWN


def reserved_variable(name: str) -> bool:
    """Return whether a project may not set an environment variable, trusted or not."""
    return variable_kind(name) is Variable.RESERVED


def reserved_mode(mode: str) -> bool:
    """Return whether a project may not choose a permission mode."""
    return mode in _MODES

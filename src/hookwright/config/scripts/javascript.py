"""What JavaScript and TypeScript load: relative paths in the order in which Node tries them, and packages."""

from __future__ import annotations

import json
import os
import re

from hookwright.config.scripts.search import ScriptRole, ScriptSearch

_PATH = re.compile(r"""['"`](\.{1,2}(?:/[^'"`\n]*)?)['"`]""")
_BARE = re.compile(
    r"""(?:require\s{0,9}\(|from|import\s{0,9}\(?)(?:\s|/\*.{0,200}?\*/){0,9}['"`]([^'"`\n./][^'"`\n]*)['"`]"""
)
_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".json", ".node")
_INDEX = ("package.json", "index.js", "index.mjs", "index.cjs", "index.ts", "index.json", "index.node")
_BUILT_IN = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "  # noqa: SIM905
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)


def search_javascript(text: str, folder: str, search: ScriptSearch, top: str) -> None:
    """Add what code in a folder loads.

    Law: of a relative path every file that Node would try, up to the first that exists, so that one that appears
    before it is a change. Of a package the folder in the nearest `node_modules` up to the project, and the absent ones
    before it; what an installed package loads itself is not bound.
    """
    for name in dict.fromkeys(_PATH.findall(text)):
        add_module(os.path.normpath(os.path.join(folder, name)), search)
    for name in dict.fromkeys(_BARE.findall(text)):
        package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
        if package.removeprefix("node:").split("/")[0] not in _BUILT_IN and not name.startswith(("node:", "#")):
            _package(package, folder, search, top)
    if re.search(r"""['"`]#""", text):  # names that the package.json beside it gives
        search.add(os.path.join(folder, "package.json"), ScriptRole.NAMED)


def add_module(stem: str, search: ScriptSearch) -> None:
    """Add the files that a relative path may mean, in the order of Node."""
    for ending in _ENDINGS:
        if os.path.isdir(stem + ending):
            continue
        search.add(stem + ending, ScriptRole.RUN, "node")
        if os.path.isfile(stem + ending):
            return
    if os.path.isdir(stem):
        for name in _INDEX:
            search.add(os.path.join(stem, name), ScriptRole.RUN, "package" if name == "package.json" else "node")
            if name != "package.json" and os.path.isfile(os.path.join(stem, name)):
                return


def _package(name: str, folder: str, search: ScriptSearch, top: str) -> None:
    while True:
        place = os.path.join(folder, "node_modules", name)
        if os.path.isdir(place):
            search.add(place, ScriptRole.RUN)
            search.add(os.path.join(place, "package.json"), ScriptRole.RUN, "package")
            search.note(f"the installed package {name}")
            return
        search.add(place, ScriptRole.RUN)
        if folder in (top, os.path.dirname(folder)):
            return
        folder = os.path.dirname(folder)


def search_package(text: str, path: str, search: ScriptSearch) -> list[str]:
    """Add the entry of a package.json, and return the commands of its scripts."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    if isinstance(main := value.get("main"), str):
        add_module(os.path.normpath(os.path.join(os.path.dirname(path), main)), search)
    scripts = value.get("scripts")
    return [line for line in scripts.values() if isinstance(line, str)] if isinstance(scripts, dict) else []

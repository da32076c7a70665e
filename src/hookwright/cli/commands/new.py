"""Write a hook from a template: script, settings entry and cases."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence

from hookwright.cli.options import add_places, places
from hookwright.cli.terminal import Style, columns, folded
from hookwright.errors import ConfigError
from hookwright.protocol.sources import Scope
from hookwright.templates import Template, TemplateLanguage, load_template, template_names
from hookwright.templates.install import Installed, install
from hookwright.text import flat, say, short_path

SCOPES = {scope.value: scope for scope in (Scope.PROJECT, Scope.USER, Scope.LOCAL)}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("template", nargs="?", metavar="TEMPLATE", help="template name; --list shows them all")
    parser.add_argument("--list", action="store_true", help="list the templates")
    parser.add_argument("--show", action="store_true", help="print the script and its cases without writing files")
    parser.add_argument(
        "--lang",
        choices=[language.value for language in TemplateLanguage],
        default="bash",
        help="script language (default: bash)",
    )
    parser.add_argument(
        "--scope", choices=list(SCOPES), default="project", help="settings to add the hook to (default: project)"
    )
    add_places(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """List, show or write."""
    if args.list or args.template is None:
        if not args.list:
            raise ConfigError("name a template; `hookwright new --list` lists them")
        return _list(args.json)
    template = load_template(args.template)
    language = TemplateLanguage(args.lang)
    if args.show:
        say([template.scripts.get(language, "# settings only, no script"), template.cases], sys.stdout)
        return 0
    loaded = places(args).load()
    done = install(template, language, SCOPES[args.scope], loaded.locations)
    if args.json:
        print(json.dumps({"template": template.name, "done": [{"path": d.path, "what": d.what} for d in done]}))
    else:
        say(_lines(done, args), sys.stdout)
        say(_missing(template, language), sys.stdout)
    return 0


def _missing(template: Template, language: TemplateLanguage) -> Iterator[str]:
    """Warn about programs that the script starts and that are not here."""
    style = Style.of(sys.stdout)
    for program in template.needs(language):
        if shutil.which(program) is None:
            other = ", or use --lang python" if program == "jq" else ""
            yield f"  {style.warn('!')} it needs {program}, which is not installed here: install it{other}"


def _list(as_json: bool) -> int:
    templates = [load_template(name) for name in template_names()]
    if as_json:
        rows = [{"name": item.name, "title": item.title, "events": item.events} for item in templates]
        print(json.dumps(rows, indent=1))
        return 0
    style = Style.of(sys.stdout)
    width = max(len(item.name) for item in templates)
    for item in templates:
        lines = [
            f"{style.bold(item.name.ljust(width))}  {item.title}",
            style.dim(f"{'':{width}}  {', '.join(item.events)}"),
        ]
        say(folded(lines, columns(sys.stdout)), sys.stdout)
    return 0


def _lines(done: Sequence[Installed], args: argparse.Namespace) -> Iterator[str]:
    style = Style.of(sys.stdout)
    cwd = os.getcwd()
    for item in done:
        yield f"  {style.good('✓')} {flat(short_path(item.path, cwd))}  {style.dim(item.what)}"
    project = "" if args.project == "." else f" --project {args.project}"
    cases = next(item.path for item in done if item.path.endswith(".yaml"))
    yield f"next: hookwright test{project} --trust {short_path(cases, cwd)}"
    if args.scope != "user":
        yield f"then: hookwright trust{project}   (a project's hooks only run after you trust them)"

"""The themes, and the styles of lines."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.theme import Theme

DARK = Theme(
    name="hookwright-dark",
    primary="#7aa2f7",
    secondary="#717b99",
    accent="#e0af68",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8d0e0",
    background="#16181d",
    surface="#1d2026",
    panel="#262a32",
    dark=True,
    variables={"block-cursor-text-style": "bold"},
)
LIGHT = Theme(
    name="hookwright-light",
    primary="#2c5fb3",
    secondary="#767b88",
    accent="#9a6200",
    warning="#9a6200",
    error="#b3261e",
    success="#2e7d32",
    foreground="#22252b",
    background="#fbfaf7",
    surface="#f2f0eb",
    panel="#e6e3dc",
    dark=False,
    variables={"block-cursor-text-style": "bold"},
)
#: For NO_COLOR: the terminal's own colours, with bold for emphasis.
MONO = Theme(
    name="hookwright-mono",
    ansi=True,
    primary="ansi_default",
    secondary="ansi_default",
    accent="ansi_default",
    warning="ansi_default",
    error="ansi_default",
    success="ansi_default",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "block-cursor-text-style": "bold reverse",
        "input-cursor-text-style": "reverse",
    },
)
THEMES = {"dark": DARK, "light": LIGHT, "mono": MONO}

Styles = Mapping[str, Style]


def styles_of(theme: Theme) -> Styles:
    """Return the colours of every style name."""
    if theme.ansi:
        return _MONO_STYLES
    dim = Style(color="#7d8596" if theme.dark else "#6a6f7a")
    added, removed = ("#1e3326", "#3d2228") if theme.dark else ("#dcefdc", "#f6dedc")
    return {
        "": Style(color=theme.foreground),
        "dim": dim,
        "bold": Style(color=theme.foreground, bold=True),
        "good": Style(color=theme.success),
        "bad": Style(color=theme.error),
        "warn": Style(color=theme.warning),
        "accent": Style(color=theme.primary),
        "tool": Style(color=theme.foreground, bold=True),
        "add": Style(color=theme.success, bgcolor=added),
        "remove": Style(color=theme.error, bgcolor=removed),
        "code": Style(color=theme.accent),
        "link": Style(color=theme.primary, underline=True),
        "head": Style(color=theme.primary, bold=True),
    }


_MONO_STYLES: Styles = {
    "": Style(),
    "dim": Style(dim=True),
    "bold": Style(bold=True),
    "good": Style(),
    "bad": Style(bold=True),
    "warn": Style(bold=True),
    "accent": Style(bold=True),
    "tool": Style(bold=True),
    "add": Style(bold=True),
    "remove": Style(dim=True),
    "code": Style(bold=True),
    "link": Style(underline=True),
    "head": Style(bold=True, underline=True),
}


def wanted_theme(choice: str, env: Mapping[str, str]) -> Theme:
    """Choose a theme: mono under NO_COLOR, else the chosen one, else by the terminal's COLORFGBG, else dark."""
    if env.get("NO_COLOR"):
        return MONO
    if choice in THEMES:
        return THEMES[choice]
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if background in ("7", "15") else DARK

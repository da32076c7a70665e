"""Shell text as simple commands: words without quotes, comments left out, and the texts inside them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

#: Texts in texts: quotes, `$( )`, backticks. Deeper ones are reported as not bound.
MAX_DEPTH = 16
_BLANK = " \t\r"
_BREAK = ";&|()\n"


class Simple(msgspec.Struct):
    """One command: its words, the targets of `<`, and texts inside it that a shell may run."""

    words: list[str] = []
    reads: list[str] = []
    inner: list[str] = []
    #: Whether its output goes to another command.
    piped: bool = False


def simple_commands(text: str) -> Iterator[Simple]:
    """Split shell text.

    Law: a `#` starts a comment only where a word may start, outside quotes. Targets of `>` are left out, targets of
    `<` are `reads`. `$( )`, backticks, `<( )` and quoted text with blanks are `inner`, also if they are not closed.
    The time is linear in the length of the text.
    """
    scanner = _Scanner(text)
    current = Simple([], [], [])
    while (token := scanner.token()) is not None:
        kind, value = token
        if kind == "word":
            current.words.append(value)
        elif kind == "read":
            current.reads.append(value)
        elif kind == "break":
            current.inner += scanner.take_inner()
            current.piped = value == "|"
            if current.words or current.reads or current.inner:
                yield current
            current = Simple([], [], [])
    current.inner += scanner.take_inner()
    if current.words or current.reads or current.inner:
        yield current


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.inner: list[str] = []

    def take_inner(self) -> list[str]:
        """Return the inner texts since the last call."""
        found, self.inner = self.inner, []
        return found

    def token(self) -> tuple[str, str] | None:
        """Return the next word, read target or break; None at the end."""
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in _BLANK or text.startswith("\\\n", self.at):
                self.at += 1 if char in _BLANK else 2
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith((">(", "<("), self.at):
                return ("word", self.word())
            elif char in "<>" or (char == "&" and text.startswith("&>", self.at)):
                found = self._redirect()
                if found is not None:
                    return found
            elif char in _BREAK:
                self.at += 1
                return ("break", char)
            else:
                word = self.word()
                if word.isdigit() and text[self.at : self.at + 1] in ("<", ">"):
                    continue
                return ("word", word)
        return None

    def _redirect(self) -> tuple[str, str] | None:
        text, start = self.text, self.at
        while self.at < len(text) and text[self.at] in "<>&|-":
            self.at += 1
        operator = text[start : self.at]
        while self.at < len(text) and text[self.at] in _BLANK:
            self.at += 1
        if self.at >= len(text) or text[self.at] in "\n;":
            return None
        target = self.word() if text[self.at] not in ")|&" else ""
        return ("read", target) if operator.startswith("<") and target and not operator.startswith("<<-") else None

    def word(self) -> str:
        """Read one word and remove its quotes."""
        text, parts, quoted = self.text, [], False
        while self.at < len(text):
            char = text[self.at]
            if char == "\\":
                if text.startswith("\\\n", self.at):
                    parts.append("")
                else:
                    parts.append(text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char == "'":
                end = text.find("'", self.at + 1)
                end = len(text) if end < 0 else end
                parts.append(text[self.at + 1 : end])
                self.at, quoted = end + 1, True
            elif char == '"':
                parts.append(self._double())
                quoted = True
            elif char == "`":
                parts.append(self._until("`"))
            elif text.startswith(("$(", "<(", ">("), self.at):
                parts.append(self._parenthesis())
            elif text.startswith("${", self.at):
                end = text.find("}", self.at)
                end = len(text) if end < 0 else end + 1
                whole = text[self.at : end]
                self.inner += [whole[2:-1]] if "`" in whole or "(" in whole else []
                parts.append(whole)
                self.at = end
            elif char in _BLANK or char in _BREAK or char in "<>":
                break
            else:
                start = self.at
                while self.at < len(text) and text[self.at] not in " \t\r;&|()\n<>\\'\"`$":
                    self.at += 1
                self.at += self.at == start
                parts.append(text[start : self.at])
        value = "".join(parts)
        if quoted and any(blank in value for blank in " \t\n;"):
            self.inner.append(value)
        return value

    def _double(self) -> str:
        text, parts = self.text, []
        self.at += 1
        while self.at < len(text) and text[self.at] != '"':
            if text[self.at] == "\\":
                escaped = text[self.at + 1 : self.at + 2]
                parts.append(escaped if escaped in '"\\$`' else "" if escaped == "\n" else "\\" + escaped)
                self.at += 2
            elif text[self.at] == "`":
                parts.append(self._until("`"))
            elif text.startswith("$(", self.at):
                parts.append(self._parenthesis())
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in '"\\`$':
                    self.at += 1
                parts.append(text[start : self.at])
        self.at += 1
        return "".join(parts)

    def _until(self, mark: str) -> str:
        end = self.text.find(mark, self.at + 1)
        end = len(self.text) if end < 0 else end
        self.inner.append(self.text[self.at + 1 : end])
        whole = self.text[self.at : end + 1]
        self.at = end + 1
        return whole

    def _parenthesis(self) -> str:
        """Read `$( … )` or `<( … )`; quotes inside it may hold other brackets."""
        start = self.at
        self.at += 2
        depth, quote = 1, ""
        text = self.text
        while self.at < len(text) and depth:
            char = text[self.at]
            if char == "\\":
                self.at += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in "()":
                depth += 1 if char == "(" else -1
            self.at += 1
        self.at = min(self.at, len(text))
        self.inner.append(text[start + 2 : self.at - (depth == 0)])
        return text[start : self.at]

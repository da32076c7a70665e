"""A second reader of Bash text, independent of the parser: where words, quotes and expansions begin.

Law: the parser's tree is believed only where this scan finds the same words, quotes, comments, here-documents and
expansions at the same places. The scan knows nothing of grammar, the parser knows nothing of this scan, and every
character belongs to something. What the scan does not know is a `problem`: arithmetic over names, `${!x}`, `${x@P}`,
quotes inside quoted `${…}`, backslashes inside backticks.
"""

import re

import msgspec

_PLAIN = re.compile(r"[^\s\\'\"$`<>()#;&|]+")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_NUMBERS = re.compile(r"\(\([0-9\s+*/%()<>=!&|^~?:,-]*?\)\)")
_NAME = re.compile(r"\$[A-Za-z0-9_@*#?$!-]")
_LOOKED_UP = re.compile(
    r"""\$\{ (?: \#? (?: [A-Za-z_]\w* | [0-9]+ | [@*?$!#-] ) (?: \[ (?: [@*] | [0-9]+ ) \] )? )
    (?= \} | :?[-+?=] | \# | % | / | \^ | , | :\ ?-?[0-9]+(:-?[0-9]+)?\} | @[QEUuLAaKk]\} )""",
    re.VERBOSE,
)
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|[<>]&-?|>>|>\||[<>]")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[;&|()\n]")
_DELIMITER = re.compile(r"[ \t]*((?:[A-Za-z0-9_.!%+,/:=@^{}\[\]-]|\\[^\n]|'[^'\n]*'|\"[^\"\\$`\n]*\")+)")
_QUOTING = re.compile(r"['\"\\]")
_TRAILING_BACKSLASHES = re.compile(r"\\*$")
_DOUBLE = re.compile(r"[^\\\"$`]+")
_BODY = re.compile(r"[^\\$`]+")
_BRACE = re.compile(r"[^\\'\"$`}<>]+")

_QUOTED = frozenset(['"', "here"])
_SHELL_TEXT = frozenset(["", "(", "$(", "`"])


class Scan(msgspec.Struct, frozen=True):
    """What was found: positions of the text, by kind."""

    #: Where each expansion and each quoted part begins, with its opening characters.
    opened: dict[int, str]
    #: Where words begin.
    words: frozenset[int]
    #: Where words and redirections begin that follow a separator.
    after_separator: frozenset[int]
    comments: frozenset[int]
    #: Where the lines that end here-documents begin.
    ends: frozenset[int]
    #: Whether there is a here-document that Bash expands.
    expands_document: bool
    problem: str | None


class _Problem(Exception):
    pass


class _Document(msgspec.Struct):
    """A here-document whose body is still to come."""

    delimiter: str
    quoted: bool
    indented: bool


class _Frame(msgspec.Struct):
    """What is open at a place: shell text (`""`, `(`, `$(`, backticks), `"…"`, `${…}` or a here-document's body."""

    kind: str
    #: Where the frame ends at the latest.
    limit: int
    #: Whether quotes or a here-document are around it.
    quoted: bool = False
    documents: list[_Document] = []
    #: Where the text continues after the body of a here-document.
    resume: int = 0


def scan(text: str) -> Scan:
    """Scan a text once, from the left; stop at the first thing that is not known."""
    scanner = _Scanner(text)
    problem = None
    try:
        scanner.run()
    except _Problem as found:
        problem = str(found)
    return Scan(
        scanner.opened,
        frozenset(scanner.words),
        frozenset(scanner.starts),
        frozenset(scanner.comments),
        frozenset(scanner.ends),
        scanner.expands_document,
        problem,
    )


class _Scanner:
    """Scan a text with a stack of what is open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.stack = [_Frame("", len(text))]
        self.opened: dict[int, str] = {}
        self.words: set[int] = set()
        self.starts: set[int] = set()
        self.comments: set[int] = set()
        self.ends: set[int] = set()
        self.expands_document = False
        self.in_word = False
        self.separated = True

    def run(self) -> None:
        """Go through the text; every step moves on."""
        while self.stack:
            top = self.stack[-1]
            if self.at >= top.limit:
                self.close_at_limit(top)
            elif top.kind == "here":
                self.quoted_text(_BODY)
            elif top.kind == '"':
                self.quoted_text(_DOUBLE)
            elif top.kind == "${":
                self.brace(top)
            else:
                self.shell(top)

    def close_at_limit(self, top: _Frame) -> None:
        if top.kind not in ("", "`", "here") or self.at > top.limit or top.documents:
            raise _Problem("a quote, a bracket or a here-document is not closed")
        self.stack.pop()
        if top.kind == "here":
            self.at = top.resume
        if top.kind == "`":
            self.at += 1
            self.in_word = True

    def push(self, kind: str, limit: int | None = None) -> None:
        below = self.stack[-1]
        if below.documents and kind in _SHELL_TEXT:
            raise _Problem("a command follows the start of a here-document on the same line")
        quoted = below.kind in _QUOTED or (below.kind == "${" and below.quoted)
        self.stack.append(_Frame(kind, below.limit if limit is None else limit, quoted, []))

    def skip(self, found: re.Match[str]) -> None:
        self.at = found.end()
        if self.at > self.stack[-1].limit:
            raise _Problem("a quote reaches over the end of a backtick or a here-document")

    # ── shell text ──

    def shell(self, top: _Frame) -> None:
        char = self.text[self.at]
        if char in " \t":
            self.at += 1
            self.in_word = False
        elif char == "#" and not self.in_word:
            self.comments.add(self.at)
            end = self.text.find("\n", self.at, top.limit)
            self.at = top.limit if end < 0 else end
        elif char in "<>&" and self.redirection():
            pass
        elif separator := _SEPARATOR.match(self.text, self.at, top.limit):
            self.separator(separator[0], top)
        elif not (char == "\\" and self.continued()):
            self.begin_word()
            self.word_part(char, top)

    def begin_word(self) -> None:
        if not self.in_word:
            self.words.add(self.at)
            if self.separated:
                self.starts.add(self.at)
        self.in_word, self.separated = True, False

    def continued(self) -> bool:
        """Skip a line continuation between words; one inside a word is not read."""
        if not self.text.startswith("\\\n", self.at):
            return False
        if self.in_word:
            raise _Problem("a word or an operator continues on the next line")
        self.at += 2
        return True

    def redirection(self) -> bool:
        found = _REDIRECTION.match(self.text, self.at, self.stack[-1].limit)
        if found is None:
            return False
        after = self.text[found.end() : found.end() + 1]
        if found[0] in "<>" and after == "(":
            self.begin_word()
            self.opened[self.at] = f"{found[0]}("
            self.at += 2
            self.push("$(")
            self.in_word, self.separated = False, True
            return True
        if self.separated:
            self.starts.add(self.at)
        self.at = found.end()
        self.in_word = self.separated = False
        if found[0] in ("<<", "<<-"):
            self.document(found[0])
        return True

    def separator(self, found: str, top: _Frame) -> None:
        if found == "(" and self.text.startswith("((", self.at):
            numbers = _NUMBERS.match(self.text, self.at)
            if numbers is None:
                raise _Problem("arithmetic over names, or a bracket inside a bracket, is not read")
            self.begin_word()
            self.skip(numbers)
            return
        self.at += len(found)
        self.in_word, self.separated = False, True
        if found == "(":
            self.push("(")
        elif found == ")" and top.kind in ("(", "$("):
            if top.documents:
                raise _Problem("a here-document is not closed")
            self.stack.pop()
            self.in_word = top.kind == "$("
            inside = self.stack[-1].kind in ('"', "${", "here")
            self.separated = not self.in_word and not inside
        elif found == "\n":
            self.bodies(top)

    def word_part(self, char: str, top: _Frame) -> None:
        plain = _PLAIN.match(self.text, self.at, top.limit)
        if plain is not None:
            inside = any(frame.kind in ("(", "$(", "`") for frame in self.stack)
            if inside and plain[0] in ("case", "esac"):
                raise _Problem("a case inside brackets is not read")
            self.at = plain.end()
        elif char == "\\":
            self.at += 2
            if self.at > top.limit:
                raise _Problem("the command ends with a backslash")
        elif char == "'":
            self.single_quotes(top)
        elif char == '"':
            self.opened[self.at] = '"'
            self.at += 1
            self.push('"')
        elif char == "$":
            self.dollar(top)
        elif char == "`":
            self.backtick(top)
        elif char == "#":
            self.at += 1
        else:
            raise _Problem("the command contains an unusual space")

    def single_quotes(self, top: _Frame) -> None:
        end = self.text.find("'", self.at + 1, top.limit)
        if end < 0:
            raise _Problem("a quote is not closed")
        self.opened[self.at] = "'"
        self.at = end + 1

    # ── expansions ──

    def dollar(self, top: _Frame) -> None:
        text, at = self.text, self.at
        after = text[at + 1 : at + 2]
        if text.startswith("$((", at):
            numbers = _NUMBERS.match(text, at + 1)
            if numbers is None:
                raise _Problem("arithmetic over names is not read")
            self.opened[at] = "$(("
            self.skip(numbers)
        elif after == "(":
            self.opened[at] = "$("
            self.at += 2
            self.push("$(")
            self.in_word, self.separated = False, True
        elif after == "{":
            looked_up = _LOOKED_UP.match(text, at, top.limit)
            if looked_up is None:
                raise _Problem("an expansion with an unusual operator is not read")
            self.opened[at] = "${"
            self.at = looked_up.end()
            self.push("${")
        elif after == "[":
            raise _Problem("arithmetic in square brackets is not read")
        elif after in ("'", '"') and top.kind in _SHELL_TEXT:
            self.dollar_quote(after)
        elif text.startswith("\\\n", at + 1):
            raise _Problem("an expansion continues on the next line")
        elif _NAME.match(text, at, top.limit):
            self.opened[at] = "$"
            self.at += 2
        else:
            self.at += 1

    def dollar_quote(self, quote: str) -> None:
        string = _ANSI.match(self.text, self.at) if quote == "'" else None
        if string is None:
            raise _Problem('a translated string, $"…", is not read')
        self.opened[self.at] = "$'"
        self.skip(string)

    def backtick(self, top: _Frame) -> None:
        end = self.text.find("`", self.at + 1, top.limit)
        if end < 0 or "\\" in self.text[self.at : end]:
            raise _Problem("backticks that are open or contain a backslash are not read")
        self.opened[self.at] = "`"
        self.at += 1
        self.push("`", end)
        self.in_word, self.separated = False, True

    # ── quotes ──

    def quoted_text(self, plain: re.Pattern[str]) -> None:
        top = self.stack[-1]
        found = plain.match(self.text, self.at, top.limit)
        char = self.text[self.at]
        if found is not None:
            self.at = found.end()
        elif char == "\\":
            self.at += 2
        elif char == '"':
            self.at += 1
            self.stack.pop()
            self.in_word = True
        elif char == "$":
            self.dollar(top)
        else:
            self.backtick(top)

    def brace(self, top: _Frame) -> None:
        plain = _BRACE.match(self.text, self.at, top.limit)
        char = self.text[self.at]
        if plain is not None:
            self.at = plain.end()
        elif char == "}":
            self.at += 1
            self.stack.pop()
            self.in_word = True
        elif char == "\\":
            self.at += 2
        elif char == "$":
            self.dollar(top)
        elif char == "`":
            self.backtick(top)
        elif top.quoted and char in "'\"":
            raise _Problem("quotes inside a quoted ${…} are not read")
        elif char == "'":
            self.single_quotes(top)
        elif char == '"':
            self.opened[self.at] = '"'
            self.at += 1
            self.push('"')
        elif self.text.startswith("(", self.at + 1):
            raise _Problem("a process substitution inside ${…} is not read")
        else:
            self.at += 1

    # ── here-documents ──

    def document(self, operator: str) -> None:
        found = _DELIMITER.match(self.text, self.at, self.stack[-1].limit)
        after = self.text[found.end() : found.end() + 1] if found else "("
        if found is None or after not in (" ", "\t", "\n", ";", "|", "&", ")", "<", ">"):
            raise _Problem("the delimiter of a here-document is not read")
        raw = found[1]
        delimiter = re.sub(r"\\(.)|['\"]", lambda part: part[1] or "", raw)
        self.words.add(found.start(1))
        self.at = found.end()
        self.stack[-1].documents.append(_Document(delimiter, bool(_QUOTING.search(raw)), operator == "<<-"))

    def bodies(self, top: _Frame) -> None:
        """Read the bodies of the here-documents that began on the line that ends here."""
        if not top.documents:
            if any(frame.documents for frame in self.stack):
                raise _Problem("a here-document begins before a bracket that goes over several lines")
            return
        if len(top.documents) > 1:
            raise _Problem("several here-documents on one line are not read")
        document = top.documents.pop()
        end, after = self.body_end(document, top.limit)
        if document.quoted:
            self.at = after
            return
        self.expands_document = True
        self.stack.append(_Frame("here", end, quoted=True, resume=after))

    def body_end(self, document: _Document, limit: int) -> tuple[int, int]:
        """Return where the line that ends a here-document begins, and where the text goes on."""
        at, joined = self.at, False
        while at < limit:
            end = self.text.find("\n", at, limit)
            end = limit if end < 0 else end
            line = self.text[at:end]
            begin = at + (len(line) - len(line.lstrip("\t")) if document.indented else 0)
            if not joined and self.text[begin:end] == document.delimiter:
                self.ends.add(begin)
                return at, end
            backslashes = _TRAILING_BACKSLASHES.search(line)
            joined = not document.quoted and backslashes is not None and len(backslashes[0]) % 2 == 1
            at = end + 1
        raise _Problem("a here-document is not closed")

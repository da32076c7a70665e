"""A plain mutational fuzzer: random edits of inputs, words of the formats spliced in, no need of anything else."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

#: Pieces of the formats, and bytes that parsers trip over.
WORDS = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"\\n",
        b"null",
        b"true",
        b"1e999",
        b"-0",
    ),
    *(
        b'"hookSpecificOutput"',
        b'"hookEventName"',
        b'"permissionDecision"',
        b'"deny"',
        b'"allow"',
        b'"decision"',
        b'"block"',
    ),
    *(b'"continue"', b"false", b'"reason"', b'"updatedInput"', b'"PreToolUse"', b'"Stop"', b'"type"', b'"command"'),
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"\xf0\x9f\x98\x80",
        b"\r\n",
        b"\x1b[2J",
        b"\x1e",
    ),
    *(
        b"$(",
        b"`",
        b"'",
        b"${",
        b"<<EOF\n",
        b"&&",
        b"||",
        b";",
        b"|",
        b">",
        b"*",
        b"**",
        b"(?:",
        b"+)+",
        b"\\1",
        b"[^",
        b"{1,9}",
    ),
    *(
        b"---\n",
        b"- ",
        b": ",
        b"&a ",
        b"*a",
        b"!!",
        b"|\n",
        b">-\n",
        b"\t",
        b"../",
        b"~",
        b"//",
        b"@",
        b"%2e",
        b"[::1]",
    ),
)
LONGEST = 4096


def inputs(seeds: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Make inputs without end, the same for the same seed; a few of them become seeds themselves."""
    chance = random.Random(seed)
    pool = [*seeds, b""]
    while True:
        data = bytearray(chance.choice(pool))
        for _ in range(chance.choice((1, 1, 2, 3, 5, 9))):
            _edit(data, pool, chance)
        made = bytes(data[:LONGEST])
        if chance.random() < 0.02:
            pool.append(made)
            if len(pool) > 2000:
                del pool[len(seeds) + chance.randrange(1000)]
        yield made


def _edit(data: bytearray, pool: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 2, 4, 16, 64)))
    match chance.randrange(8):
        case 0:
            data[at:at] = chance.choice(WORDS)
        case 1:
            data[at:end] = chance.choice(WORDS)
        case 2:
            del data[at:end]
        case 3:
            data[at:at] = data[at:end] * chance.choice((1, 2, 8, 40))
        case 4 if data:
            data[at - 1] ^= 1 << chance.randrange(8)
        case 5 if data:
            data[at - 1] = chance.randrange(256)
        case 6:
            data[at:at] = chance.randbytes(chance.choice((1, 2, 8)))
        case _:
            other = chance.choice(pool)
            cut = chance.randrange(len(other) + 1)
            data[at:] = other[cut:]

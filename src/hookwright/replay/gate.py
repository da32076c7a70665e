"""Which findings make a replay fail, for CI."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from hookwright.errors import ConfigError
from hookwright.observers.percentiles import percentile
from hookwright.replay.model import Bucket
from hookwright.replay.totals import Totals
from hookwright.text import did_you_mean, plural

#: Words of `--fail-on`, besides `slow:TIME`.
WORDS = (*(bucket.value for bucket in Bucket if bucket is not Bucket.SAME), "errors")
_SLOW = re.compile(r"slow:(\d+(?:\.\d+)?)(ms|s)")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What must not be found."""

    words: frozenset[str] = frozenset()
    #: Most milliseconds that 95 % of the events may take; None for any time.
    slow: float | None = None
    #: The largest share of calls now refused that may have run and succeeded; None for any share.
    likely_false: float | None = None

    def failures(self, totals: Totals) -> Iterator[tuple[str, str]]:
        """Yield what was found of it, each as its word and a sentence."""
        for bucket in Bucket:
            count = totals.buckets[bucket].events
            if bucket.value in self.words and count:
                yield bucket.value, f"{plural(count, 'event')} {'is' if count == 1 else 'are'} {bucket.value}"
        if "errors" in self.words and totals.failed:
            yield "errors", f"{plural(totals.failed, 'run')} of the candidate's hooks gave no usable answer"
        took = percentile(totals.times, 0.95)
        if self.slow is not None and took > self.slow:
            yield "slow", f"p95 is {took:.0f} ms per event; the limit is {self.slow:g} ms"
        share = totals.likely_false_share
        if self.likely_false is not None and share > self.likely_false:
            what = f"{totals.likely_false} of {plural(totals.now_refused.events, 'call')} now refused"
            yield "likely-false", f"{what} ran then and succeeded: {share:.1%}; the limit is {self.likely_false:.1%}"


def read_gate(words: str, likely_false: str | None) -> Gate:
    """Read `stricter,errors,slow:200ms` and `1%`; raise ConfigError for anything else."""
    known, slow = set(), None
    for word in filter(None, (part.strip() for part in words.split(","))):
        timed = _SLOW.fullmatch(word)
        if timed is not None:
            slow = float(timed[1]) * (1000 if timed[2] == "s" else 1)
        elif word in WORDS:
            known.add(word)
        else:
            names = ", ".join(WORDS)
            raise ConfigError(f"--fail-on {word}: write {names} or slow:200ms{did_you_mean(word, WORDS)}")
    share = None
    if likely_false is not None:
        found = _SHARE.fullmatch(likely_false.strip())
        if found is None:
            raise ConfigError(f"--max-likely-false {likely_false}: write a share, for example 1%")
        share = float(found[1]) / 100
    return Gate(words=frozenset(known), slow=slow, likely_false=share)

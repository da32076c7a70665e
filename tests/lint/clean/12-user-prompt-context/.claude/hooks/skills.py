import json
import sys

KEYWORDS = {
    "migration": "docs/migrations.md describes how migrations are written here.",
    "release": "docs/release.md has the release checklist.",
    "benchmark": "make bench runs the benchmarks; results go to bench/results.",
}

prompt = json.load(sys.stdin)["prompt"].lower()
hints = [hint for word, hint in KEYWORDS.items() if word in prompt]
if hints:
    print("\n".join(hints))

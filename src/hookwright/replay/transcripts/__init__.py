"""Transcripts as the past: find the files, read their lines, rebuild the events.

| module | contents |
|---|---|
| `files` | `find`: the files of sources, each session with its subagents, in an order that only depends on contents |
| `lines` | `lines_of`: the lines of one file, which may be huge, torn, compressed or growing |
| `shapes` | the typed parts of a line: `Line`, `Message`, `Block` |
| `fates` | `fate_of`: what became of a call, by its result |
| `repairs` | `repaired`: a call as hooks read it |
| `calls`, `turns` | the events of one conversation: tool calls; prompts, stops, compactions |
| `conversation` | `rebuild`: all events of one file, in order |
| `recordings` | events that a recorder or an observer hook kept whole |
| `once` | each call once, whatever file repeats it |
"""

"""An index of transcripts: what reading them once found, so that the next replay need not read them again.

| module | contents |
|---|---|
| `table` | `EventTable`: the events of one file without the responses of tools, and what was counted |
| `build` | `built`: read a whole file into a table |
| `store` | `IndexFolder`: tables on disk, bound to the content of their files; private, and never too large |
| `reading` | `IndexedReader`: the events of a file from its table, or from the file |
"""

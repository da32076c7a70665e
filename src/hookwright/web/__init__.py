"""The live console: hook traffic of all sessions of this machine, in a page that only this user can open.

| module | contents |
|---|---|
| `door` | which request may be answered: one law, before anything else |
| `traffic` | the journal as slim rows in memory, with their lines on disk |
| `wires` | what sessions write for an open console: inputs, outputs, texts, hooks that have not ended |
| `views` | what the page shows, from the same functions as the commands |
| `app` | the routes, the stream and the headers |
| `serving` | one console per state folder: its address, its lock, its end |
"""

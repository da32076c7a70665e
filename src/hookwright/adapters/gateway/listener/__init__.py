"""The gateway for clients over streamable HTTP.

| module | contents |
|---|---|
| `doors` | which requests are let in: host, origin, types |
| `replies` | what a client reads: the answers to its requests, and its stream |
| `connection` | one client: its hooks, its server and the gateway between them |
| `sessions` | the connections by session id, bounded, each ended by its owner |
| `front` | the HTTP side: POST, GET and DELETE |
| `listen` | the listening socket, from the start to the last session |
"""

"""The bridge every adapter is built on: one session of hooks for many conversations.

| module | contents |
|---|---|
| `bridge` | `Bridge`: one session of hooks for many conversations, from any thread; `BridgeSetup` |
| `conversation` | what the bridge remembers of one conversation |
| `turn` | `Turn`: one run of an agent, moment by moment, and the orders that hooks give |
| `calls` | the tool calls of a run |
| `events` | what the events of a run have in common |
| `orders` | what an adapter has to do: `Before`, `After`, `Prompted`, `Requested`, `Stopped` |
| `reconcile` | tool results that no hook was asked about |
| `portal` | the thread in which hooks run |
| `moments` | one law for the plain and the async form of a framework's methods |
"""

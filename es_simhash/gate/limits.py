"""The limits of a gate: what a request may take, what all may take together, and how slow a client may be.

They are read where they apply, when they apply.
"""

from __future__ import annotations

# Bytes of a body, or of a line of /bulk or standard input.
BODY = 8 << 20
# Bytes of all bodies and lines that are read, parsed or answered at once, with what they take when parsed.
AT_WORK = 128 << 20
# Bytes of each request that are not counted, so that small ones are read whatever others send.
UNCOUNTED = 64 << 10

# Documents of a list.
DOCUMENTS = 1000
# Values (items of lists, and fields of objects) of a body or a line; how deep they nest; digits of an integer.
VALUES = 250_000
DEPTH = 100
DIGITS = 1000

# Documents that may wait for the engine, and bytes of those that are judged together.
WAITING = 1000
BATCH_BYTES = 8 << 20

# Connections at once. Of these, one that waits for its client makes way for a new one.
CONNECTIONS = 1000
# Bytes of a request's head, or of the trailers of its body.
HEAD = 64 << 10
# Requests on one connection that are sent before the first one is answered.
PIPELINED = 16
# Bytes of answers that clients have not read, all together.
UNREAD_BYTES = 64 << 20

# Seconds for which a connection may be without a request, or with the beginning of one.
SILENCE = 60.0
# The bytes of a body, or of a line of more than UNCOUNTED bytes, that come within these seconds, unless it ends.
PROGRESS, STALLED = 32 << 10, 30.0
# Seconds of waiting after which a slow body or line makes way if others need its room.
MAKES_WAY = 5.0
# Seconds for which /bulk waits for the end of a line, or for another one.
PAUSE = 3600.0
# Seconds in which a client reads nothing of what it was answered.
UNREAD = 120.0

# Bytes and documents that are parsed, or rendered, at once; for more, the other clients are answered in the meantime.
AT_ONCE = 16 << 10
RENDERED_AT_ONCE = 20

"""Modules of the standard library that are safe to import before the event.

Importing them reads only their own files, no variable of an event and no clock (`logging` does, and is corrected),
starts no thread and draws no random number that outlives a fork. A test checks all of them.
"""

from __future__ import annotations

_NAMES = """
    abc argparse ast asyncio base64 binascii bisect calendar codecs collections collections.abc concurrent.futures
    configparser contextlib contextvars copy csv dataclasses datetime decimal difflib email email.message
    email.utils enum errno fcntl fnmatch fractions functools getopt getpass gettext glob graphlib grp gzip hashlib
    heapq hmac html html.parser http http.client importlib importlib.metadata importlib.util inspect io ipaddress
    itertools json keyword linecache locale logging logging.handlers lzma math mimetypes netrc numbers operator
    os.path pathlib pickle pkgutil platform posixpath pprint pwd queue random re reprlib resource secrets select
    selectors shlex shutil signal socket sqlite3 ssl stat statistics string struct subprocess tarfile tempfile
    textwrap threading time token tokenize tomllib traceback types typing unicodedata urllib urllib.error
    urllib.parse urllib.request uuid warnings weakref xml.etree.ElementTree zipfile zlib
"""

PRELOADED = tuple(_NAMES.split())

"""Run command hooks: what is started, where, and with which environment."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping

from detent.background import Background, async_request
from detent.events import Event
from detent.executors import _process as process
from detent.executors.job import Job
from detent.handlers import CommandHandler
from detent.host import Host
from detent.replies import Exited, Failed, Failure, Reply
from detent.spill import session_folder

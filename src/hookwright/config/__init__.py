"""Configuration: find settings files, read them with every problem, merge them, and check what is trusted."""

from hookwright.config.frontmatter import ComponentFile, Frontmatter, component_groups, read_frontmatter
from hookwright.config.items import Changed, Item, New, Trusted
from hookwright.config.load import FileRead, FileStatus, Loaded, Places, load_hooks
from hookwright.config.review import Review, Reviewed, accept, review, review_line, shown_entry, waits_for_review
from hookwright.config.settings import PermissionSettings, Settings, Sourced, Switch
from hookwright.config.trust import TrustGate, TrustPolicy
from hookwright.config.truststore import Record, TrustStore

__all__ = [
    "Changed",
    "ComponentFile",
    "FileRead",
    "FileStatus",
    "Frontmatter",
    "Item",
    "Loaded",
    "New",
    "PermissionSettings",
    "Places",
    "Record",
    "Review",
    "Reviewed",
    "Settings",
    "Sourced",
    "Switch",
    "TrustGate",
    "TrustPolicy",
    "TrustStore",
    "Trusted",
    "accept",
    "component_groups",
    "load_hooks",
    "read_frontmatter",
    "review",
    "review_line",
    "shown_entry",
    "waits_for_review",
]

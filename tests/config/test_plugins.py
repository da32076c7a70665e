from pathlib import Path
from typing import Any

import pytest

from hookwright.config.trust import TrustPolicy
from hookwright.errors import ConfigError
from hookwright.protocol.sources import Scope
from worlds import World, hook, labels, runnable

ID = "tools@market"


def install(world: World, root: str | Path = "installed/tools", name: str = "tools", hooks: Any = None) -> Path:
    """Lay out a plugin with one hook."""
    folder = world.root / root
    world.write(folder / ".claude-plugin" / "plugin.json", {"name": name, "version": "1.0.0"})
    world.write(folder / "hooks" / "hooks.json", hooks if hooks is not None else {"description": "d", **hook("plugin")})
    return folder


def register(world: World, records: Any) -> None:
    world.write(world.home / ".claude" / "plugins" / "installed_plugins.json", {"version": 2, "plugins": {ID: records}})


@pytest.mark.req("R-009")
def test_an_enabled_plugin_brings_its_hooks_and_a_disabled_one_does_not(world: World) -> None:
    root = install(world)
    register(world, [{"scope": "user", "installPath": str(root), "version": "1.0.0"}])
    world.write("user", {"enabledPlugins": {ID: True}})
    loaded = world.load()
    assert runnable(loaded) == ["plugin"]
    source = next(iter(loaded.hooks)).handler.source
    assert source.scope is Scope.PLUGIN
    assert source.plugin is not None
    assert (source.plugin.name, source.plugin.root) == ("tools", str(root))
    assert source.plugin.data == str(world.home / ".claude" / "plugins" / "data" / "tools-market")
    world.write("user", {"enabledPlugins": {ID: False}})
    assert labels(world.load()) == []
    world.write("user", {})
    assert labels(world.load()) == []


def test_a_stronger_scope_may_disable_a_plugin(world: World) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    world.write("user", {"enabledPlugins": {ID: True}})
    world.write("project", {"enabledPlugins": {ID: False}})
    assert labels(world.load()) == []
    # … but not when it is the file of an untrusted project.
    assert runnable(world.load(trust=TrustPolicy.STORED)) == ["plugin"]


@pytest.mark.req("R-356")
def test_plugin_hooks_stand_between_project_and_local_and_are_not_merged(world: World) -> None:
    for scope in ("user", "project", "local"):
        world.write(scope, hook(scope))
    one, two = (install(world, name, name, hook("${CLAUDE_PLUGIN_ROOT}/same.sh")) for name in ("one", "two"))
    loaded = world.load(plugin_dirs=[str(one), str(two)])
    same = "${CLAUDE_PLUGIN_ROOT}/same.sh"
    assert labels(loaded) == ["user", "project", same, same, "local"]


@pytest.mark.req("R-009")
@pytest.mark.parametrize(
    ("manifest", "expected", "codes"),
    [
        ({}, ["standard"], []),
        ({"hooks": "./extra.json"}, ["standard", "extra"], []),
        ({"hooks": ["./extra.json", "./more.json"]}, ["standard", "extra", "more"], []),
        ({"hooks": hook("inline")["hooks"]}, ["standard", "inline"], []),
        ({"hooks": hook("inline")}, ["standard", "inline"], []),
        ({"hooks": "./hooks/hooks.json"}, ["standard"], ["duplicate-hooks-file"]),
        ({"hooks": "./gone.json"}, ["standard"], ["plugin-unreadable"]),
        ({"hooks": "../outside.json"}, ["standard"], ["plugin-unreadable"]),
        ({"hooks": "./link.json"}, ["standard"], ["plugin-unreadable"]),
        ({"hooks": [5, "./extra.json"]}, ["standard", "extra"], ["plugin-unreadable"]),
        ("{,}", ["standard"], ["invalid-json"]),
    ],
    ids=["none", "path", "paths", "inline", "inline-wrapped", "again", "gone", "outside", "link", "mixed", "broken"],
)
def test_hooks_of_a_manifest(world: World, manifest: Any, expected: list[str], codes: list[str]) -> None:
    root = install(world, "plugin", hooks=hook("standard"))
    world.write("outside.json", hook("outside"))
    (root / "link.json").symlink_to(world.root / "outside.json")
    for name in ("extra", "more"):
        world.write(root / f"{name}.json", hook(name))
    value = manifest if isinstance(manifest, str) else {"name": "tools", **manifest}
    world.write(root / ".claude-plugin" / "plugin.json", value)
    loaded = world.load(plugin_dirs=[str(root)])
    assert labels(loaded) == expected
    assert [report.code for report in loaded.diagnostics] == codes


@pytest.mark.parametrize(
    ("hooks", "expected", "codes"),
    [
        (hook("bare")["hooks"], ["bare"], []),
        ({"description": "d", **hook("wrapped")}, ["wrapped"], []),
        ({"hooks": {}, "modules": ["x.js"]}, [], ["unknown-key"]),
        ([], [], ["not-an-object"]),
        ("{,}", [], ["invalid-json"]),
    ],
    ids=["bare", "wrapped", "modules", "list", "broken"],
)
def test_forms_of_the_hooks_file(world: World, hooks: Any, expected: list[str], codes: list[str]) -> None:
    loaded = world.load(plugin_dirs=[str(install(world, hooks=hooks))])
    assert labels(loaded) == expected
    assert [report.code for report in loaded.diagnostics] == codes


def test_a_plugin_without_manifest_is_named_after_its_folder(world: World) -> None:
    world.write("folder-name/hooks/hooks.json", hook("x"))
    loaded = world.load(plugin_dirs=["../folder-name"])
    assert [item.plugin.name for item in loaded.plugins] == ["folder-name"]
    assert loaded.plugins[0].plugin.root == str(world.root / "folder-name")


def test_a_missing_plugin_directory_is_an_error(world: World) -> None:
    with pytest.raises(ConfigError, match="--plugin-dir gone: no such directory"):
        world.load(plugin_dirs=["gone"])


@pytest.mark.parametrize(
    ("records", "chosen"),
    [
        ({"installPath": "{root}/v1"}, "v1"),
        ([{"scope": "user", "installPath": "{root}/v1"}], "v1"),
        (
            [
                {"scope": "project", "projectPath": "/another", "installPath": "{root}/v1"},
                {"scope": "user", "installPath": "{root}/v2"},
            ],
            "v2",
        ),
        (
            [
                {"scope": "user", "installPath": "{root}/v1"},
                {"scope": "project", "projectPath": "{project}", "installPath": "{root}/v2"},
            ],
            "v2",
        ),
        ([{"scope": "project", "projectPath": "/another", "installPath": "{root}/v1"}], None),
        ([{"scope": "user", "installPath": "{root}/gone"}], None),
        ([{"scope": "user"}, 5], None),
        ("text", None),
    ],
    ids=["first-version", "user", "other-project-first", "this-project-first", "other-project", "gone", "odd", "text"],
)
def test_the_installation_for_this_project_is_chosen(world: World, records: Any, chosen: str | None) -> None:
    for name in ("v1", "v2"):
        install(world, f"cache/{name}", hooks=hook(name))

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{root}", str(world.root / "cache")).replace("{project}", str(world.project))
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return [filled(item) for item in value] if isinstance(value, list) else value

    register(world, filled(records))
    world.write("user", {"enabledPlugins": {ID: True}})
    loaded = world.load()
    assert labels(loaded) == ([chosen] if chosen else [])
    assert [report.code for report in loaded.diagnostics] == ([] if chosen else ["plugin-unreadable"])


def test_without_a_record_the_newest_version_in_the_cache_counts(world: World) -> None:
    for version in ("1.9.0", "1.10.0", "1.2.0"):
        install(world, world.home / ".claude" / "plugins" / "cache" / "market" / "tools" / version, hooks=hook(version))
    world.write("user", {"enabledPlugins": {ID: True}})
    assert labels(world.load()) == ["1.10.0"]


@pytest.mark.parametrize("name", ["../../evil@market", "tools@../../..", "tools", "@", "a/b@c"])
def test_odd_plugin_names_lead_nowhere(world: World, name: str) -> None:
    install(world, "evil")
    world.write("user", {"enabledPlugins": {name: True}})
    loaded = world.load()
    assert labels(loaded) == []
    assert [report.code for report in loaded.diagnostics] == ["plugin-unreadable"]


def test_options_come_from_the_settings(world: World) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    options = {"endpoint": "https://x", "retries": 3, "on": True}
    world.write("user", {"enabledPlugins": {ID: True}, "pluginConfigs": {ID: {"options": options}}})
    plugin = world.load().plugins[0].plugin
    assert plugin.options == (("endpoint", "https://x"), ("retries", "3"), ("on", "true"))


# ── trust and switches ──────────────────────────────────────────────────────


@pytest.mark.req("R-366")
@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_plugin_that_only_the_project_enables_needs_trust(world: World, scope: str) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    world.write(scope, {"enabledPlugins": {ID: True}})
    loaded = world.load(trust=TrustPolicy.STORED)
    assert labels(loaded) == ["plugin"]
    assert runnable(loaded) == []
    assert {report.code for report in loaded.diagnostics} == {"untrusted", "setting-ignored"}
    assert runnable(world.load(trust=TrustPolicy.EVERYTHING)) == ["plugin"]


@pytest.mark.req("R-366")
def test_a_plugin_inside_the_project_needs_trust_however_it_is_enabled(world: World) -> None:
    root = install(world, world.project / "plugins" / "tools")
    register(world, [{"scope": "user", "installPath": str(root)}])
    world.write("user", {"enabledPlugins": {ID: True}})
    assert runnable(world.load(trust=TrustPolicy.STORED)) == []
    assert runnable(world.load(trust=TrustPolicy.STORED, plugin_dirs=[str(root)])) == []


def test_a_plugin_that_the_user_enables_too_needs_no_trust(world: World) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    for scope in ("user", "project"):
        world.write(scope, {"enabledPlugins": {ID: True}})
    assert runnable(world.load(trust=TrustPolicy.STORED)) == ["plugin"]


def test_a_plugin_that_the_user_disabled_is_not_even_listed_for_an_untrusted_project(world: World) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    world.write("user", {"enabledPlugins": {ID: False}})
    world.write("project", {"enabledPlugins": {ID: True}})
    assert labels(world.load(trust=TrustPolicy.STORED)) == []


@pytest.mark.parametrize("switch", ["user", "managed-only"])
def test_a_plugin_that_managed_settings_enable_cannot_be_switched_off(world: World, switch: str) -> None:
    register(world, [{"scope": "user", "installPath": str(install(world))}])
    other = install(world, "other", "other", hook("other"))
    managed: dict[str, Any] = {"enabledPlugins": {ID: True}}
    if switch == "user":
        world.write("user", {"disableAllHooks": True})
    else:
        managed["allowManagedHooksOnly"] = True
    world.write("managed", managed)
    loaded = world.load(plugin_dirs=[str(other)])
    assert labels(loaded) == ["plugin", "other"]
    assert runnable(loaded) == ["plugin"]

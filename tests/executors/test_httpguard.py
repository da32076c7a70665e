"""Which URLs and addresses an HTTP hook may reach."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.executors._httpguard import (
    HttpTarget,
    RefusedAddress,
    allows,
    anywhere,
    matches,
    metadata_address,
    parse_url,
)


def target(url: str) -> HttpTarget:
    found = parse_url(url)
    assert isinstance(found, HttpTarget), found
    return found


# ── URLs ──


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", HttpTarget("http", "example.com", 80, "/")),
        ("HTTPS://Example.COM./Hook?a=B", HttpTarget("https", "example.com", 443, "/Hook?a=B")),
        ("http://127.0.0.1:8080/a/b#frag", HttpTarget("http", "127.0.0.1", 8080, "/a/b")),
        ("http://[::1]:9/x", HttpTarget("http", "[::1]", 9, "/x")),
        ("http://[0:0:0:0:0:0:0:1]/", HttpTarget("http", "[::1]", 80, "/")),
        ("https://example.com:443", HttpTarget("https", "example.com", 443, "/")),
        ("http://example.com?q=1", HttpTarget("http", "example.com", 80, "/?q=1")),
        ("http://bücher.example/ü", HttpTarget("http", "xn--bcher-kva.example", 80, "/%C3%BC")),
        ("http://ｅxample.com/", HttpTarget("http", "example.com", 80, "/")),
        ("http://h/a/./b/../c", HttpTarget("http", "h", 80, "/a/c")),
        ("http://h/public/%2e%2E/admin", HttpTarget("http", "h", 80, "/admin")),
        ("http://h/a/..", HttpTarget("http", "h", 80, "/")),
        ("http://h/../../x", HttpTarget("http", "h", 80, "/x")),
        ("http://h/a//b/", HttpTarget("http", "h", 80, "/a//b/")),
    ],
)
def test_url_is_taken_apart_as_it_is_sent(url: str, expected: HttpTarget) -> None:
    assert parse_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/hook",
        "ftp://example.com/",
        "file:///etc/passwd",
        "http:///path",
        "http://good.example@evil.example/",
        "http://good.example:80@evil.example/",
        "http://evil.example\\@good.example/",
        "http://evil.example\\.good.example/",
        "http://good%2eexample/",
        "http://good.example%00.evil.example/",
        "http://good.example%40evil.example/",
        "http://exa mple.com/",
        "http://example.com/a\r\nX-Evil: 1",
        "http://exam\tple.com/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://example.com:8o/",
        "http://example.com:٣/",
        "http://example.com:1:2/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http://[::1]evil.example/",
        "http://a..b/",
        " http://example.com/",
    ],
)
def test_url_that_could_be_read_in_two_ways_is_refused(url: str) -> None:
    assert isinstance(parse_url(url), RefusedAddress)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    found = parse_url("http://" + text)
    if isinstance(found, HttpTarget):
        sent = f"{found.scheme}://{found.authority}{found.path}"
        assert sent.isascii()
        assert not set(sent) & set(" \r\n\t\\#")
        assert parse_url(sent) == found


# ── patterns ──

HOOK = "http://127.0.0.1:8080/hook/a"


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("http://127.0.0.1:*", HOOK),
        ("http://127.0.0.1:8080/*", HOOK),
        ("http://127.0.0.1:*/hook/*", HOOK),
        ("http://127.0.0.1*", HOOK),
        (HOOK, HOOK),
        ("*", HOOK),
        ("*", "https://example.com/"),
        ("https://*", "https://example.com:8443/x"),
        ("*://example.com/*", "https://example.com/x"),
        ("https://EXAMPLE.com./*", "https://example.com/x"),
        ("https://example.com/*", "https://Example.COM./x"),
        ("https://*.example.com/*", "https://a.b.example.com/x?y#z"),
        ("*.example.com/*", "https://a.example.com/x"),
        ("https://example.com:443/*", "https://example.com/x"),
        ("https://example.com", "https://example.com/"),
        ("http://[::1]:*/*", "http://[::1]:3000/x"),
        ("http://[0:0::1]:3000/*", "http://[::1]:3000/x"),
        ("https://bücher.example/*", "https://xn--bcher-kva.example/x"),
        ("http://127.0.0.1:*", "http://127.0.0.1/x"),
        ("https://example.com/*/end", "https://example.com/a/b/end"),
    ],
)
def test_pattern_lets_through(pattern: str, url: str) -> None:
    assert matches(pattern, target(url))


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("https://example.com/*", HOOK),
        ("https://example.com/*", "http://example.com/x"),
        ("https://example.com/*", "https://example.com.evil.example/x"),
        ("https://example.com/*", "https://evilexample.com/x"),
        ("https://example.com/*", "https://example.com:8443/x"),
        ("https://*.example.com/*", "https://evil.example/.example.com/"),
        ("https://*.example.com/*", "https://evil.example/?x=.example.com/"),
        ("https://*.example.com/*", "https://evil.example#.example.com/"),
        ("https://*.example.com/*", "https://example.com/x"),
        ("*.example.com/*", "https://evil.example/.example.com/x"),
        ("https://example.com/public/*", "https://example.com/public/../admin"),
        ("https://example.com/public/*", "https://example.com/public/%2e%2e/admin"),
        ("https://example.com/Hook", "https://example.com/hook"),
        ("https://example.com", "https://example.com/x"),
        ("example.com/*", "https://example.com/x"),
        ("https://good.example@evil.example/*", "https://evil.example/"),
        ("http://127.0.0.1:80*", "http://127.0.0.1:9080/"),
        ("", "https://example.com/"),
        ("https://example.com/a*b*c", "https://example.com/acb"),
    ],
)
def test_pattern_keeps_out(pattern: str, url: str) -> None:
    assert not matches(pattern, target(url))


def test_no_list_allows_all_and_an_empty_list_nothing() -> None:
    here = target(HOOK)
    assert allows(None, here)
    assert not allows([], here)
    assert allows(["https://example.com/*", "http://127.0.0.1:*"], here)


@given(st.lists(st.sampled_from(["a", "b", "*", "aa"]), max_size=8), st.text(alphabet="ab", max_size=12))
def test_wildcards_agree_with_a_regular_expression(parts: list[str], text: str) -> None:
    pattern = "".join(parts)
    expected = re.fullmatch(pattern.replace("*", ".*"), text) is not None
    assert matches(f"http://h/{pattern}", target(f"http://h/{text}")) == expected


def test_many_wildcards_take_linear_time() -> None:
    assert not matches("http://h/" + "*a" * 200 + "b", target("http://h/" + "a" * 5000))


# ── addresses ──


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "fe80::1%eth0",
        "febf::1",
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
    ],
)
def test_metadata_addresses_are_refused_in_every_spelling(address: str) -> None:
    refused = metadata_address("some.example", ["127.0.0.1", address])
    assert refused is not None
    assert address in refused.message
    assert anywhere("some.example", [address]) is None


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1"]
)
def test_other_addresses_are_not(address: str) -> None:
    assert metadata_address("some.example", [address]) is None


@pytest.mark.parametrize("name", ["metadata.google.internal", "METADATA.google.internal.", "metadata", "metadata.goog"])
def test_metadata_names_are_refused_before_anything_is_resolved(name: str) -> None:
    assert metadata_address(name, []) is not None

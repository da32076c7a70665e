"""What looks like a credential: in a text, and among the variables of an environment."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

#: Words that name a credential, as a variable, a key, a header or an option does.
_NAMES = (
    r"(?:token|secret|passw(?:or)?d|passphrase|passcode|pass|pwd|api[-_.]?key|apikey|access[-_]?key|account[-_]?key"
    r"|private[-_]?key|secret[-_]?key|signing[-_]?key|encryption[-_]?key|master[-_]?key|license[-_]?key|auth[-_]?key"
    r"|shared[-_]?access[-_]?\w{0,12}|credentials?|session[-_]?id|sessionid|signature|authtoken|_auth|bearer|cookie"
    r"|connection[-_]?string|webhook(?:[-_]?url)?|dsn|pat|otp|pin[-_]?code|x-api-key|x-auth-token)"
)
#: Values that are not credentials: variables, placeholders, code that reads one, and ordinary words.
_NOT = (
    r"(?!\$[A-Za-z_{(]|<|\{|\[|\(|\*{3}|%\(|\.\.\.|…|os\.|process\.|self\.|req(?:uest)?\.|config\.|settings\.|getenv"
    r"|secrets?\.|env\.|environ|null\b|nil\b|none\b|true\b|false\b|undefined\b|str\b|string\b|int\b|bytes\b|bool\b"
    r"|[A-Z][A-Za-z]{1,40}\s?[)|,]|optional\b|missing\b|required\b|invalid\b|expired\b|unexpected\b|not\b|is\b|must\b|the\b|and\b|for\b|from\b)"
)
#: A value: quoted, or up to the next space, quote or separator.
_VALUE = r"""(?:"[^"\n]{1,400}"|'[^'\n]{1,400}'|[^\s"'`@&;|<>]{3,400}(?:@[^\s"'`&;|<>]{1,100})?)"""

#: After these words comes a credential; the words are kept.
_AFTER = (
    # headers
    rf"(?i:\b(?:proxy-)?authorization\b[\"']?\s{{0,8}}[:=]\s{{0,8}}[\"']?(?:(?:bearer|basic|token|digest|negotiate|apikey"
    rf"|aws4-hmac-sha256|splunk|bot|key)\s{{1,8}})?){_NOT}",
    r"(?i:\bbearer\s{1,8})(?=[\w.~+/=-]{8})",
    r"(?i:\b(?:set-)?cookie\b[\"']?\s{0,8}:\s{0,8})",
    # name = value, name: value, "name": "value"
    rf"(?i:(?<![\w-])[\w.-]{{0,40}}(?<![A-Za-z]){_NAMES}(?:[_-]?(?:id|v?\d|prod|dev|test|live|base64|value|key)){{0,2}}"
    rf"[\"']?\s{{0,8}}(?:=>|:=|[:=])\s{{0,8}}(?:(?:bearer|basic)\s{{1,8}})?){_NOT}",
    rf"(?:(?<![\w-])[\w.-]{{0,40}}(?:Token|Secret|Password|Passphrase|ApiKey|AccessKey|AccountKey|PrivateKey|SecretKey"
    rf"|Credentials?|AccessSignature|AuthToken|PASSWORD|PASSWD)[\"']?\s{{0,8}}(?:=>|:=|[:=])\s{{0,8}}){_NOT}",
    # options
    rf"(?i:(?<!\S)--?(?:[\w-]{{0,40}}-)?(?:token|secret|password|passwd|passphrase|pass|api-?key|access-?key|account-?key"
    rf"|secret-?key|private-?key|sas-token"
    rf"|auth|vault-password|client-secret|bearer|storepass|keypass|pw)(?:\s{{1,8}}|=)){_NOT}(?!-)",
    r"(?:(?<!\S)(?:-u|-a|--user|--auth|--proxy-user))[ =]{0,2}[\"']?[A-Za-z_][\w.@+-]{0,80}:(?=[^\s$])",
    r"(?<!\S)-U[ =]{0,2}[\"']?[\w.@+\\-]{1,80}%(?=\S)",
    r"\b(?:mysql\w{0,10}|mariadb\w{0,10}|7z\w?)\s[^\n|;&]{0,200}?(?<!\S)-p(?=[^\s-]{3})",
    r"\b(?:sshpass|docker|podman|helm|az|mongo\w{0,8}|zip|unzip|oc|cf|ldap\w{1,10}|smbclient)\s[^\n|;&]{0,200}?"
    r"(?<!\S)-[pPwW]\s{1,4}(?=\S)(?!\d{1,5}(?::|\b))(?![a-z]{1,8}\s)",
    r"\bredis-cli\s[^\n|;&]{0,200}?(?<!\S)-a\s{1,4}",
    r"\bopenssl\s[^\n|;&]{0,200}?(?:\bpass:|(?<!\S)-[kK]\s{1,4})",
    r"\bhtpasswd\s[^\n|;&]{0,80}?-[a-zA-Z]{0,5}b[a-zA-Z]{0,5}\s{1,4}\S{1,100}\s{1,4}\S{1,100}\s{1,4}",
    r"\b(?:rabbitmqctl\s{1,4}(?:add_user|change_password)|net\s{1,4}user|chpasswd\s{0,4}<<<)\s{1,4}[\"']?[\w.-]{1,80}[\s:]",
    r"\b(?:aws\s{1,4}configure\s{1,4}set\s{1,4}\w{1,40}|npm\s{1,4}config\s{1,4}set\s{1,4}\S{1,120}|vault\s{1,4}login"
    r"|gcloud\s{1,4}config\s{1,4}set\s{1,4}\S{0,20}token|git\s{1,4}config\s[^\n]{0,80}token)\s{1,4}(?=\S{8})",
    r"\b(?:echo|printf)\s{1,4}[\"']?(?!\$)(?=[^\s\"'|]{4,80}[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4}-S|docker\s{1,4}login"
    r"|passwd|gpg\b|openssl|chpasswd|gh\s{1,4}auth|su\b))",
    r"\b(?:--with-token|--password-stdin)\s{0,4}<<<\s{0,4}[\"']?",
    r"(?i:\blogin\s{1,8}\S{1,100}\s{1,8}password\s{1,8})",
    r"(?i:\bIDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,40}\s{1,4})?BY\s{1,4})",
    r"(?i:\bWITH\s{1,4}(?:ENCRYPTED\s{1,4})?PASSWORD\s{1,4})",
    rf"(?i:\b(?:password|passphrase|passcode|api key|secret key|token)\s{{1,4}}(?:is|was|=|will be)\s{{1,4}}){_NOT}"
    r"(?=\S{0,80}[\d!@#$%^&*_+-])",
    # addresses
    r"://[^\s/:@\"']{0,80}:(?=[^\s/@\"']{1,400}@)",
    r"://(?=[\w-]{16,400}@)",
    r"(?i:[?&](?:sig|signature|key|code|token|auth|x-amz-(?:signature|credential|security-token)|secret|se?as)=)(?=\S{6})",
)

#: Credentials that are known by their own form, with the letters as their makers write them.
_SHAPES = (
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct|admin|lf)?[-_]?[\w-]{12,400}",
    r"\b(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-|npm_|hf_|api_org_)[\w-]{16,400}",
    r"\b(?:xox[abeoprs]|xapp|xwfp)-[\w-]{10,400}",
    r"\b(?:A(?:KIA|SIA|BIA|CCA)|A3T[A-Z0-9])[0-9A-Z]{16}\b",
    r"\bAIza[\w-]{30,60}",
    r"\bya29\.[\w-]{20,400}",
    r"\b1//0[\w-]{20,400}",
    r"\bGOCSPX-[\w-]{20,80}",
    r"\beyJ[\w-]{10,4000}\.[\w-]{10,4000}(?:\.[\w-]{0,4000}){0,3}",
    r"\bSG\.[\w-]{16,40}\.[\w-]{16,60}",
    r"\bkey-[0-9a-z]{32}\b",
    r"\b(?:SK|AC)[0-9a-f]{32}\b",
    r"\b(?:dop|doo|dor)_v1_[0-9a-f]{32,80}",
    r"\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{16,80}",
    r"\b(?:sq0(?:atp|csp)-[\w-]{16,80}|EAAA[\w-]{40,100})",
    r"\b(?:PMAK-|NRAK-|NRII-|CFPAT-|ATATT3x|ATCTT3x|figd_|lin_api_|ntn_|secret_|whsec_|tskey-|fo1_|FlyV1\s|rnd_|dapi|glsa_|glc_)"
    r"[\w=-]{16,400}",
    r"\b(?:pypi-AgE|rubygems_|dckr_(?:pat|oat)_|hvs\.|hvb\.|cio_|pul-|sbp_|vercel_|r8_|gsk_|pplx-|xai-|lsv2_)[\w-]{12,400}",
    r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,80}",
    r"\b[MNO][\w-]{22,28}\.[\w-]{6,7}\.[\w-]{26,40}",
    r"(?<![\w:])\d{8,10}:AA[\w-]{32,36}",
    r"\b[\w-]{3}8Q~[\w~.-]{30,40}",
    r"hooks\.slack\.com/(?:services|workflows)/[\w/]{20,120}",
    r"discord(?:app)?\.com/api/webhooks/\d{10,24}/[\w-]{20,100}",
    r"[\w-]{2,60}\.webhook\.office\.com/[\w@/.-]{20,300}",
    r"\$(?:2[abxy]?|5|6|y|argon2\w{0,2}|apr1)\$[\w./$=,+-]{20,200}",
    r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----(?s:.){0,8000}?(?:-----END[ A-Z0-9]{0,40}-----|\Z)",
    r"PuTTY-User-Key-File-\d(?s:.){0,8000}?(?:Private-MAC:\s?\w{0,80}|\Z)",
)

_REDACTED = "[redacted]"


Needed = tuple[tuple[str, ...], ...]

#: Words without which a pattern of `_SHAPES` cannot match, in its order: one of each group, in folded letters.
_SHAPES_NEED: tuple[Needed, ...] = (
    (("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"),),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "gl", "npm_", "hf_", "api_org_"), ("_", "-")),
    (("xox", "xapp-", "xwfp-"),),
    (("akia", "asia", "abia", "acca", "a3t"),),
    (("aiza",),),
    (("ya29.",),),
    (("1//0",),),
    (("gocspx-",),),
    (("eyj",),),
    (("sg.",),),
    (("key-",),),
    (("sk", "ac"),),
    (("_v1_",),),
    (("shpat_", "shpss_", "shpca_", "shppa_"),),
    (("sq0", "eaaa"),),
    (
        (
            *("pmak-", "nrak-", "nrii-", "cfpat-", "atatt3x", "atctt3x", "figd_", "lin_api_", "ntn_", "secret_"),
            *("whsec_", "tskey-", "fo1_", "flyv1", "rnd_", "dapi", "glsa_", "glc_"),
        ),
    ),
    (
        (
            *("pypi-age", "rubygems_", "dckr_", "hvs.", "hvb.", "cio_", "pul-", "sbp_", "vercel_", "r8_", "gsk_"),
            *("pplx-", "xai-", "lsv2_"),
        ),
    ),
    (("age-secret-key-1",),),
    ((".",), ("m", "n", "o")),
    ((":aa",),),
    (("8q~",),),
    (("hooks.slack.com",),),
    (("discord",),),
    (("webhook.office.com",),),
    (("$2", "$5", "$6", "$y", "$argon2", "$apr1"),),
    (("-----begin",),),
    (("putty-user-key-file-",),),
)
#: The same for `_AFTER`.
_AFTER_NEED: tuple[Needed, ...] = (
    (("authorization",),),
    (("bearer",),),
    (("cookie",),),
    (
        (
            *("token", "secret", "pass", "pwd", "key", "shared", "credential", "session", "signature", "auth"),
            *("bearer", "cookie", "connection", "webhook", "dsn", "pat", "otp", "pin"),
        ),
        (":", "="),
    ),
    (("token", "secret", "pass", "key", "credential", "signature"), (":", "=")),
    (("token", "secret", "pass", "key", "auth", "bearer", "pw"), ("-",)),
    (("-u", "-a"), (":",)),
    (("-u",), ("%",)),
    (("mysql", "mariadb", "7z"), ("-p",)),
    (
        ("sshpass", "docker", "podman", "helm", "az", "mongo", "zip", "oc", "cf", "ldap", "smbclient"),
        ("-p", "-w"),
    ),
    (("redis-cli",),),
    (("openssl",),),
    (("htpasswd",),),
    (("rabbitmqctl", "user", "chpasswd"),),
    (("config", "vault"),),
    (("echo", "printf"), ("|",)),
    (("<<<",),),
    (("login",), ("password",)),
    (("identified",),),
    (("with",), ("password",)),
    (("password", "passphrase", "passcode", "api key", "secret key", "token"),),
    (("://",), ("@",)),
    (("://",), ("@",)),
    (("?", "&"), ("=",)),
)
#: Selections of patterns that are compiled, at most; then all patterns are used.
_SELECTIONS = 24


def folded(text: str) -> str:
    """Return a text in which letters are equal if a pattern that ignores their case takes them for equal."""
    return text.casefold().replace("ı", "i").replace("\u0307", "")


def possible(needed: Needed, text: str) -> bool:
    """Return whether a folded text has what a pattern needs."""
    return all(any(word in text for word in group) for group in needed)


@functools.cache
def _credentials(shapes: tuple[str, ...], after: tuple[str, ...]) -> re.Pattern[str]:
    # Compiling all of them takes 10 ms of every start. Each repetition is bounded, so matching stays fast.
    kept = f"(?P<kept>{'|'.join(after)}){_VALUE}" if after else "(?P<kept>(?!))"
    return re.compile("|".join((*shapes, kept)))


def redact(text: str) -> str:
    """Replace what looks like a credential.

    Law: the result is that of all patterns. Those that cannot match this text are not compiled.
    """
    small = folded(text)
    shapes = tuple(form for form, needed in zip(_SHAPES, _SHAPES_NEED, strict=True) if possible(needed, small))
    after = tuple(form for form, needed in zip(_AFTER, _AFTER_NEED, strict=True) if possible(needed, small))
    if not shapes and not after:
        return text
    if _credentials.cache_info().currsize >= _SELECTIONS:
        shapes, after = _SHAPES, _AFTER
    return _credentials(shapes, after).sub(lambda found: (found["kept"] or "") + _REDACTED, text)


# ── environments ────────────────────────────────────────────────────────────

SCRUB_VARIABLE = "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"
_SECRET_NAME = (
    r"^(?:ANTHROPIC_|AWS_|AZURE_|ARM_|GOOGLE_APPLICATION_|GCP_|OPENAI_|CLOUDFLARE_|DIGITALOCEAN_)"
    r"|(?:^|_|PG|MYSQL|REDIS)(?:API_?KEYS?|ACCESS_?KEY(?:_ID)?|SECRET_?KEY(?:_BASE)?|PRIVATE_?KEY|SIGNING_?KEY"
    r"|ENCRYPTION_?KEY|MASTER_?KEY|LICENSE_?KEY|ACCOUNT_?KEY|AUTH_?KEY|SSH_?KEY|DEPLOY_?KEY|KEY_?BASE64|APIKEY"
    r"|(?:[A-Z0-9]*)TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|CREDENTIALS?|CREDS|AUTH|COOKIES?|SESSION_?ID|DSN"
    r"|PAT|JWT|OTP|WEBHOOK(?:_?URL)?|CONNECTION_?STRING|CONN_?STR)(?:_?\d+|_PROD|_DEV|_TEST|_LIVE|_B64|_BASE64|_FILE)?$"
    r"|(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|MYSQL|AMQP|RABBITMQ|BROKER|CELERY_BROKER|ELASTIC(?:SEARCH)?)"
    r"_(?:URL|URI|DSN)$|^MYSQL_PWD$|^PGPASSFILE$|_AUTH_?TOKEN$|_PWD$"
)
_NEVER_SECRET = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", SCRUB_VARIABLE})


def scrubbed(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without credentials if it asks for that, else as it is.

    Law: with `CLAUDE_CODE_SUBPROCESS_ENV_SCRUB=1`, commands of hooks and of the Bash tool get no variable whose name
    is that of a credential, in either case, and none whose value looks like one.
    """
    if env.get(SCRUB_VARIABLE) != "1":
        return dict(env)
    return {name: value for name, value in env.items() if name in _NEVER_SECRET or not _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    return re.search(_SECRET_NAME, name, re.IGNORECASE) is not None or redact(value) != value

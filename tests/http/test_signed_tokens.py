"""Signed tokens of an identity provider as keys."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from journeygraph import ConfigurationError
from journeygraph.server.access import signed_tokens
from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.access.limits import RateLimits, read_limits
from journeygraph.server.access.signed_tokens import Provider, SignedTokens
from journeygraph.server.http.app_state import wire
from journeygraph.server.http.auth import Keys
from journeygraph.server.settings import Settings
from tests.http.test_http_access import with_key
from tests.http.test_keys import listening, made, started
from tests.support import api as helpers
from tests.support.api import Api

serve = helpers.serve
ISSUER, AUDIENCE = "https://login.example", "journeygraph"


class Issuer:
    """An identity provider with a key, which signs tokens."""

    def __init__(self, key_id: str = "one") -> None:
        self.key_id = key_id
        self.key = ec.generate_private_key(ec.SECP256R1())

    def published(self) -> dict[str, Any]:
        public = json.loads(ECAlgorithm.to_jwk(self.key.public_key()))
        return {**public, "kid": self.key_id, "alg": "ES256", "use": "sig"}

    def token(self, *, algorithm: str = "ES256", key: Any = None, **claims: Any) -> str:
        now = int(time.time())
        given = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now + 600, **claims}
        kept = {name: value for name, value in given.items() if value is not None}
        signing: Any = None if algorithm == "none" else key or self.key
        return jwt.encode(kept, signing, algorithm, headers={"kid": self.key_id})


@pytest.fixture(scope="module")
def issuer() -> Issuer:
    return Issuer()


def written(folder: Path, *issuers: Issuer) -> str:
    file = folder / "jwks.json"
    file.write_text(json.dumps({"keys": [one.published() for one in issuers]}))
    return str(file)


def signed(keys: str, **more: Any) -> SignedTokens:
    return SignedTokens(Provider(keys, ("ES256",), ISSUER, AUDIENCE, **more))


async def status(api: Api, token: str, path: str = "/v1/journeys") -> int:
    return int((await api.client.get(path, headers=with_key(token))).status_code)


async def test_a_token_of_a_user_talks_in_the_sessions_of_this_user(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    ann, ben = issuer.token(), issuer.token(sub="ben")
    session = await started(api, with_key(ann))
    path = f"/v1/sessions/{session}"

    said = await api.client.post(
        f"{path}/messages", json={"message": "hi"}, headers=with_key(issuer.token(jti="another"))
    )

    assert said.status_code == 200
    assert [await status(api, one, path) for one in (ann, ben)] == [200, 404]
    assert await status(api, ann, "/v1/sessions") == 403
    assert (await api.client.get(path)).status_code == 401
    key = await made(api, "operate")  # keys of the database count beside tokens
    assert (await api.client.get("/v1/sessions", headers=key)).status_code == 200


@pytest.mark.parametrize("user", ["auth0|12/3", "Zoë Ortiz", "x" * 200, "...", "a..b"])
async def test_a_server_names_users_as_their_provider_does(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, user: str
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    desk = await made(api, "operate")

    path = f"/v1/sessions/{await started(api, desk, user=user)}"
    token = await api.client.post("/v1/tokens", json={"user": user}, headers=desk)

    assert token.status_code == 201, token.text
    assert await status(api, issuer.token(sub=user), path) == 200
    assert await status(api, token.json()["token"], path) == 200
    assert await status(api, issuer.token(sub="ben"), path) == 404


@pytest.mark.parametrize("user", ["", "x" * 201, "a\nb", "\x7f", ".", "..", "a/../b"])
@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/tokens"])
async def test_a_user_that_no_token_can_name_is_refused(
    serve: Callable[..., Any], path: str, user: str
) -> None:
    api = await serve()

    answer = await api.client.post(path, json={"user": user}, headers=await made(api, "operate"))

    assert answer.status_code == 422
    (fault,) = answer.json()["faults"]
    assert fault["text"] == (
        "body.user: it is not valid; it must be 1 to 200 printable characters, without '.' or "
        "'..' between '/'."
    )


async def test_a_token_that_names_no_tenant_has_that_of_the_settings(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer), tenant="acme")))
    session = await started(api, with_key(issuer.token()))
    stored = api.app_state.keys.stored
    assert stored is not None
    for tenant, status_code in (("acme", 200), ("default", 404)):
        key = (await stored.create(KeyRequest(("operate",)), tenant)).secret
        assert await status(api, key, f"/v1/sessions/{session}") == status_code


LATER = int(time.time()) + 600
NO_TIMES: list[Any] = [10**400, -(10**400), 2**63, float("inf"), float("nan"), str(LATER), True, {}]
"""Values of `exp`, `nbf` and `iat` that are not valid."""


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another program"},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"nbf": 99_999_999_999},
        *({"exp": no_time} for no_time in NO_TIMES),
        *({"nbf": no_time} for no_time in NO_TIMES),
        *({"iat": no_time} for no_time in NO_TIMES),
        {"sub": None},
        {"sub": ""},
        {"sub": "a\nb"},
        {"sub": ".."},
        {"tenant": None},
        {"tenant": ["default"]},
        {"tenant": "*"},
        {"tenant": "Acme"},
    ],
)
async def test_a_token_with_a_wrong_claim_is_no_key(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, claims: dict[str, Any]
) -> None:
    keys = signed(written(tmp_path, issuer), tenant_claim="tenant")
    api = await serve(keys=Keys(signed=keys))

    assert await status(api, issuer.token(**{"tenant": "default", **claims})) == 401
    assert await status(api, issuer.token(tenant="default")) == 200


async def test_a_token_with_a_wrong_signature_is_no_key(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    right = issuer.token()
    head, claims, signature = right.split(".")
    public = json.dumps(issuer.published())
    wrong = [
        Issuer().token(),
        Issuer("two").token(),
        issuer.token(algorithm="none"),
        issuer.token(algorithm="HS256", key=public[1:].ljust(64)),
        f"{head}.{claims}.",
        f"{head}.{claims[:-2]}AA.{signature}",
        "a.b.c",
        f"{right}.x",
        right + "x" * 9_000,
    ]

    assert [await status(api, one) for one in wrong] == [401] * len(wrong)
    assert await status(api, right) == 200


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("openid operate", 200), (["admin"], 200), ("openid", 403), (None, 403), ({"a": 1}, 403)],
)
async def test_scopes_are_read_from_a_claim_that_is_named(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, scope: Any, expected: int
) -> None:
    keys = written(tmp_path, issuer)
    named = await serve(keys=Keys(signed=signed(keys, scope_claim="scope")))
    unnamed = await serve(keys=Keys(signed=signed(keys)))
    token = issuer.token(scope=scope)

    assert await status(named, token, "/v1/sessions") == expected
    assert await status(unnamed, token, "/v1/sessions") == 403


async def test_a_token_ends_also_while_it_is_known(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    ends = int(time.time()) + 60
    token = issuer.token(exp=ends)
    assert await status(api, token) == 200

    later = SimpleNamespace(time=lambda: float(ends + 11), monotonic=time.monotonic)
    monkeypatch.setattr("journeygraph.server.access.signed_tokens.time", later)

    assert await status(api, token) == 401


async def test_a_stream_that_waits_ends_with_its_token(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    token = with_key(issuer.token())
    session = await started(api, token)
    shift = 600 + signed_tokens.LEEWAY_SECONDS - 1.1  # its end is told in whole seconds
    passed = SimpleNamespace(time=lambda: time.time() + shift)
    monkeypatch.setattr("journeygraph.server.access.held_keys.time", passed)

    async with listening(api, token, session) as lines:
        assert not [line async for line in lines if line.startswith(("event", "data"))]


async def test_tokens_of_one_person_count_together_and_not_with_those_of_others(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    limits = RateLimits(read_limits("requests", "key 2/hour"))
    signs = signed(written(tmp_path, issuer), scope_claim="scope")
    api = await serve(keys=Keys(signed=signs, limits=limits), limits=limits)

    def of(person: str, number: int) -> str:
        return issuer.token(sub=person, scope="operate", jti=str(number))

    assert [await status(api, of("ann", number)) for number in range(3)] == [200, 200, 429]
    assert await status(api, of("ben", 1)) == 200
    assert await status(api, issuer.token(sub="ann")) == 200, "as a user, ann is another caller"


async def test_wrong_signatures_count_as_wrong_keys_of_an_address(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    limits = RateLimits(read_limits("wrong_keys", "address 2/hour"))
    signs = signed(written(tmp_path, issuer))
    api = await serve(keys=Keys(signed=signs, limits=limits), limits=limits)
    known, new = issuer.token(), issuer.token(jti="new")
    assert await status(api, known) == 200

    stranger = Issuer()
    assert [await status(api, stranger.token(jti=str(n))) for n in range(4)] == [401, 401, 429, 429]
    assert [await status(api, one) for one in (known, new)] == [200, 429]


async def test_a_start_that_is_sent_again_with_a_newer_token_is_the_same(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path
) -> None:
    keys = signed(written(tmp_path, issuer), scope_claim="scope")
    api = await serve(keys=Keys(signed=keys))
    once = {"Idempotency-Key": "once"}

    async def start(person: str, number: int) -> str:
        token = issuer.token(sub=person, scope="operate", jti=str(number))
        return await started(api, {**with_key(token), **once})

    assert await start("ann", 1) == await start("ann", 2) != await start("ben", 1)


async def test_a_new_key_of_the_provider_is_read_from_its_file(
    serve: Callable[..., Any], issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signed_tokens, "AGAIN_SECONDS", 0.0)
    api = await serve(keys=Keys(signed=signed(written(tmp_path, issuer))))
    new = Issuer("new")
    assert await status(api, new.token()) == 401
    (tmp_path / "jwks.json").write_text("{half")
    assert await status(api, new.token()) == 401
    assert await status(api, issuer.token()) == 200
    written(tmp_path, issuer, new)

    assert await status(api, new.token()) == 200


@pytest.fixture
def published(issuer: Issuer) -> Iterator[tuple[str, list[int]]]:
    """The URL of the provider's keys, and the statuses of its next answers; then 200."""
    statuses: list[int] = []
    body = json.dumps({"keys": [issuer.published()]}).encode()

    class Published(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses.pop(0) if statuses else 200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Published)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/jwks", statuses
    server.shutdown()
    thread.join()
    server.server_close()


async def test_keys_at_an_address_are_fetched(
    serve: Callable[..., Any], issuer: Issuer, published: tuple[str, list[int]]
) -> None:
    url, statuses = published
    api = await serve(keys=Keys(signed=signed(url)))
    statuses.append(500)
    token = issuer.token()

    failed = await api.client.get("/v1/journeys", headers=with_key(token))

    assert (failed.status_code, failed.json()["code"]) == (503, "try_again")
    assert await status(api, token) == 200
    assert await status(api, Issuer("two").token()) == 401


RIGHT = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"jwt_issuer": None}, "jwt_keys needs jwt_issuer and jwt_audience"),
        ({"jwt_audience": None}, "jwt_keys needs jwt_issuer and jwt_audience"),
        ({"jwt_algorithms": "none"}, "not 'none'"),
        ({"jwt_algorithms": " , "}, "name algorithms"),
        ({"jwt_keys": "missing.json"}, "missing.json cannot be read as a JWKS file"),
        ({"jwt_keys": "http://login.example/keys"}, "can be changed on its way"),
    ],
)
def test_settings_that_are_not_safe_are_refused(
    issuer: Issuer, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    settings = {"jwt_keys": written(tmp_path, issuer), **RIGHT}

    with pytest.raises(ConfigurationError, match=said):
        wire(Settings(**{**settings, **given}), ["parcel_refund"], "memory://jwt")
    assert wire(Settings(**settings), ["parcel_refund"], "memory://jwt").keys.is_signed

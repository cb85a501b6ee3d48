"""A small OpenID Connect provider: a process of its own, real HTTP, real keys, the real code flow with PKCE.

It signs everybody in at once, as whom `/control` says, and can be told to misbehave in one way. It prints its port.
"""

import base64
import hashlib
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "loadwatch"
SECRET = "s3cret-of-the-client"


class Provider:
    """What the provider knows."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.codes: dict[str, dict[str, str]] = {}
        self.mode = ""
        self.claims: dict[str, Any] = {}
        self.seen: dict[str, int] = {}
        self.rotate()

    def rotate(self) -> None:
        """A new key, and the old one gone."""
        self.key = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)

    def id_token(self, nonce: str, access_token: str) -> str:
        """The ID token, wrong in the way that the mode says."""
        now = int(time.time()) if "now" not in self.claims else self.claims["now"]
        claims = {
            "iss": self.issuer if self.mode != "wrong-issuer" else "https://evil.example",
            "aud": CLIENT if self.mode != "wrong-audience" else "another-client",
            "sub": "subject-1",
            "iat": now - (7200 if self.mode == "expired" else 0),
            "exp": now + (300 if self.mode != "expired" else -3600),
            "nonce": nonce if self.mode != "wrong-nonce" else "another-nonce",
            "at_hash": half_hash(access_token if self.mode != "wrong-at-hash" else "another-token"),
            **{name: value for name, value in self.claims.items() if name != "now"},
        }
        if self.mode == "no-nonce":
            del claims["nonce"]
        if self.mode == "unsigned":
            return f"{segment({'alg': 'none', 'typ': 'JWT'})}.{segment(claims)}."
        if self.mode == "secret-signed":  # with what everybody can read: the public key as an HMAC secret
            import hmac

            head = f"{segment({'alg': 'HS256', 'kid': self.key.kid})}.{segment(claims)}"
            signed = hmac.new(self.key.as_pem(private=False), head.encode(), hashlib.sha256).digest()
            return f"{head}.{plain(signed)}"
        key = self.key if self.mode != "foreign-key" else RSAKey.generate_key(2048)
        return jwt.encode({"alg": "RS256", "kid": str(self.key.kid)}, claims, key)


def plain(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def segment(document: dict[str, Any]) -> str:
    return plain(json.dumps(document).encode())


def half_hash(text: str) -> str:
    return plain(hashlib.sha256(text.encode()).digest()[:16])


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        question = {name: values[0] for name, values in parse_qs(place.query).items()}
        self.provider.seen[place.path] = self.provider.seen.get(place.path, 0) + 1
        if place.path == "/.well-known/openid-configuration":
            base = self.provider.issuer
            self.answer(
                200,
                {
                    "issuer": base if self.provider.mode != "wrong-discovery" else "https://evil.example",
                    "authorization_endpoint": f"{base}/authorize",
                    "token_endpoint": f"{base}/token",
                    "jwks_uri": f"{base}/jwks",
                },
            )
        elif place.path == "/jwks":
            self.answer(200, {"keys": [self.provider.key.as_dict(private=False)]})
        elif place.path == "/authorize":
            self.authorize(question)
        elif place.path == "/seen":
            self.answer(200, self.provider.seen)
        else:
            self.answer(404, {})

    def authorize(self, question: dict[str, str]) -> None:
        assert question["response_type"] == "code"
        assert question["client_id"] == CLIENT
        assert question["code_challenge_method"] == "S256"
        assert "openid" in question["scope"].split()
        code = secrets.token_urlsafe(16)
        self.provider.codes[code] = question
        back = {"state": question["state"], "code": code}
        if self.provider.mode == "denied":
            back = {"state": question["state"], "error": "access_denied"}
        self.send_response(302)
        self.send_header("Location", f"{question['redirect_uri']}?{urlencode(back)}")
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path == "/control":
            given = json.loads(body)
            self.provider.mode = given.get("mode", "")
            self.provider.claims = given.get("claims", {})
            if given.get("rotate"):
                self.provider.rotate()
            self.answer(200, {})
        elif self.path == "/token":
            self.token({name: values[0] for name, values in parse_qs(body).items()})
        else:
            self.answer(404, {})

    def token(self, form: dict[str, str]) -> None:
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if self.headers.get("authorization") != f"Basic {basic}":
            self.answer(401, {"error": "invalid_client"})
            return
        asked = self.provider.codes.pop(form.get("code", ""), None)  # a code works once
        proof = plain(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or proof != asked["code_challenge"]
            or form.get("redirect_uri") != asked["redirect_uri"]
            or form.get("grant_type") != "authorization_code"
        ):
            self.answer(400, {"error": "invalid_grant"})
            return
        access_token = secrets.token_urlsafe(16)
        answer = {"access_token": access_token, "token_type": "Bearer", "expires_in": 60}
        if self.provider.mode != "no-id-token":
            answer["id_token"] = self.provider.id_token(asked["nonce"], access_token)
        if self.provider.mode == "endless-token":
            answer["more"] = "x" * (2 << 20)
        self.answer(200, answer, b"[" * 200_000 if self.provider.mode == "deep-token" else None)

    def answer(self, status: int, document: Any, body: bytes | None = None) -> None:
        body = body or json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    Handler.provider = Provider(f"http://127.0.0.1:{port}")
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    server.serve_forever()

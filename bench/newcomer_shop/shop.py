# pyright: basic
"""The newcomer's application, of which bench/newcomer.py runs two."""

import os

from flask import Flask  # pyright: ignore[reportMissingImports] - in the shop's own environment
from prometheus_client import generate_latest
from redis import Redis
from sqlalchemy import create_engine, text
from sqlalchemy_pool import WatchedPool  # pyright: ignore[reportMissingImports] - of examples/pools

app, cache = Flask(__name__), Redis.from_url(os.environ["REDIS"])
engine = create_engine(
    os.environ["DATABASE"],
    poolclass=WatchedPool,
    pool_logging_name="main",
    pool_size=int(os.environ["POOL"]),
    max_overflow=0,
    pool_timeout=5,
)


@app.get("/")
def page() -> str:
    """Asks the database for 20 ms."""
    with engine.connect() as connection:
        connection.execute(text("SELECT pg_sleep(0.02)"))
    return "stored"


@app.get("/cached")
def cached() -> str:
    """Asks Redis."""
    return f"{cache.get('greeting')}"


@app.get("/metrics")
def metrics() -> tuple[bytes, int, dict[str, str]]:
    """The pool, for Prometheus."""
    return generate_latest(), 200, {"Content-Type": "text/plain"}

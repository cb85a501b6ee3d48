import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.runs.facts.redaction import LONGEST_WORD, redact_command, redact_text


def shown(command: str) -> str:
    return " ".join(redact_command(shlex.split(command)))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["hey", "-H", "Authorization: Bearer abc.def"], ["hey", "-H", "Authorization: ***"]),
        (["hey", "-H", "X-Api-Key: k", "-a", "me:pw"], ["hey", "-H", "X-Api-Key: ***", "-a", "me:***"]),
        (["x", "--token", "t1", "--url", "u"], ["x", "--token", "***", "--url", "u"]),
        (["x", "--password=p w", "PGPASSWORD=q r"], ["x", "--password=***", "PGPASSWORD=***"]),
        (["k6", "run", "-e", "API_TOKEN=t"], ["k6", "run", "-e", "API_TOKEN=***"]),
        (["wrk", "http://me:pw@host/p?access_token=t&a=b"], ["wrk", "http://me:***@host/p?access_token=***&a=b"]),
        (["sh", "-c", "curl -H 'Cookie: a=b' x | y"], ["sh", "-c", "curl -H 'Cookie: ***' x | y"]),
        (["env", "DB_PASS=p w", "./load"], ["env", "DB_PASS=***", "./load"]),
    ],
)
def test_secrets_do_not_stay(command: list[str], expected: list[str]) -> None:
    assert redact_command(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("curl -uann:secret http://h/", "curl -uann:*** http://h/"),
        ("curl -u ann:secret http://h/", "curl -u ann:*** http://h/"),
        ("curl --user=ann:secret http://h/", "curl --user=ann:*** http://h/"),
        ("curl --user ann:secret http://h/", "curl --user ann:*** http://h/"),
        ("./load.sh --pass=secret --rate=5", "./load.sh --pass=*** --rate=5"),
        ("./load.sh --pass secret --rate 5", "./load.sh --pass *** --rate 5"),
        ("./load.sh -psecret", "./load.sh -p***"),
        ("mysql -uann -psecret shop", "mysql -uann -p*** shop"),
        ("mysqlslap -p12345 --concurrency=50", "mysqlslap -p*** --concurrency=50"),
        ("curl -b SESSION=abc http://h/", "curl -b SESSION=*** http://h/"),
        ("curl -b'SESSION=abc; lang=ja' http://h/", "curl -bSESSION=*** http://h/"),
        ("curl --cookie=sid=abc http://h/", "curl --cookie=sid=*** http://h/"),
        ("ab -C SESSION=abc -A ann:secret -n 10 http://h/", "ab -C SESSION=*** -A ann:*** -n 10 http://h/"),
        ("wrk -d 10s http://h/?key=abc&a=1", "wrk -d 10s http://h/?key=***&a=1"),
        ("hey -H 'X-Auth-Key: v w' http://h/", "hey -H X-Auth-Key: *** http://h/"),
        ("hey -HX-Auth-Key:v http://h/", "hey -HX-Auth-Key:*** http://h/"),
        ("vegeta attack -header 'X-Auth-Key: v' -rate 50/s", "vegeta attack -header X-Auth-Key: *** -rate 50/s"),
        ("vegeta attack -header='Cookie: a=b' -rate=50", "vegeta attack -header=Cookie: *** -rate=50"),
        ("jmeter -n -Jdb_password=x -Dkey=y -Jthreads=10", "jmeter -n -Jdb_password=*** -Dkey=*** -Jthreads=10"),
        ("gatling -DapiKey=x -Dusers=10", "gatling -DapiKey=*** -Dusers=10"),
        ("redis-benchmark -a secret -n 1000", "redis-benchmark -a *** -n 1000"),
        ("redis-cli -asecret ping", "redis-cli -a*** ping"),
        ("sysbench --mysql-password=x --threads=8", "sysbench --mysql-password=*** --threads=8"),
        ("sshpass -p secret ssh h", "sshpass -p *** ssh h"),
        ("mongosh -u ann -p secret", "mongosh -u ann -p ***"),
        ("""hey -d '{"user":"ann","password":"s\\"x","n":5}'""", 'hey -d {"user":"ann","password":"***","n":5}'),
        ("""hey -d '{"token": 12345, "n": 5}'""", 'hey -d {"token": ***, "n": 5}'),
        ("hey -d 'user=ann&password=x&n=5'", "hey -d user=ann&password=***&n=5"),
        ("x AKIAIOSFODNN7EXAMPLE", "x ***"),
        ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "x ***"),
        ("x --opaque 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "x --opaque ***"),
        ("x https://ghp_abcdefghijklmnopqrst@host/r", "x https://***@host/r"),
        ("x --dsn ann:secret@tcp(db:3306)/shop", "x --dsn ***"),
        ("x ann:secret@tcp(db:3306)/shop", "x ann:***@tcp(db:3306)/shop"),
        ("x mysql://ann:se:cr@et@db/shop", "x mysql://ann:***@db/shop"),
        ("x http://h/?X-Amz-Signature=abc&X-Amz-Date=2", "x http://h/?X-Amz-Signature=***&X-Amz-Date=2"),
        ("x http://h/?sig=abc#part", "x http://h/?sig=***#part"),
        ("sudo -E timeout 30s mysql -psecret", "sudo -E timeout 30s mysql -p***"),
        ("locust --headless -u 100 --web-login ann:x", "locust --headless -u 100 --web-login ***"),
    ],
)
def test_each_tool_in_each_form(command: str, expected: str) -> None:
    assert shown(command) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("mysql -uann -psecret shop < a.sql && hey -n 5 u", "mysql -uann -p*** shop < a.sql && hey -n 5 u"),
        ("DB_PASS='p w' ./load --rate 5", "DB_PASS=*** ./load --rate 5"),
        ('curl -u "ann:sec ret" h; wrk -d 5s u', 'curl -u "ann:***" h; wrk -d 5s u'),
        ("export TOKEN=abc\nk6 run s.js", "export TOKEN=***\nk6 run s.js"),
        ("curl -b 'SESSION=abc' u | redis-cli -a secret", "curl -b 'SESSION=***' u | redis-cli -a ***"),
        ("echo 'vegeta attack -rate 5'", "echo 'vegeta attack -rate 5'"),
    ],
)
def test_scripts_of_a_shell(script: str, expected: str) -> None:
    assert redact_command(["bash", "-c", script])[2] == expected


@pytest.mark.parametrize(
    "command",
    [
        "vegeta attack -rate=5000/s -duration=2m -targets=t.txt -workers=10 -max-workers 50 -timeout 30s",
        "vegeta attack -http2=false -session-tickets -connections 10000 -cert c.pem -key k.pem -output=r.gob",
        "vegeta attack -header 'Content-Type: application/json' -header 'Host: a.example:8080' -body b.json",
        "k6 run --vus 100 --duration 30s --rps 500 -e TARGET=http://h:8080/ -e RATE=50 --no-cookies-reset s.js",
        "k6 run --out experimental-prometheus-rw --tag run=a --stage 5s:10,1m:50 s.js",
        "hey -n 100000 -c 200 -q 50 -z 30s -m POST -T application/json -D body.json -disable-keepalive http://h:8080/a",
        "oha -n 1000 -c 50 -q 100 -z 10s -p 4 --latency-correction --disable-keepalive -j http://h/",
        "wrk -t4 -c400 -d30s --latency -s post.lua http://127.0.0.1:8080/index.html",
        "wrk2 -t2 -c100 -d30s -R2000 http://h:80/a?user=5&page=2",
        "ab -n 1000 -c 10 -k -p post.json -T application/json http://h:8080/",
        "locust -f l.py --headless -u 100 -r 10 -t 5m --host http://h:8080 --processes 4 --csv out -P 8089",
        "jmeter -n -t plan.jmx -l r.jtl -Jthreads=100 -Jrampup=30 -Jhost=h.example -Jport=8080 -p user.properties",
        "gatling -s my.Simulation -rd 'a description' -Dusers=100 -DrampSeconds=30 -Dgatling.core.simulationClass=a.B",
        "artillery run --target http://h:8080 --environment load s.yml",
        "memtier_benchmark -s h -p 6379 --key-maximum=1000 --key-pattern=R:R --ratio=1:10 -c 50 -t 4 --test-time=60",
        "sysbench oltp_read_write --mysql-host=db --mysql-user=sb --tables=10 --table-size=100000 --threads=64 run",
        "redis-benchmark -h r -p 6379 -n 100000 -c 50 -d 512 -r 10000 -P 16",
        'ghz --insecure --proto a.proto --call p.S/M -c 50 -n 10000 -d \'{"name":"Bob"}\' 127.0.0.1:50051',
        "docker run -p 8080:80 -p8081:81 --rm grafana/k6:0.49 run -",
        "ssh -p22 load.example wrk -d 10s http://h/",
        "./load --token-limit=500 --session-timeout 30s --pass-rate=0.95 --author ann --tokens-per-second=7",
        "./load -parallel=4 -profile cpu -p8080 -print --password-file /run/secrets/db --cookie-jar jar.txt",
        "java -Xmx4g -jar gatling-bundle-3.11.jar load-test-of-the-shop-2026-11-22T10-00-00 2026-11-22T10:00:00Z",
        "hey http://auth:8080/key/session?limit=5 s3://bucket/results/2026/11/22/a-very-long-name-of-a-result-file.json",
    ],
)
def test_what_people_need_stays(command: str) -> None:
    words = shlex.split(command)
    assert redact_command(words) == words
    assert redact_command(["sh", "-c", command])[2] == command


@given(secret=st.from_regex(r"[A-Za-z0-9!$%^*+]{8,24}", fullmatch=True), form=st.integers(0, 11))
def test_no_form_lets_a_secret_through(secret: str, form: int) -> None:
    forms: list[list[str]] = [
        ["curl", f"-uann:{secret}"],
        ["curl", "--user", f"ann:{secret}"],
        ["x", f"--password={secret}"],
        ["x", "--db-pass", secret],
        ["env", f"DB_PASS={secret}"],
        ["mysql", f"-p{secret}"],
        ["curl", "-b", f"SESSION={secret}"],
        ["hey", f"http://h/?a=1&key={secret}"],
        ["hey", "-H", f"X-Auth-Key: {secret}"],
        ["hey", "-d", f'{{"pwd":"{secret}"}}'],
        ["sh", "-c", f"mysql -p'{secret}' < a; TOKEN='{secret}' x"],
        ["x", f"postgres://ann:{secret}@db/shop"],
    ]
    assert not any(secret in word for word in redact_command(forms[form]))


@pytest.mark.parametrize("piece", ["a=", ":", "-p", '"', "\\", "key:", "://", "a" * 10, "'", '"key":', "a:b@", "eyJa."])
def test_a_hostile_command_is_read_in_bounded_time(piece: str) -> None:
    """Without the bound on a word some of these would take hours."""
    assert len(redact_text(piece * 200_000)) <= 2 * LONGEST_WORD
    assert len(redact_command(["sh", "-c", f"x {piece * 200_000}"])) == 3

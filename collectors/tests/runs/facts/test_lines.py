"""Commands and headers within a line of text: what is a secret goes, what only looks like an option stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.runs.facts.lines import mask_commands
from loadwatch_collectors.runs.facts.patch import mask_line
from loadwatch_collectors.runs.own_figures import clean


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("+ mysql -psecret shop < a.sql", "+ mysql -p*** shop < a.sql"),
        ("mysql -uroot -p'sec;ret' shop", "mysql -uroot -p'***' shop"),
        ("mysqldump -h db -pse.cret | gzip", "mysqldump -h db -p*** | gzip"),
        ('exec.Command("mysql", "-uroot", "-psecret")', 'exec.Command("mysql", "-uroot", "-p***")'),
        ("out=$(mysqladmin -psecret ping)", "out=$(mysqladmin -p*** ping)"),
        ("redis-cli -a hunter2 ping; sshpass -p 'hun ter2' ssh h", "redis-cli -a *** ping; sshpass -p '***' ssh h"),
        ("load --password x --rate 5", "load --password *** --rate 5"),
        ("load --password 'x y' --rate 5", "load --password '***' --rate 5"),
        ("load --password=x --rate 5", "load --password=*** --rate 5"),
        ("load -token t1 -rate 5", "load -token *** -rate 5"),
        ('["load", "--password", "hunter2"]', '["load", "--password", "***"]'),
        ("curl -u user:pass http://h/", "curl -u user:*** http://h/"),
        ("curl -uuser:pass http://h/", "curl -uuser:*** http://h/"),
        ("  --user 'user:pa ss' \\", "  --user 'user:***' \\"),
        ("  --proxy-user=user:pass \\", "  --proxy-user=user:*** \\"),
        ('["curl", "-u", "user:pass"]', '["curl", "-u", "user:***"]'),
        ("# PGPASSWORD=hunter2 psql -h db", "# PGPASSWORD=*** psql -h db"),
        ("MYSQL_PWD='hun ter2' mysql shop", "MYSQL_PWD='***' mysql shop"),
        ('h.Set("Authorization", "Basic dXNlcjpwYXNz")', 'h.Set("Authorization", "Basic ***")'),
        ("> Authorization: Basic YTo=", "> Authorization: Basic ***"),
        ("Authorization: Bearer abc", "Authorization: Bearer ***"),
        ("sent Basic dXNlcjpwYXNz", "sent Basic ***"),
        ("CREATE USER app IDENTIFIED BY 'hunter2';", "CREATE USER app IDENTIFIED BY '***';"),
        ("ALTER ROLE app WITH PASSWORD 'hunter2'", "ALTER ROLE app WITH PASSWORD '***'"),
    ],
)
def test_secrets_go(line: str, expected: str):
    assert mask_commands(line) == expected
    assert mask_line(line, code=True) == expected
    secrets = ("secret", "hunter2", ":pa", "dXNlcjpwYXNz", "YTo=", "t1", "ter2")
    for shown in (mask_line(line, code=False), clean(line)):
        assert not [secret for secret in secrets if secret in shown]


@pytest.mark.parametrize(
    "line",
    [
        "mkdir -p dir && cp -p file dir/ && ssh -p 2222 h && ssh -p2222 h",
        "server -port 80 -parallel=4 --port 8080",
        "docker run -u 1000:1000 -p 80:8080 --user app:app image",
        "git add -p; tar -pxf a; date -u +%H:%M:%S",
        "mysql -uroot -p shop",
        "mysql -uroot -p$PW -h db; mysql -p${PW:-} x; mysql -p\"$PW\"",
        "load --password $PW --password-file /run/p --token-limit 500 --password=${PW} --password <password>",
        "the option --password is needed, or --token to go on",
        'parser.add_argument("--password", help="of the database")',
        '@click.option("--api-token", "api_token", default="")',
        "Basic examples of Basic authentication",
        "Authorization: Bearer $TOKEN",
        'h.Set("Authorization", "Bearer "+token)',
        "IDENTIFIED BY ?",
        "CACHE_KEY=user-list make",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(line: str):
    assert mask_commands(line) == line.replace("CACHE_KEY=user-list", "CACHE_KEY=***")


@given(secret=st.from_regex(r"[A-Za-z0-9]{6,24}", fullmatch=True), form=st.integers(0, 6), code=st.booleans())
def test_no_form_lets_a_secret_through(secret: str, form: int, code: bool):
    forms = (
        f"mysql -p{secret} shop",
        f"mysql -p'{secret}' shop",
        f"x --password '{secret}'",
        f"x --password=\"{secret}\"",
        f"curl -u ann:z{secret} http://h/",
        f"curl --user \"ann:z{secret}\" http://h/",
        f"PGPASSWORD={secret} psql",
    )  # fmt: skip
    assert secret not in mask_line(forms[form], code=code).replace("mysql", "").replace("psql", "")
    assert secret not in clean(forms[form])


PIECES = (
    "mysql ",
    "mysql '",
    "mysql -p'",
    '--password "',
    "--a-",
    "-u a:",
    "Basic ",
    "A=",
    "authorization",
    "BY '",
    " ",
)


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_line_ends(piece: str):
    mask_commands(piece * 200_000)

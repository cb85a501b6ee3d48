"""The commonest passwords of twelve and more characters, and the shorter ones that people lengthen with figures.

Chosen by hand from what leaks show again and again; in lower case.
"""

COMMON = frozenset(
    """
    password passw0rd p@ssword p@ssw0rd pa$$word password1 passwordpassword mypassword mypasswordis yourpassword
    thisismypassword changeme changemenow changeit changethis changeme123 letmein letmeinnow letmeinplease welcome
    welcomehome welcome1 administrator admin adminadmin adminadminadmin administrador rootroot rootrootroot superuser
    superadmin superman batman iloveyou iloveyouso iloveyou1 ilovemyself trustno1 monkey dragon football baseball
    basketball sunshine princess shadow master masterkey michael jennifer liverpool chelsea manchester
    manchesterunited arsenal starwars pokemon whatever computer internet secret secretpassword topsecret supersecret
    temporary temporarypassword temppassword default defaultpassword testtest testtesttest testpassword guestguest
    guestguestguest useruser useruseruser companyname company qwerty qwertyqwerty qwertyuiop asdfghjkl zxcvbnm
    azertyuiop abc123abc123 a1b2c3d4e5f6 correcthorsebatterystaple correct horse battery staple
    correct-horse-battery-staple loadwatch loadwatchadmin loadwatch-admin grafana prometheus monitoring observability
    mysqlpassword databasepassword
    """.split()
) | {"correct horse battery staple", "let me in please", "thisisapassword", "this is my password"}

_ROWS = (
    "1234567890",
    "0987654321",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfedcba",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik",
    "qazwsxedcrfvtgbyhnujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "1234567890qwertyuiop",
    "qwertyuiop1234567890",
    "1234qwerasdfzxcv",
    "qwerasdfzxcv1234",
    "0123456789",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "0123456789abcdefghijklmnopqrstuvwxyz",
)
SEQUENCES = tuple(row * 4 for row in _ROWS)
"""Rows of keys, repeated; a password that lies in one is no password."""

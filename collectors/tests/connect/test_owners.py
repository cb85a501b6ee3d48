import os
import socket
from pathlib import Path

import pytest
from loadwatch_collectors.connect.find import Owners, Program, find_owners, name_program


def test_the_process_of_a_socket_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        inode = os.fstat(listener.fileno()).st_ino
        owners = find_owners(Path("/proc"), [inode])
    assert owners.by_inode == {inode: [os.getpid()]}
    assert owners.programs[os.getpid()].uid == os.getuid()


@pytest.mark.parametrize(
    ("kernel_name", "arguments", "name"),
    [
        ("measuring-serve", ["/srv/measuring-server", "-token", "secret"], "measuring-server"),
        ("mariadbd", ["/usr/sbin/mariadbd"], "mariadbd"),
        ("python3", ["python3", "-u", "/srv/shop.py", "--key=secret"], "shop.py"),
        ("python3", ["/usr/bin/python3", "-m", "uvicorn", "app"], "uvicorn"),
        ("python3", ["python3", "-c", "print('secret')"], "python3"),
        ("node", ["node", "server.js"], "server.js"),
        ("nginx", ["nginx: master process /usr/sbin/nginx"], "nginx"),
        ("gunicorn", [], "gunicorn"),
    ],
)
def test_a_program_goes_by_its_name_and_shows_no_arguments(kernel_name: str, arguments: list[str], name: str) -> None:
    assert name_program(kernel_name, arguments) == name


def test_a_hidden_service_is_known_by_its_own_user_alone() -> None:
    database = Program(name="mariadbd", kernel_name="mariadbd", uid=112)
    shell = Program(name="bash", kernel_name="bash", uid=1000)
    editor = Program(name="vi", kernel_name="vi", uid=1000)
    root = Program(name="sshd", kernel_name="sshd", uid=0)
    programs = {7: database, 8: database, 9: shell, 10: editor, 11: root}
    owners = Owners(programs=programs, hidden=frozenset(programs))
    assert owners.alone_as(112) == [7, 8]
    assert owners.alone_as(1000) == []  # two programs: it could be either
    assert owners.alone_as(0) == []
    # A process whose sockets can be seen holds none of those that nobody was found for.
    assert Owners(programs=programs).alone_as(112) == []

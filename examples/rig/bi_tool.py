"""A second client of the database, as a BI tool is: it holds a few connections and asks a question now and then."""

import threading
from typing import Self

import pymysql

from examples.rig.database import BI_USER, Database

CONNECTIONS = 5
PAUSE_SECONDS = 3.0

_QUESTION = """
SELECT name, COUNT(*), MIN(received_at), MAX(TIMESTAMPDIFF(MICROSECOND, received_at, stored_at)) / 1e6
FROM hits WHERE stored_at > NOW(6) - INTERVAL 5 SECOND GROUP BY name
"""


class BiTool:
    """Holds its connections from `__enter__` to `__exit__`."""

    def __init__(self, database: Database) -> None:
        """Nothing is opened yet."""
        self._database = database
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, name=f"bi-tool-{i}") for i in range(CONNECTIONS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                with self._database.connect(BI_USER) as connection, connection.cursor() as cursor:
                    while not self._stop.wait(PAUSE_SECONDS):
                        cursor.execute(_QUESTION)
                        cursor.fetchall()
            except pymysql.MySQLError:
                # Crowded out by the app, or the table is not there yet: what a BI tool shows is an error, and it
                # tries again at the next question.
                self._stop.wait(PAUSE_SECONDS)

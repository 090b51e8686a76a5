"""Databases on SQLite and on PostgreSQL."""

import os

import postgres


class Sqlite:
    """A file for each database."""

    def __init__(self, folder):
        self.folder = folder

    def url(self, name):
        return f"sqlite:{os.path.join(self.folder, name)}.db"

    def drop(self, name):
        for ending in ("", "-wal", "-shm"):
            path = f"{os.path.join(self.folder, name)}.db{ending}"
            if os.path.exists(path):
                os.remove(path)

    def stop(self):
        pass


class Postgres:
    """One cluster for all databases."""

    def __init__(self, folder):
        self.server = postgres.Server(folder, "postgres")
        self.server.create()
        self.server.start()
        self.server.wait_ready()

    def url(self, name):
        database = name.replace("-", "_")
        self.server.query(f"CREATE DATABASE {database}", "postgres")
        return f"postgres://{postgres.ROLE}@127.0.0.1:{self.server.port}/{database}"

    def drop(self, name):
        self.server.query(f"DROP DATABASE {name.replace('-', '_')} WITH (FORCE)", "postgres")

    def stop(self):
        self.server.stop()


KINDS = {"sqlite": Sqlite, "postgres": Postgres}

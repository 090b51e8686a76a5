"""A Citus cluster: a coordinator and two workers, each with a standby that is not synchronous."""

import os

import postgres
import processes

SETTINGS = {
    "shared_preload_libraries": "citus",
    # Citus copies a cell by logical replication.
    "wal_level": "logical",
    "citus.local_hostname": "127.0.0.1",
    # The servers have no certificates.
    "citus.node_conninfo": "sslmode=disable",
}
WORKERS = 2


class Cluster:
    """Pairs of servers: the first one is the coordinator's."""

    def __init__(self, folder):
        self.pairs = []
        for name in ("coordinator", *(f"worker{number}" for number in range(WORKERS))):
            directory = os.path.join(folder, name)
            os.mkdir(directory)
            # PostgreSQL runs as another user and must reach its directories.
            os.chmod(directory, 0o711)
            pair = postgres.Pair(directory, is_synchronous=False, settings=SETTINGS)
            pair.primary.query("CREATE EXTENSION citus")
            self.pairs.append(pair)
        self.name_coordinator()
        for worker in self.pairs[1:]:
            self.coordinator().query(f"SELECT citus_add_node('127.0.0.1', {worker.primary.port})")

    def coordinator(self):
        """The server of the coordinator that accepts writes."""
        return self.pairs[0].primary

    def name_coordinator(self):
        """Tells all servers where the coordinator is."""
        self.coordinator().query(f"SELECT citus_set_coordinator_host('127.0.0.1', {self.coordinator().port})")

    def fail_over_with_loss(self, number, store):
        """A server crashes, and its standby takes over without the commits of `store`. 0 is the coordinator."""
        pair = self.pairs[number]
        before = pair.primary.port
        pair.fail_over_with_loss(store)
        if number == 0:
            self.name_coordinator()
        else:
            self.coordinator().query(
                f"SELECT citus_update_node(nodeid, '127.0.0.1', {pair.primary.port}) FROM pg_dist_node"
                f" WHERE nodeport = {before}"
            )

    def stop(self):
        for pair in self.pairs:
            pair.stop()


def obstacle():
    """Why no cluster can be made here; None if one can."""
    library = processes.run([processes.program("pg_config"), "--pkglibdir"]).strip()
    return None if os.path.exists(os.path.join(library, "citus.so")) else "PostgreSQL has no Citus"

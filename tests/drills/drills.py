"""The drills: how each disturbs the deployment, and how it ends the disturbance."""

import os
import shutil
import time

import network
import postgres
import processes
import service

NODES = 3
# Requests that every node acknowledges before a disturbance and after it.
WARM_UP_REQUESTS = 30
# Attempts to freeze a node in the moment in which PostgreSQL sends to it, and those after which a session that only reads
# will do.
FREEZE_ATTEMPTS_MAX = 40
FREEZE_WRITER_ATTEMPTS = 25


class Drill:
    """Three nodes on one PostgreSQL. A cycle disturbs them once while clients write."""

    name = ""
    needs_namespaces = False

    def __init__(self, folder, binary, seconds):
        self.folder = folder
        self.binary = binary
        self.seconds = seconds
        self.namespaces = []
        self.nodes = []
        self.server = None

    def start(self):
        """Starts PostgreSQL and the nodes."""
        if self.needs_namespaces:
            for number in range(NODES):
                self.namespaces.append(network.Namespace(number))
        self.start_database()
        for number in range(NODES):
            namespace = self.namespaces[number] if self.namespaces else None
            url = self.node_url(number)
            self.nodes.append(service.Node(number, self.binary, url, self.folder, namespace))

    def start_database(self):
        links = [namespace.database.outside for namespace in self.namespaces]
        self.server = postgres.Server(self.folder, "postgres", ("127.0.0.1", *links))
        self.server.create([network.NETWORK])
        self.server.start()
        self.server.wait_ready()
        self.server.query(f"CREATE DATABASE {postgres.DATABASE}", "postgres")

    def primary(self):
        """The PostgreSQL server that accepts writes."""
        return self.server

    def url(self):
        """For commands on the command line."""
        return f"postgres://{postgres.ROLE}@127.0.0.1:{self.primary().port}/{postgres.DATABASE}"

    def node_url(self, number):
        host = self.namespaces[number].database.outside if self.namespaces else "127.0.0.1"
        address = f"{host}:{self.primary().port}"
        # The name finds the sessions of a node in pg_stat_activity.
        return f"postgres://{postgres.ROLE}@{address}/{postgres.DATABASE}?application_name=node{number}"

    def cycle(self, number, load):
        """Disturbs the deployment and ends that. Returns the start of the disturbance, the nodes whose gaps count, and a
        remark."""
        raise NotImplementedError

    def wait_for_all(self, load):
        load.wait_for(range(NODES), WARM_UP_REQUESTS)

    def stop(self):
        """Ends everything, whatever state it is in."""
        for node in self.nodes:
            node.stop()
        if self.server:
            self.server.stop()
        for namespace in self.namespaces:
            namespace.remove()

    def others(self, victims):
        return [number for number in range(NODES) if number not in victims]


class Kill(Drill):
    """`kill -9` of a node, and of two nodes in every third cycle."""

    name = "kill"

    def cycle(self, number, load):
        victims = {number % NODES}
        if number % 3 == 2:
            victims.add((number + 1) % NODES)
        begin = time.monotonic()
        for victim in victims:
            self.nodes[victim].kill()
        time.sleep(self.seconds)
        load.wait_for(self.others(victims), WARM_UP_REQUESTS)
        for victim in victims:
            self.nodes[victim].start()
        self.wait_for_all(load)
        return begin, self.others(victims), f"nodes {sorted(victims)}"


class Freeze(Drill):
    """SIGSTOP of a node at any moment, then SIGCONT."""

    name = "freeze"

    def cycle(self, number, load):
        victim = number % NODES
        remark = self.freeze(victim)
        begin = time.monotonic()
        time.sleep(self.seconds)
        load.wait_for(self.others({victim}), WARM_UP_REQUESTS)
        self.nodes[victim].thaw()
        self.wait_for_all(load)
        return begin, self.others({victim}), f"node {victim}{remark}"

    def freeze(self, victim):
        self.nodes[victim].freeze()
        return ""


class FreezeSending(Freeze):
    """SIGSTOP of a node while PostgreSQL sends to it: the session waits until the node reads, and holds what it holds."""

    name = "freeze-sending"
    needs_namespaces = True

    def start(self):
        super().start()
        for namespace in self.namespaces:
            # With small buffers a result of some 100 KB blocks its session. By default it takes megabytes.
            setting = "echo 4096 8192 16384 > /proc/sys/net/ipv4/tcp_rmem"
            processes.run(namespace.command(["sh", "-c", setting]))

    def freeze(self, victim):
        """Freezes the node again and again until a session of it is blocked. While it is frozen the others store events, so
        that the node has much to read when it goes on."""
        for attempt in range(FREEZE_ATTEMPTS_MAX):
            self.nodes[victim].freeze()
            time.sleep(0.03)
            blocked = self.blocked_sessions(victim)
            has_writer = any(is_writing == "t" for is_writing, _ in blocked)
            if has_writer or (blocked and attempt >= FREEZE_WRITER_ATTEMPTS):
                return "".join(
                    f", blocked {'writer' if is_writing == 't' else 'reader'}: {query}"
                    for is_writing, query in blocked
                )
            time.sleep(0.3)
            self.nodes[victim].thaw()
            time.sleep(0.002 + 0.007 * (attempt % 12))
        self.nodes[victim].freeze()
        return ", no session was blocked"

    def blocked_sessions(self, victim):
        """Whether each session that waits for the node has written or holds an advisory lock, and its statement."""
        return self.server.query(
            "SELECT backend_xid IS NOT NULL OR EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = a.pid"
            " AND (locktype = 'advisory' OR mode IN ('RowExclusiveLock', 'RowShareLock'))),"
            " regexp_replace(left(query, 60), '\\s+', ' ', 'g')"
            f" FROM pg_stat_activity a WHERE application_name = 'node{victim}' AND wait_event = 'ClientWrite'"
        )


class Cut(Drill):
    """A node whose packets to and from the database are dropped, without a reset of its connections."""

    name = "cut"
    needs_namespaces = True

    def cycle(self, number, load):
        victim = number % NODES
        begin = time.monotonic()
        self.namespaces[victim].database.cut()
        time.sleep(self.seconds)
        load.wait_for(self.others({victim}), WARM_UP_REQUESTS)
        self.namespaces[victim].database.mend()
        self.wait_for_all(load)
        return begin, self.others({victim}), f"node {victim}"


class Restart(Drill):
    """An immediate shutdown of PostgreSQL, which recovers at its start. Gaps count from when it accepts connections."""

    name = "restart"

    def cycle(self, number, load):
        self.server.stop()
        self.server.start()
        self.server.wait_ready()
        begin = time.monotonic()
        self.wait_for_all(load)
        return begin, range(NODES), "after PostgreSQL accepts connections"


class Failover(Drill):
    """The primary crashes, its synchronous standby is promoted. Gaps count from the end of the promotion."""

    name = "failover"

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, binary, seconds)
        self.pair = None

    def start_database(self):
        self.pair = postgres.Pair(self.folder)

    def primary(self):
        return self.pair.primary

    def node_url(self, number):
        return self.pair.url(f"node{number}")

    def cycle(self, number, load):
        self.pair.fail_over()
        begin = time.monotonic()
        self.wait_for_all(load)
        # The next cycle needs a standby. Commits wait for it from then on.
        self.pair.attach_standby()
        self.wait_for_all(load)
        return begin, range(NODES), "after the promotion, with the copy of a new standby"

    def stop(self):
        super().stop()
        if self.pair:
            self.pair.stop()


ALL = (Kill, Freeze, FreezeSending, Cut, Restart, Failover)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        raise RuntimeError(f"cannot remove {folder}")

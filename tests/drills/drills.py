"""The drills: how each disturbs the deployment, and how it ends the disturbance."""

import os
import shutil
import sqlite3
import subprocess
import threading
import time

import balancer
import check
import citus
import network
import patroni
import postgres
import processes
import service

NODES = 3
# Requests that every node acknowledges before a disturbance and after it.
WARM_UP_REQUESTS = 30
# Attempts to freeze a node in the moment in which PostgreSQL sends to it, and those after which a session that only reads
# will do.
FREEZE_ATTEMPTS_MAX = 30
FREEZE_WRITER_ATTEMPTS = 20
UNSIGNED = (
    "SELECT coalesce(sum(ledgers.size - coalesce(log_checkpoints.size, 0)), 0)"
    " FROM ledgers LEFT JOIN log_checkpoints ON log_checkpoints.ledger_id = ledgers.id"
)
# A program that does not refuse a database serves it.
REFUSAL_SECONDS_MAX = 120


class Disturbance:
    """When a disturbance began and ended, and the undisturbed nodes."""

    def __init__(self, others, remark):
        self.others = others
        self.remark = remark
        self.begin = time.monotonic()
        self.end = None

    def ends(self):
        self.end = time.monotonic()


class Drill:
    """Three nodes on one PostgreSQL. A cycle disturbs them once while clients write."""

    name = ""
    needs_namespaces = False
    # Whether it runs only if it is named.
    is_by_hand = False
    # Whether acknowledged events may be lost.
    loses = False
    nodes_count = NODES
    # Settings of the nodes.
    settings = None

    def __init__(self, folder, binary, seconds):
        self.folder = folder
        self.binary = binary
        self.seconds = seconds
        self.namespaces = []
        self.nodes = []
        self.server = None
        # The master key, and the ids of the projects that are written to.
        self.administration = None

    @classmethod
    def obstacle(cls):
        """Why the drill cannot run here; None if it can."""
        return network.obstacle() if cls.needs_namespaces else None

    def start(self):
        """Starts PostgreSQL and the nodes."""
        if self.needs_namespaces:
            for number in range(NODES):
                self.namespaces.append(network.Namespace(number))
        self.start_database()
        for number in range(self.nodes_count):
            namespace = self.namespaces[number] if self.namespaces else None
            url = self.node_url(number)
            self.nodes.append(service.Node(number, self.binary, url, self.folder, namespace, self.settings))

    def start_nodes(self):
        for node in self.nodes:
            node.start()

    def addresses(self):
        """What clients write to: nodes, or what stands for them."""
        return self.nodes

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
        """Disturbs the deployment and ends that. Returns a `Disturbance`."""
        raise NotImplementedError

    def mend(self):
        """Mends what the last cycle has left, as an operator does, before clients write again."""

    def wait_for_all(self, load):
        load.wait_for(range(len(self.addresses())), WARM_UP_REQUESTS)

    def unindexed(self):
        """Events that only the backlog of the index shows."""
        statement = "SELECT coalesce(sum(end_seq - first_seq), 0) FROM event_backlog"
        return int(self.primary().query(statement)[0][0])

    def unsigned(self):
        """Events that no checkpoint covers."""
        return int(self.primary().query(UNSIGNED)[0][0])

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
        disturbance = Disturbance(self.others(victims), f"nodes {sorted(victims)}")
        for victim in victims:
            self.nodes[victim].kill()
        time.sleep(self.seconds)
        load.wait_for(self.others(victims), WARM_UP_REQUESTS)
        disturbance.ends()
        for victim in victims:
            self.nodes[victim].start()
        self.wait_for_all(load)
        return disturbance


class Freeze(Drill):
    """SIGSTOP of a node at any moment, then SIGCONT."""

    name = "freeze"

    def cycle(self, number, load):
        victim = number % NODES
        remark = self.freeze(victim)
        disturbance = Disturbance(self.others({victim}), f"node {victim}{remark}")
        time.sleep(self.seconds)
        load.wait_for(self.others({victim}), WARM_UP_REQUESTS)
        disturbance.ends()
        self.nodes[victim].thaw()
        self.wait_for_all(load)
        return disturbance

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
        """Freezes the node until a session of it is blocked. Exports keep a session of it busy."""
        stopping = threading.Event()
        reader = threading.Thread(target=self.read, args=(victim, stopping), daemon=True)
        reader.start()
        try:
            return self.freeze_while_sending(victim)
        finally:
            stopping.set()

    def read(self, victim, stopping):
        """Exports. Responses that a frozen node does not send do not matter."""
        master_key, projects = self.administration
        connection = service.Connection(self.nodes[victim])
        while not stopping.is_set():
            try:
                connection.request("GET", f"/api/v1/events/export?project_id={projects[0]}", master_key)
            except service.Unanswered:
                continue
        connection.close()

    def freeze_while_sending(self, victim):
        """Freezes the node again and again. Meanwhile the others store events, so that it has much to read when it goes on."""
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
        """Whether each session that waits for the node has written, and its statement."""
        return self.server.query(
            "SELECT backend_xid IS NOT NULL OR EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = a.pid"
            " AND mode IN ('RowExclusiveLock', 'RowShareLock')),"
            " regexp_replace(left(query, 60), '\\s+', ' ', 'g')"
            f" FROM pg_stat_activity a WHERE application_name = 'node{victim}' AND wait_event = 'ClientWrite'"
        )


class Cut(Drill):
    """A node whose packets to and from the database are dropped, without a reset of its connections."""

    name = "cut"
    needs_namespaces = True

    def cycle(self, number, load):
        victim = number % NODES
        disturbance = Disturbance(self.others({victim}), f"node {victim}")
        self.namespaces[victim].database.cut()
        time.sleep(self.seconds)
        load.wait_for(self.others({victim}), WARM_UP_REQUESTS)
        disturbance.ends()
        self.namespaces[victim].database.mend()
        self.wait_for_all(load)
        return disturbance


class Restart(Drill):
    """An immediate shutdown of PostgreSQL, which recovers at its start. Gaps count from when it accepts connections."""

    name = "restart"

    def cycle(self, number, load):
        self.server.stop()
        self.server.start()
        self.server.wait_ready()
        disturbance = Disturbance(range(NODES), "after PostgreSQL accepts connections")
        self.wait_for_all(load)
        return disturbance


class Failover(Drill):
    """The primary crashes, its synchronous standby is promoted. Gaps count from the end of the promotion."""

    name = "failover"

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, binary, seconds)
        self.pair = None

    def start_database(self):
        self.pair = postgres.Pair(self.folder, is_synchronous=not self.loses)

    def primary(self):
        return self.pair.primary

    def node_url(self, number):
        return self.pair.url(f"node{number}")

    def cycle(self, number, load):
        self.fail_over(load)
        disturbance = Disturbance(range(NODES), "after the promotion, with the copy of a new standby")
        self.wait_for_all(load)
        # The next cycle needs a standby. Commits wait for it from then on.
        self.pair.attach_standby()
        self.wait_for_all(load)
        return disturbance

    def fail_over(self, load):
        self.pair.fail_over()

    def stop(self):
        super().stop()
        if self.pair:
            self.pair.stop()


class FailoverLosing(Failover):
    """The same with an asynchronous standby that lacks the last commits: events and a new rule of each project. The nodes, which
    remember them, must go on, and `log verify` must find the loss. Before the next one the logs get new names."""

    name = "failover-losing"
    loses = True

    def fail_over(self, load):
        self.pair.fail_over_with_loss(lambda: self.change(load))

    def command(self, *arguments):
        return processes.run([self.binary, *arguments], environment=service.environment(self.url()))

    def stored(self):
        return int(self.primary().query("SELECT sum(size) FROM ledgers")[0][0])

    def signed(self):
        return int(self.primary().query("SELECT coalesce(sum(size), 0) FROM log_checkpoints")[0][0])

    def mend(self):
        """The logs get new names as the guide says: with the nodes stopped."""
        for node in self.nodes:
            node.end()
        self.command("log", "new-name")
        Drill.start_nodes(self)

    def change(self, load):
        master_key, projects = self.administration
        for project in projects:
            service.create_redaction_rule(self.nodes[0], master_key, project)
        # Each node stores with the new rule, and so remembers it.
        self.wait_for_all(load)
        stored = self.stored()
        # What no node has signed or seen signed can be lost without a trace.
        processes.wait_until(lambda: self.signed() >= stored, 60, "what is stored is signed")


class CitusFailoverLosing(FailoverLosing):
    """The same on Citus, with a cell on each worker: the coordinator and the workers go back in turn, each alone. What was created and
    revoked in the lost time is served by one cell or by none, and `log verify` names what is gone. Then the logs get new names, as
    docs/backup.md says, and go on."""

    name = "citus-failover-losing"
    is_by_hand = True
    obstacle = staticmethod(citus.obstacle)

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, binary, seconds)
        self.cluster = None
        # What a failover may lose: a project, its key, and a key of it that was revoked.
        self.created = None

    def start_database(self):
        self.cluster = citus.Cluster(self.folder)
        self.pair = self.cluster.pairs[0]

    def start_nodes(self):
        super().start_nodes()
        for name in ("a", "b"):
            self.command("db", "cells", "create", name)
        self.command("db", "cells", "place", "a", "b")

    def unindexed(self):
        return self.sum("end_seq - first_seq", "event_backlog")

    def unsigned(self):
        return self.stored() - self.signed()

    def stored(self):
        return self.sum("size", "ledgers")

    def signed(self):
        return self.sum("size", "log_checkpoints")

    def sum(self, column, table):
        """Of all cells: the coordinator reads from the workers."""
        statements = [f"SELECT coalesce(sum({column}), 0) FROM {schema}.{table}" for schema in ("public", "cell_a", "cell_b")]
        return sum(int(self.primary().query(statement)[0][0]) for statement in statements)

    def cycle(self, number, load):
        server = number % len(self.cluster.pairs)
        self.cluster.fail_over_with_loss(server, lambda: self.change(load))
        remark = f"{'the coordinator' if server == 0 else f'worker {server}'} went back"
        disturbance = Disturbance(range(NODES), remark)
        self.wait_for_all(load)
        self.cluster.pairs[server].attach_standby()
        self.wait_for_all(load)
        disturbance.remark += f"; {self.look(server)}"
        return disturbance

    def change(self, load):
        """Creates a project, with one key that stays and one that is revoked."""
        master_key, _ = self.administration
        project, key = service.create_project(self.nodes[0], master_key, "created")
        body = {"project_id": project, "type": "project", "name": "revoked"}
        revoked = service.post(self.nodes[0], master_key, "/api/v1/keys", body)
        service.store_event(self.nodes[1], key)
        service.delete(self.nodes[0], master_key, f"/api/v1/keys/{revoked['id']}")
        self.created = (project, key, revoked["key"])
        super().change(load)

    def look(self, server):
        """What is left of the project of `change`. Raises if it is served by halves, or has gone without a word."""
        master_key, _ = self.administration
        project, key, revoked = self.created
        projects = service.Connection(self.nodes[2]).get("/api/v1/projects", master_key)["projects"]
        listed = any(found["id"] == project for found in projects)
        # A cell that has lost the project says so; a directory that has lost it does not know the key. Nodes that knew the key learn of it
        # within a second or two.
        allowed = ({201}, {503}) if listed else ({401},)

        def settled():
            statuses = {service.store_event(node, key) for node in self.nodes}
            return statuses if statuses in allowed else None

        statuses = processes.wait_until(settled, 30, f"all nodes treat a key alike whose project is {'' if listed else 'not '}listed")
        of_revoked = {service.store_event(node, revoked) for node in self.nodes}
        if of_revoked not in ({401}, {503}):
            raise RuntimeError(f"listed: {listed}; the revoked key gets {of_revoked}")
        if listed == (server == 0):
            raise RuntimeError(f"server {server} went back, and the project is {'' if listed else 'not '}listed")
        if statuses != {201}:
            ledgers = check.verify(self.binary, self.url())
            if not any(ledger["project_id"] == project and ledger["findings"] for ledger in ledgers):
                raise RuntimeError(f"log verify finds nothing of the project {project}: {ledgers}")
        return f"a project created then: {statuses}, a key revoked then: {of_revoked}"

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.cluster:
            self.cluster.stop()


class Rolling(Drill):
    """Each node in turn is stopped as an operator does and started again, behind HAProxy. Clients know its address alone, and
    none of their requests may be broken or refused."""

    name = "rolling"
    # Some health checks of the balancer.
    settings = {"AUDIT_DRAIN_SECONDS": "2"}

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, binary, seconds)
        self.balancer = None

    @classmethod
    def obstacle(cls):
        return None if balancer.program() else "haproxy is not installed"

    def start_nodes(self):
        super().start_nodes()
        self.balancer = balancer.Balancer(self.folder, self.nodes)

    def addresses(self):
        return [self.balancer]

    def cycle(self, number, load):
        disturbance = Disturbance([0], "each node restarted in turn, behind HAProxy")
        for node in self.nodes:
            node.end()
            node.start()
            self.balancer.wait_for(node)
            self.wait_for_all(load)
        disturbance.ends()
        if load.record.refused:
            raise RuntimeError(f"broken or refused requests: {load.record.refused}")
        return disturbance

    def stop(self):
        super().stop()
        if self.balancer:
            self.balancer.stop()


class Upgrade(Drill):
    """The nodes run the version before and are replaced one at a time, so that both serve and write side by side. A node goes back
    and forth again if the schema allows it. Further cycles replace this version by itself."""

    name = "upgrade"
    # The program of the version before. Without it, this version is its own predecessor.
    previous = None

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, self.previous or binary, seconds)
        self.next = binary

    def cycle(self, number, load):
        for node in self.nodes:
            self.replace(node, self.next)
            self.wait_for_all(load)
        remark = f"from {self.version(self.binary)} to {self.version(self.next)}"
        if self.is_current_for(self.binary):
            for binary in (self.binary, self.next):
                self.replace(self.nodes[0], binary)
                self.wait_for_all(load)
            remark += ", and a node back and forth"
        disturbance = Disturbance(range(self.nodes_count), remark)
        self.wait_for_all(load)
        return disturbance

    def replace(self, node, binary):
        node.end()
        node.binary = binary
        node.start()

    def version(self, binary):
        return processes.run([binary, "--version"]).split(None, 1)[1].strip()

    def is_current_for(self, binary):
        """Whether the program starts on the database without changing its schema."""
        try:
            processes.run([binary, "db", "check"], environment=service.environment(self.url()))
        except RuntimeError as error:
            print(f"{self.name}: no way back: {error}", flush=True)
            return False
        return True


class UpgradeSqlite(Upgrade):
    """The same with one node on SQLite: clients wait until its successor has opened the file. Then both programs must refuse a database of a
    later version, and so must the one before, if this version has migrations that it lacks."""

    name = "upgrade-sqlite"
    nodes_count = 1

    def start_database(self):
        self.database = os.path.join(self.folder, "audit.db")

    def url(self):
        return f"sqlite:{self.database}"

    def node_url(self, number):
        return self.url()

    def unindexed(self):
        """SQLite keeps a backlog of some thousand events by design: a query looks at each of them."""
        return 0

    def unsigned(self):
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as connection:
            rows = connection.execute(UNSIGNED).fetchall()
        connection.close()
        return rows[0][0]

    def cycle(self, number, load):
        disturbance = super().cycle(number, load)
        if not self.is_current_for(self.binary):
            self.expect_refusal(self.binary, self.copy(number, "upgraded"))
        later = self.copy(number, "later")
        with sqlite3.connect(later) as connection:
            connection.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')")
        connection.close()
        for binary in {self.binary, self.next}:
            self.expect_refusal(binary, later)
        disturbance.remark += ", and a downgrade is refused"
        return disturbance

    def copy(self, number, name):
        """A copy of the database, while the node writes to it."""
        path = os.path.join(self.folder, f"{name}-{number}.db")
        processes.run([self.next, "backup", path], environment=service.environment(self.url()))
        return path

    def expect_refusal(self, binary, database):
        """The program must not serve a database of a later version, and say so in one line."""
        environment = {**service.environment(f"sqlite:{database}"), "AUDIT_STATE_DIR": f"{database}.state"}
        command = [binary, "serve", "--listen", "127.0.0.1:0"]
        done = subprocess.run(
            command, env=environment, cwd="/", capture_output=True, text=True, timeout=REFUSAL_SECONDS_MAX, check=False
        )
        lines = done.stderr.strip().splitlines()
        if done.returncode == 0 or len(lines) != 1 or "the database is newer than this program" not in lines[0]:
            raise RuntimeError(f"a later database is not refused: {done.returncode} {done.stdout} {done.stderr}")
        print(f"{self.name}: {self.version(binary)}: {lines[0]}", flush=True)


class Patroni(Drill):
    """The primary of a cluster under Patroni crashes with its Patroni. Patroni elects another one, and makes a standby of the
    old one when it is back. Gaps count from when the new primary accepts writes."""

    name = "patroni"
    is_by_hand = True

    def __init__(self, folder, binary, seconds):
        super().__init__(folder, binary, seconds)
        self.group = None

    @classmethod
    def obstacle(cls):
        return patroni.obstacle()

    def start_database(self):
        self.group = patroni.Group(self.folder)

    def primary(self):
        return self.group.wait_for_primary(60).server

    def node_url(self, number):
        return self.group.url(f"node{number}")

    def cycle(self, number, load):
        victim = self.group.wait_for_primary(60)
        began = time.monotonic()
        victim.crash()
        elected = self.group.wait_for_primary(2 * patroni.TTL_SECONDS)
        election = time.monotonic() - began
        disturbance = Disturbance(range(NODES), f"{victim.name} crashed, {elected.name} was elected after {election:.1f} s")
        self.wait_for_all(load)
        victim.start()
        self.group.wait_for_standby()
        self.wait_for_all(load)
        return disturbance

    def stop(self):
        super().stop()
        if self.group:
            self.group.stop()


ALL = (Upgrade, UpgradeSqlite, Kill, Freeze, FreezeSending, Cut, Restart, Failover, FailoverLosing, Rolling, Patroni, CitusFailoverLosing)


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        raise RuntimeError(f"cannot remove {folder}")

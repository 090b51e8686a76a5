"""One attack: the quiet phase, the attack, and the verdict."""

import multiprocessing
import time

import generator
import victim
from figures import OPERATIONS, percentiles, rounded, shown

# The bounds of the verdict.
RATIO_MAX = 2
MILLISECONDS_FREE = 250
MEMORY_MIB_MAX = 384
# Logs are signed once a second, and workers look for due deliveries as often.
SLOW_MILLISECONDS_FREE = {"receipt": 1_500, "delivery": 3_000, "export": 2_000}
WARM_UP_SECONDS = 1
# On a machine with other work a quiet phase may not be quiet.
QUIET_ATTEMPTS_MAX = 3
# Only bounds a hang.
STOP_SECONDS_MAX = 60
# Besides the seconds of the measurement.
VICTIM_SECONDS_MAX = 660

# Children that share nothing with this process but a pipe, whose end tells them that it has died.
CONTEXT = multiprocessing.get_context("spawn")


class Child:
    """A child process and the pipe to it."""

    def __init__(self, function, *arguments):
        self.pipe, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=function, args=(other, *arguments), daemon=True)
        self.process.start()
        other.close()

    def receive(self, seconds, what):
        if not self.pipe.poll(seconds):
            raise TimeoutError(f"{what}: not within {seconds} s")
        return self.pipe.recv()

    def end(self):
        self.process.join(STOP_SECONDS_MAX)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


class Load:
    """Generator processes that run until the end of a `with` block."""

    def __init__(self, scene, attack, is_harmless):
        self.children = [
            Child(generator.run, number, scene, attack, is_harmless) for number in range(generator.PROCESSES)
        ]
        self.states = []
        self.outcomes = {}
        self.errors = []

    def __enter__(self):
        seconds = generator.POSITION_SECONDS_MAX + STOP_SECONDS_MAX
        self.states = [child.receive(seconds, "the generators are in position") for child in self.children]
        self.begin = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begin
        for child in self.children:
            child.pipe.send("stop")
        for child in self.children:
            outcomes, errors = child.receive(STOP_SECONDS_MAX, "the generators stop")
            self.errors += errors
            for name, count in outcomes.items():
                self.outcomes[name] = self.outcomes.get(name, 0) + count
            child.end()


def measure_victim(scene, attack, seconds):
    child = Child(victim.run, scene, attack.operations(), seconds)
    try:
        return child.receive(seconds + VICTIM_SECONDS_MAX, "the victim measures")
    finally:
        child.end()


def measure(target, attack, seconds, is_smoke):
    """The result of an attack on a server."""
    scene = target.scene
    remark = attack.prepare(scene)
    measure_victim(scene, attack, WARM_UP_SECONDS)
    quiet = None if is_smoke else measure_quiet(scene, attack, seconds)
    before = target.memory_mib()
    with Load(scene, attack, is_harmless=False) as load:
        attacked, lag = measure_victim(scene, attack, seconds)
    memory = target.memory_mib()
    return Result(attack, quiet, attacked, lag, load, before, memory, remark, target.is_running())


def measure_quiet(scene, attack, seconds):
    """The victim's figures without the attack: the first ones that are quiet, else the last ones."""
    for _ in range(QUIET_ATTEMPTS_MAX):
        if attack.is_busy:
            with Load(scene, attack, is_harmless=True):
                quiet, _ = measure_victim(scene, attack, seconds)
        else:
            quiet, _ = measure_victim(scene, attack, seconds)
        if all(figures.p99() <= free_milliseconds(name) for name, figures in quiet.items()):
            break
    return quiet


def free_milliseconds(name):
    return SLOW_MILLISECONDS_FREE.get(name, MILLISECONDS_FREE)


class Result:
    """What an attack did to the victim and to the server."""

    def __init__(self, attack, quiet, attacked, lag, load, before, memory, remark, is_running):
        self.attack = attack
        self.quiet = quiet
        self.attacked = attacked
        self.lag = lag
        self.load = load
        self.before = before
        self.memory = memory
        self.remark = remark
        self.is_running = is_running
        self.attempt = 1
        self.slow = self.find_slow()
        self.faults = self.find_faults()
        self.problems = self.slow + self.faults

    def refused(self):
        """The victim's responses 503."""
        return sum(figures.count(503) for figures in self.attacked.values())

    def find_slow(self):
        """Latencies that are too high. Another attempt may show that the machine was to blame."""
        slow = []
        for name, figures in self.attacked.items():
            if self.quiet is None:
                break
            quiet, free = self.quiet[name].p99(), free_milliseconds(name)
            if quiet > free:
                slow.append(f"not judged: {name} without the attack {shown(quiet)} ms")
            if figures.p99() > max(RATIO_MAX * quiet, free):
                slow.append(f"{name} {shown(figures.p99())} > {shown(max(RATIO_MAX * quiet, free))} ms")
        return slow

    def find_faults(self):
        faults = [
            f"{name}: {count} × {status or 'no response'}"
            for name, figures in self.attacked.items()
            for status, count in figures.unexpected().items()
        ]
        if not self.is_running or self.memory is None:
            faults.append("the server has ended")
        elif self.memory[1] > MEMORY_MIB_MAX:
            faults.append(f"{self.memory[1]:,.0f} > {MEMORY_MIB_MAX} MiB")
        if self.load.outcomes.get("500"):
            faults.append(f"{self.load.outcomes['500']} × 500 to the attacker")
        if self.load.errors:
            faults.append(f"the attack failed: {self.load.errors[0].strip().splitlines()[-1]}")
        missing = [outcome for outcome in self.attack.needed_outcomes if outcome not in self.load.outcomes]
        if missing:
            faults.append(f"the attack had no {', '.join(missing)}")
        return faults

    def row(self):
        worst = max(figures.worst() for name, figures in self.attacked.items() if name in OPERATIONS)
        memory = f"{self.memory[1]:,.0f}" if self.memory else "–"
        verdict = "; ".join(self.problems) or "ok"
        extra = [
            f"{name} {shown(self.quiet[name].p99()) if self.quiet else '–'} → {shown(self.attacked[name].p99())}"
            for name in self.attack.extra_operations
        ]
        attempt = f"attempt {self.attempt}" if self.attempt > 1 else ""
        remark = "; ".join(part for part in (*extra, self.remark, attempt) if part)
        cells = [
            self.attack.name,
            percentiles(self.quiet) if self.quiet else "–",
            percentiles(self.attacked),
            shown(worst),
            str(self.refused()),
            memory,
            f"**{verdict}**" if self.problems else verdict,
            remark,
        ]
        return f"| {' | '.join(cells)} |"

    def summary(self):
        """For the file of results."""
        return {
            "attack": self.attack.name,
            "summary": self.attack.summary,
            "quiet": {name: figures.summary() for name, figures in (self.quiet or {}).items()},
            "attacked": {name: figures.summary() for name, figures in self.attacked.items()},
            "lag_p99_ms": rounded(self.lag.p99()),
            "outcomes_of_the_attack": dict(sorted(self.load.outcomes.items())),
            "attack_seconds": rounded(self.load.seconds),
            "positions": self.load.states,
            "memory_before_mib": [rounded(value) for value in self.before or ()],
            "memory_mib": [rounded(value) for value in self.memory or ()],
            "attempt": self.attempt,
            "problems": self.problems,
            "errors": self.load.errors,
            "remark": self.remark,
        }


HEADER = (
    "| Attack | Quiet p99 | p99 under attack | Worst | 503 | MiB | Verdict | Remark |\n|---|---|---|---|---|---|---|---|"
)

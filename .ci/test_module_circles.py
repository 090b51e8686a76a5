"""Modules of a crate import each other in one direction: no circle of imports has more than four modules.

What `crate::`, `super::` and `self::` name in a file counts as an import of that module, in `use` declarations and in paths.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CIRCLE_MODULES_MAX = 4
PATH = re.compile(r"\b(crate|self|super(?:::super)*)((?:::\w+)*)(?:::\{([^;]*?)\})?")


def modules(source):
    """The modules below a directory `src`, by their paths, and the texts of their files without comments and unit tests."""
    found = {}
    for file in source.rglob("*.rs"):
        path = file.relative_to(source).with_suffix("").parts
        if "tests" in path:
            continue
        text = file.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0]
        found[() if path in (("lib",), ("main",)) else path] = re.sub(r"//[^\n]*", "", text)
    return found


def imports(module, text, known):
    """The modules that a module names."""
    for base, names, group in PATH.findall(text):
        start = {"crate": (), "self": module}.get(base, module[: -base.count("super")] if module else ())
        path = start + tuple(name for name in names.split("::") if name)
        members = [tuple(member.strip().split("::")) for member in group.split(",")] if group else [()]
        for member in members:
            target = path + tuple(name for name in member if re.fullmatch(r"\w+", name))
            while target and target not in known:
                target = target[:-1]
            if target and target != module:
                yield target


def reachable(start, edges):
    seen, waiting = set(), [start]
    while waiting:
        for target in edges[waiting.pop()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def circles(source):
    """The circles of a crate: sets of modules that reach each other."""
    known = modules(source)
    edges = {module: set(imports(module, text, known)) for module, text in known.items()}
    reached = {module: reachable(module, edges) for module in known}
    found = {frozenset(other for other in reached[module] if module in reached[other]) for module in known}
    return [circle for circle in found if circle]


class ModuleCircles(unittest.TestCase):
    def test_no_circle_is_large(self):
        sources = [path for folder in ("crates", "bins", "tools") for path in (ROOT / folder).glob("*/src")]
        self.assertGreater(len(sources), 20)
        for source in sources:
            large = [sorted("::".join(module) for module in circle) for circle in circles(source) if len(circle) > CIRCLE_MODULES_MAX]
            self.assertEqual(large, [], f"{source}: move a name to a module below those that use it")

    def test_a_circle_is_found(self):
        known = {("a",): "use crate::b::{C, d::E};", ("b",): "fn f() { super::a::g() }", ("b", "d"): "use crate::a;", (): ""}
        edges = {module: set(imports(module, text, known)) for module, text in known.items()}
        self.assertEqual(edges, {("a",): {("b",), ("b", "d")}, ("b",): {("a",)}, ("b", "d"): {("a",)}, (): set()})
        self.assertEqual(reachable(("a",), edges), {("a",), ("b",), ("b", "d")})


if __name__ == "__main__":
    unittest.main()

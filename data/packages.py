#!/usr/bin/env python3
"""Makes packages.leb128 of a Debian package index: packages.py Packages packages.leb128.

Two numbers a package, in the order of the index: how many packages it depends on, and how many depend on it. Each is
an unsigned LEB128: seven bits a byte, the lowest first, the highest bit set on all but the last.

An edge goes from a package to every other one of the index that its fields Depends and Pre-Depends name, all
alternatives included, each counted once; version and architecture are left out, and so are virtual packages.
"""

import re
import sys


def leb128(number):
    while number >= 0x80:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number


def fields(paragraph):
    return dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Z][\w-]*: ", line))


def main(index, output):
    with open(index, encoding="utf-8") as text:
        packages = [fields(paragraph) for paragraph in text.read().split("\n\n") if paragraph.strip()]
    # A name that is there twice counts as its first package.
    wanted = {}
    for package in packages:
        named = re.split("[,|]", package.get("Depends", "") + "," + package.get("Pre-Depends", ""))
        wanted.setdefault(package["Package"], {re.split(r"[\s:(]", name.strip())[0] for name in named})
    dependents = dict.fromkeys(wanted, 0)
    edges = {}
    for package, names in wanted.items():
        edges[package] = [name for name in names if name in wanted and name != package]
        for name in edges[package]:
            dependents[name] += 1
    with open(output, "wb") as file:
        for package in wanted:
            file.write(bytes(leb128(len(edges[package]))) + bytes(leb128(dependents[package])))
    print(f"{len(wanted)} packages, {sum(map(len, edges.values()))} edges")


if __name__ == "__main__":
    main(*sys.argv[1:])

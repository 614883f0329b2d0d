#!/usr/bin/env python3
"""Reads metrics with the parser of prometheus_client and checks what a scraper relies on.

    check_metrics.py FILE [EARLIER_FILE]

Prints the number of families. Exit 1 with a line a fault; 77 when the package is not installed.
With an earlier scrape of the same daemon: no counter and no histogram went down.
"""
import math
import re
import sys

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    print("prometheus_client is not installed (Debian: python3-prometheus-client)")
    sys.exit(77)

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*$")


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(text_string_to_metric_families(file.read()))


def histogram_faults(family):
    series = {}
    for sample in family.samples:
        key = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
        entry = series.setdefault(key, {"buckets": []})
        if sample.name.endswith("_bucket"):
            entry["buckets"].append((float(sample.labels["le"]), sample.value))
        else:
            entry[sample.name[len(family.name):]] = sample.value
    for key, entry in series.items():
        buckets = entry["buckets"]
        if not buckets or buckets != sorted(buckets) or not math.isinf(buckets[-1][0]):
            yield f"{family.name}{key}: buckets are not ordered up to +Inf"
        counts = [count for _, count in buckets]
        if counts != sorted(counts) or counts[-1:] != [entry.get("_count")]:
            yield f"{family.name}{key}: buckets do not add up to the count"
        if "_sum" not in entry:
            yield f"{family.name}{key}: there is no sum"


def family_faults(family):
    if not NAME.match(family.name):
        yield f"{family.name}: not a name"
    if family.type not in ("counter", "gauge", "histogram"):
        yield f"{family.name}: type {family.type}"
    if not family.documentation.endswith("."):
        yield f"{family.name}: no help"
    seen = set()
    for sample in family.samples:
        key = (sample.name, tuple(sorted(sample.labels.items())))
        if key in seen:
            yield f"{key}: twice"
        seen.add(key)
        if math.isnan(sample.value) or (family.type != "gauge" and sample.value < 0):
            yield f"{key}: value {sample.value}"
        if family.type == "counter" and not sample.name.endswith("_total"):
            yield f"{sample.name}: a counter ends in _total"
    if family.type == "histogram":
        yield from histogram_faults(family)


def decrease_faults(before, after):
    values = {(s.name, tuple(sorted(s.labels.items()))): s.value for f in after for s in f.samples}
    for family in before:
        if family.type == "gauge":
            continue
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            if values.get(key, -1) < sample.value:
                yield f"{key}: {sample.value} became {values.get(key)}"


def main(arguments):
    families = read(arguments[0])
    faults = [fault for family in families for fault in family_faults(family)]
    names = [family.name for family in families]
    faults += [f"{name}: a family twice" for name in set(names) if names.count(name) > 1]
    if len(arguments) > 1:
        faults += decrease_faults(read(arguments[1]), families)
    for fault in faults:
        print(fault)
    print(len(families))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

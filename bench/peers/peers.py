"""Measures Python peers: a JSON list of "package/row" names on standard input, a JSON object per line on standard output.

Started by bench/peers.ts, which describes the protocol, once for each package. By hand, to try one row:

    echo '["torch/clone"]' | python3 bench/peers/peers.py [--quick] [--budget seconds] [--halvings n]

`--list` prints the rows there are with their units and measures nothing.

A row that fails reports why and the next one runs. Rows are in the modules below, one per family of benchmark rows.
"""

import argparse
import json
import sys
import traceback

import bayes  # noqa: F401  enters its rows in the table
import contractions  # noqa: F401  likewise
import data  # noqa: F401  likewise
import fits  # noqa: F401  likewise
import learn  # noqa: F401  likewise
import linalg  # noqa: F401  likewise
import models  # noqa: F401  likewise
import native  # noqa: F401  likewise
import sequences  # noqa: F401  likewise
import stan  # noqa: F401  likewise
import tensors  # noqa: F401  likewise
import training  # noqa: F401  likewise
import transforms  # noqa: F401  likewise
from timing import PEERS, Absent, Pace, the, version


def tell(news):
    print(json.dumps(news), flush=True)


def measure(name):
    if name not in PEERS:
        return {"row": name, "error": f"bench/peers has no row {name}"}
    unit, function = PEERS[name]
    try:
        the(name.split("/")[0])
        found = function()
        samples, values = found if isinstance(found, tuple) else (found, [])
        figure = {"row": name, "unit": unit, "samples": [float(value) for value in samples]}
        return {**figure, "values": [float(value) for value in values]} if values else figure
    except Absent as why:
        return {"row": name, "absent": str(why)}
    except Exception as why:  # whatever a library throws, the other rows still run
        traceback.print_exc(file=sys.stderr)
        return {"row": name, "error": f"{type(why).__name__}: {why}"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--halvings", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        tell({name: unit for name, (unit, _) in PEERS.items()})
        return
    if options.quick:
        Pace.quicken()
    elif options.budget:
        Pace.budget = options.budget
    Pace.halvings = options.halvings
    wanted = json.load(sys.stdin)
    for package in dict.fromkeys(name.split("/")[0] for name in wanted):
        found = version(package)
        if found:
            tell(found)
    for name in wanted:
        tell(measure(name))


main()

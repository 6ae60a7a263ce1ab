"""Stan's gradients per second on one core, by R's package rstan (Debian: r-cran-rstan r-cran-bh g++ make).

RSCRIPT names the program to run R scripts with; Rscript unless told.
"""

import os
import pathlib
import subprocess

from timing import LOADERS, Absent, Pace, peer

COMMAND = os.environ.get("RSCRIPT", "Rscript")
SCRIPT = pathlib.Path(__file__).with_name("rstan.R")


def rscript(*arguments):
    try:
        done = subprocess.run([COMMAND, str(SCRIPT), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        raise Absent(f"There is no {COMMAND}") from None
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-500:])
    return done.stdout


def _rstan():
    try:
        version = rscript("version").split()[-1]
    except RuntimeError as why:
        raise Absent(f"R without rstan: {why}") from None
    return {"module": rscript, "version": version, "device": "one core"}


LOADERS["rstan"] = _rstan


def enter(name):
    @peer(f"rstan/{name}-gradients", "gradients/s")
    def run():
        output = rscript(name, str(Pace.minimum if Pace.minimum <= 3 else 5))
        return [float(line.split()[1]) for line in output.splitlines() if line.startswith("gradients")]


for name_ in ("schools", "regime"):
    enter(name_)

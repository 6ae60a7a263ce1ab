"""Stan's gradients on one core, by R's package rstan (Debian: r-cran-rstan r-cran-bh g++ make).

RSCRIPT names the program to run R scripts with; Rscript unless told. Programs of posteriordb and their data are read from the
folder `stan` of the reference data (PUMICE_REFERENCE, or ../shared/data).
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from timing import LOADERS, Absent, Pace, peer

COMMAND = os.environ.get("RSCRIPT", "Rscript")
SCRIPT = pathlib.Path(__file__).with_name("rstan.R")


# Compiling a model takes a minute, and several on a busy machine.
MOST_SECONDS = 1800


def rscript(*arguments):
    """What the script prints. Says every minute that it is still at work: who reads us takes long silence for a crash."""
    command = [COMMAND, str(SCRIPT), *arguments]
    try:
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
    except FileNotFoundError:
        raise Absent(f"There is no {COMMAND}") from None
    began = time.monotonic()
    while True:
        try:
            output, complaints = running.communicate(timeout=60)
            break
        except subprocess.TimeoutExpired:
            seconds = round(time.monotonic() - began)
            if seconds > MOST_SECONDS:
                # The compiler that R has started, too.
                os.killpg(running.pid, signal.SIGKILL)
                raise RuntimeError(f"{' '.join(command)} was ended after {seconds} s") from None
            print(f"rstan: at work for {seconds} s", flush=True)
    if running.returncode != 0:
        raise RuntimeError(complaints.strip()[-500:])
    return output


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


# ------------------------------------------------------------------------------------------- programs of posteriordb

FOLDER = pathlib.Path(os.environ.get("PUMICE_REFERENCE") or "../shared/data") / "stan"


def older(program):
    """A program in the language of Stan 2.21, without what is computed after the gradient: `array[N] real x` is `real x[N]`."""
    kept = program.split("generated quantities")[0]
    return re.sub(r"array\[([^\]]*)\]\s+([a-z_]+(?:<[^>]*>)?(?:\[[^\]]*\])?)\s+(\w+)", r"\2 \3[\1]", kept)


def in_r(value):
    """Numbers, and lists of lists of them, as R writes them: the first index changes first."""
    if not isinstance(value, list):
        return f"{value}L" if isinstance(value, int) else repr(value)
    shape = []
    level = value
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0]
    numbers = [value]
    for _ in shape:
        numbers = [each[i] for i in range(len(numbers[0])) for each in numbers]
    is_whole = all(isinstance(number, int) for number in numbers)
    written = ", ".join(f"{number}L" if is_whole else repr(number) for number in numbers)
    return f"array(c({written}), dim = c({', '.join(map(str, shape))}))"


def enter_program(folder):
    @peer(f"rstan/{folder.name}-gradient", "µs")
    def run():
        with tempfile.TemporaryDirectory() as made:
            program, data = pathlib.Path(made, "model.stan"), pathlib.Path(made, "data.R")
            program.write_text(older((folder / "model.stan").read_text()))
            values = json.loads((folder / "data.json").read_text())
            data.write_text("list(" + ",\n".join(f"{name} = {in_r(value)}" for name, value in values.items()) + ")\n")
            output = rscript("program", str(Pace.minimum if Pace.minimum <= 3 else 5), str(program), str(data))
        return [1e6 / float(line.split()[1]) for line in output.splitlines() if line.startswith("gradients")]


for folder_ in sorted(FOLDER.iterdir()) if FOLDER.is_dir() else []:
    if (folder_ / "model.stan").is_file():
        enter_program(folder_)

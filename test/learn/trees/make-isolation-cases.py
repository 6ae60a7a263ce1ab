"""Writes isolation-cases.json: scores of scikit-learn's isolation forests by options, over seeds, on the samples of forest-cases.json.
Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.ensemble import IsolationForest

here = pathlib.Path(__file__).parent
x = np.array(json.loads(here.joinpath("forest-cases.json").read_text())["isolation"]["x"])


def scores(**options):
    found = np.array([IsolationForest(random_state=seed, **options).fit(x).score_samples(x) for seed in range(20)])
    return {"mean": np.round(found.mean(0), 5).tolist(), "sd": np.round(found.std(0, ddof=1), 5).tolist()}


out = {
    "maxFeatures": scores(max_samples=128, max_features=0.7),
    "bootstrap": scores(max_samples=128, bootstrap=True),
}
target = here / "isolation-cases.json"
target.write_text(json.dumps(out, separators=(",", ":")))
print(target.stat().st_size)

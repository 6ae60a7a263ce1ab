"""Writes fixtures/arviz-written.txt (its NaN is no JSON to other tools), a small InferenceData as ArviZ (0.23) itself saves it.

    python3 make-fixtures.py
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
import arviz as az

data = az.from_dict(
    posterior={"mu": np.arange(6.0).reshape(2, 3) / 4, "theta": np.arange(24.0).reshape(2, 3, 2, 2)},
    sample_stats={
        "diverging": np.array([[False, True, False], [False, False, False]]),
        "energy": np.full((2, 3), 1.5),
        "max_energy_error": np.zeros((2, 3)),
    },
    log_likelihood={"y": np.array([[[-1.0, -np.inf], [-2.0, np.nan], [0.5, 0.25]]] * 2)},
    observed_data={"y": np.array([3.0, 4.0])},
    coords={"school": ["a", "b"], "test": [10, 20]},
    dims={"theta": ["school", "test"]},
)
path = pathlib.Path(__file__).parent / "fixtures" / "arviz-written.txt"
data.to_json(str(path))
# Neither the day nor the version of whoever runs this.
text = json.loads(path.read_text())
for key in [key for key in text if key.endswith("attrs")]:
    del text[key]
path.write_text(json.dumps(text) + "\n")

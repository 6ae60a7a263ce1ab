"""SciPy's functions on grids: python3 make-grid-cases.py"""
import json
import numpy as np
from scipy.interpolate import RegularGridInterpolator

random = np.random.default_rng(5)

def case(*extents, others=()):
    axes = [np.cumsum(random.uniform(0.3, 1.2, n)).round(3) for n in extents]
    values = random.normal(size=(*extents, *others)).round(3)
    at = np.stack([random.uniform(axis[0] - 0.3, axis[-1] + 0.3, 12) for axis in axes], -1).round(3)
    at[0] = [axis[1] for axis in axes]
    at[1] = [axis[-1] for axis in axes]
    made = lambda method: RegularGridInterpolator(axes, values, method=method, bounds_error=False, fill_value=None)(at)
    return {
        "axes": [axis.tolist() for axis in axes],
        "values": values.tolist(),
        "at": at.tolist(),
        "linear": made("linear").ravel().tolist(),
        "nearest": made("nearest").ravel().tolist(),
    }

json.dump([case(5), case(3, 4, others=(2,)), case(3, 2, 4)], open("grid-cases.json", "w"))

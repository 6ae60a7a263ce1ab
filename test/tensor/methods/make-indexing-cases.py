"""Writes indexing-cases.json: what NumPy's indexing, assignment and ufunc.at give, for test/tensor/methods/indexing.test.ts.

    python3 make-indexing-cases.py > indexing-cases.json && npm run format

x is 0, 1, 2 … in the given shape; assigned values are -1, -2, -3 … in the shape that `value` says. An index is a number,
a slice in Python's spelling, "...", "newaxis", or nested lists of integers or booleans.
"""
import json

import numpy as np

cases = []


def index(arg):
    if arg == "...":
        return Ellipsis
    if arg == "newaxis":
        return None
    if isinstance(arg, str):
        return slice(*[int(part) if part else None for part in arg.split(":")])
    return np.array(arg) if isinstance(arg, list) else arg


def add(shape, *args, value=None):
    x = np.arange(int(np.prod(shape))).reshape(shape)
    key = tuple(index(arg) for arg in args)
    got = x[key]
    case = {"shape": list(shape), "args": list(args), "at": {"shape": list(got.shape), "values": got.ravel().tolist()}}
    values = got.shape if value is None else tuple(value)
    given = -1 - np.arange(int(np.prod(values))).reshape(values)
    changed = x.copy()
    changed[key] = given
    summed = x.copy()
    np.add.at(summed, key, given)
    case.update(value=list(values), set=changed.ravel().tolist(), add=summed.ravel().tolist())
    cases.append(case)


# slices and integers
add((7,), "1:5")
add((7,), "::-1")
add((7,), "5:1:-2")
add((7,), -1)
add((7,), "3:3")
add((3, 4), 1)
add((3, 4), "...", -1)
add((3, 4), "::2", "::-3")
add((3, 4), "newaxis", 1, "newaxis")
add((2, 3, 4), 0, "...", "1:3", value=(2,))
add((2, 3, 4), "...", 2, value=())
add((2, 3, 4), "::-1", "newaxis", "1:", 0)
add((), "...")
add((), "newaxis")
add((2, 1, 3, 2, 2), -1, "...", 1)
# one index tensor
add((7,), [0, 3, 3, -1])
add((7,), [[0, 1], [6, 0]])
add((7,), 3)
add((3, 4), [2, 0])
add((3, 4), "...", [1, 1, 3])
add((3, 4), "1:", [0, 3])
add((3, 4), "::-1", [0, 3], value=(2,))
add((2, 3, 4), ":", [0, 2, 0])
add((2, 3, 4), ":", [[0, 2], [1, 1]], "1:3")
add((2, 3, 4), "newaxis", [1], "...", 0)
# several, neighbours and not
add((3, 4), [0, 2, 2], [1, 3, 3])
add((3, 4), [[0], [2]], [1, 3, 0])
add((3, 4), 1, [1, 3])
add((3, 4), [1, 0], 2)
add((2, 3, 4), [0, 1], ":", [1, 2])
add((2, 3, 4), 0, ":", [1, 2])
add((2, 3, 4), ":", 1, [1, 2])
add((2, 3, 4), ":", [0, 2], [1, 3], value=(2,))
add((2, 3, 4), [0, 1], "newaxis", [1, 2])
add((2, 3, 4, 5), ":", [0, 2], ":", [[1], [3]])
add((2, 3, 4, 5), ":", [0, 2], [[1], [3]])
add((2, 3, 4, 5), [1, 1], ":", ":", ":")
add((2, 3, 4, 5), [1, 0], [0, 0], "...", 1)
add((2, 3, 4, 5), 1, [0, 0], "...", "::2", value=())
# masks
add((7,), [True, False, True, True, False, False, True])
add((7,), [False] * 7)
add((7,), [True, False, True, True, False, False, True], value=())
add((3, 4), [[True, False, False, True], [False] * 4, [True, True, False, False]])
add((3, 4), [[True, False, False, True], [False] * 4, [True, True, False, False]], value=())
add((3, 4), [True, False, True])
add((3, 4), [True, False, True], value=(4,))
add((3, 4), ":", [True, False, True, True])
add((3, 4), [True, False, True], [1, 2])
add((2, 3, 4), [[True, False, True], [False, True, False]], value=(3, 1))
add((2, 3, 4), ":", [[True, False, True, False], [False, True, False, False], [True] * 4])
add((2, 3, 4), 0, [[True, False, True, False], [False, True, False, False], [True] * 4])
# nothing
add((3, 0), [0, 1])
add((3, 0), ":", "1:")
print(json.dumps(cases))

"""SciPy's affine maps and rotations, and hues by Python's colorsys: augment-cases.json. Run it in this folder."""

import colorsys
import json

import numpy as np
import scipy.ndimage as ndimage

# Our names for what stands outside of an image, and SciPy's.
FILLS = {"constant": "grid-constant", "edge": "nearest", "reflect": "mirror", "symmetric": "reflect", "wrap": "grid-wrap"}
METHODS = {"bilinear": 1, "nearest": 0}

random = np.random.default_rng(7)
shape = (5, 6)
images = np.round(random.uniform(0, 1, (2, 2, *shape)), 3)  # [batch, channels, height, width]
maps = np.round(random.normal(0, 1, (2, 2, 3)) * [0.8, 0.8, 1.5] + [[1, 0, 0], [0, 1, 0]], 3)
middle = (np.array(shape) - 1) / 2


def mapped(image, map_, order, mode):
    matrix, shift = map_[:, :2], map_[:, 2]
    offset = middle + shift - matrix @ middle
    return ndimage.affine_transform(image, matrix, offset, order=order, mode=mode, cval=0.25)


cases = {
    "images": images.tolist(),
    "maps": maps.tolist(),
    "affine": [
        {
            "fill": fill,
            "method": method,
            "result": [[mapped(c, m, order, mode).round(7).tolist() for c in i] for i, m in zip(images, maps)],
        }
        for fill, mode in FILLS.items()
        for method, order in METHODS.items()
    ],
    "rotations": [
        {
            "degrees": degrees,
            "result": [
                [
                    ndimage.rotate(c, degrees, reshape=False, order=1, mode="grid-constant", cval=0).round(7).tolist()
                    for c in i
                ]
                for i in images
            ],
        }
        for degrees in (30, -77.5)
    ],
    "hues": [],
}

colors = np.round(random.uniform(0, 1, (8, 3)), 3).tolist() + [[0.5, 0.5, 0.5], [1, 0, 0], [0, 1, 1], [0.2, 0.2, 0.7]]
for share in (0.1, -0.35, 0.5):
    moved = []
    for red, green, blue in colors:
        h, s, v = colorsys.rgb_to_hsv(red, green, blue)
        moved.append([round(c, 7) for c in colorsys.hsv_to_rgb((h + share) % 1, s, v)])
    cases["hues"].append({"share": share, "colors": colors, "moved": moved})

with open("augment-cases.json", "w") as file:
    json.dump(cases, file, separators=(",", ":"))
    file.write("\n")

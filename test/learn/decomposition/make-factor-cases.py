"""scikit-learn's factorisations, for the tests beside: python3 make-factor-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import NMF, FactorAnalysis, FastICA

warnings.filterwarnings("ignore")
digits = load_digits().data[:40, 16:34:2]
wine = np.round(load_wine().data[:60:2, [0, 1, 5, 6, 9, 11]] * 64) / 64
rng = np.random.default_rng(3)
time = np.arange(80) / 8
sources = np.stack([np.sin(2 * time), np.sign(np.sin(3 * time)), rng.laplace(size=80)], 1)
mixed = np.round(sources @ np.array([[1, 1, 1, 0.2], [0.5, 2, 1, 1], [1.5, 1, 2, 0.7]]) * 256) / 256
start = np.round(rng.normal(size=(4, 4)) * 64) / 64


def parts(name, options, x, **more):
    model = NMF(tol=1e-9, max_iter=20000, **more).fit(x)
    return {"name": name, "options": options, "x": x.tolist(), "components": model.components_.tolist(),
            "error": float(model.reconstruction_err_), "transformed": model.transform(x[:7]).tolist()}


def independent(name, options, count, **more):
    w = start[:count, :count]
    model = FastICA(n_components=count, w_init=w, tol=1e-10, max_iter=2000, **more).fit(mixed)
    return {"name": name, "options": {"nComponents": count, "wInit": w.tolist(), **options}, "x": mixed.tolist(),
            "components": model.components_.tolist(), "mixing": model.mixing_.tolist(),
            "transformed": model.transform(mixed[:7]).tolist()}


def factors(name, options, **more):
    model = FactorAnalysis(svd_method="lapack", **more).fit(wine)
    return {"name": name, "options": options, "x": wine.tolist(), "components": model.components_.tolist(),
            "noise": model.noise_variance_.tolist(), "transformed": model.transform(wine[:7]).tolist(),
            "likelihood": float(model.loglike_[-1]), "iterations": model.n_iter_,
            "covariance": model.get_covariance().tolist(), "precision": model.get_precision().tolist(),
            "scores": model.score_samples(wine[:7]).tolist()}


json.dump({
    "nmf": [
        parts("plain", {"nComponents": 3}, digits, n_components=3),
        parts("sparse start", {"nComponents": 3, "init": "nndsvd"}, wine, n_components=3, init="nndsvd"),
        parts("penalties", {"nComponents": 2, "alphaW": 0.02, "alphaH": 0.03, "l1Ratio": 0.4}, digits, n_components=2,
              alpha_W=0.02, alpha_H=0.03, l1_ratio=0.4),
        parts("one penalty", {"nComponents": 3, "alphaW": 0.01}, wine, n_components=3, alpha_W=0.01),
    ],
    "fastIca": [
        independent("log cosh", {}, 3, whiten="arbitrary-variance"),
        independent("unit variance, exp", {"whiten": "unitVariance", "fun": "exp"}, 3, whiten="unit-variance", fun="exp"),
        independent("cube", {"fun": "cube"}, 3, whiten="arbitrary-variance", fun="cube"),
        independent("steeper", {"alpha": 1.5}, 2, whiten="arbitrary-variance", fun_args={"alpha": 1.5}),
    ],
    "factorAnalysis": [
        factors("two", {"nComponents": 2}, n_components=2),
        factors("far", {"nComponents": 2, "tol": 1e-8}, n_components=2, tol=1e-8, max_iter=1000),
        factors("varimax", {"nComponents": 3, "rotation": "varimax"}, n_components=3, rotation="varimax"),
        factors("quartimax, other noise", {"nComponents": 2, "rotation": "quartimax", "noiseVarianceInit": [1, 2, 0.5, 1, 3, 0.1]},
                n_components=2, rotation="quartimax", noise_variance_init=np.array([1, 2, 0.5, 1, 3, 0.1])),
    ],
}, open(sys.argv[1], "w"))

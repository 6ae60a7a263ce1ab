"""scikit-learn's decompositions, for the tests beside: python3 make-decomposition-cases.py OUT.json"""
import json, sys
import numpy as np
from sklearn.cross_decomposition import PLSSVD
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD

iris = load_iris().data[::2]
wine = np.round(load_wine().data[::6, :8] * 64) / 64
wide = wine.T[:5]


def pca(name, options, x, **more):
    model = PCA(svd_solver="full", **more).fit(x)
    scored = model.n_components_ < min(x.shape) and not more.get("whiten")
    return {"kind": "pca", "name": name, "options": options, "x": x.tolist(),
            "components": model.components_.tolist(), "variances": model.explained_variance_.tolist(),
            "ratios": model.explained_variance_ratio_.tolist(), "noise": float(model.noise_variance_),
            "transformed": model.transform(x).tolist(),
            "scores": model.score_samples(x).tolist() if scored else None,
            # scikit-learn 1.2 scales the components of white ones twice there.
            "covariance": None if more.get("whiten") else model.get_covariance().tolist()}


def incremental(name, options, x, **more):
    model = IncrementalPCA(**more).fit(x)
    return {"kind": "incrementalPca", "name": name, "options": options, "x": x.tolist(),
            "components": model.components_.tolist(), "variances": model.explained_variance_.tolist(),
            "ratios": model.explained_variance_ratio_.tolist(), "noise": float(model.noise_variance_),
            "transformed": model.transform(x).tolist(), "scores": None, "covariance": None}


def truncated(name, options, x, **more):
    model = TruncatedSVD(algorithm="arpack", **more).fit(x)
    return {"kind": "truncatedSvd", "name": name, "options": options, "x": x.tolist(),
            "components": model.components_.tolist(), "variances": model.explained_variance_.tolist(),
            "ratios": model.explained_variance_ratio_.tolist(), "transformed": model.transform(x).tolist()}


diabetes = load_diabetes(scaled=False)
left = np.round(diabetes.data[:40, :5] * 16) / 16
right = np.stack([diabetes.target[:40], diabetes.data[:40, 6], np.round(diabetes.data[:40, 8] * 16) / 16], axis=1)
pls = PLSSVD(n_components=2).fit(left, right)
plain = PLSSVD(n_components=2, scale=False).fit(left, right)

json.dump({
    "spectra": [
        pca("all", {}, iris),
        pca("two", {"nComponents": 2}, iris, n_components=2),
        pca("white", {"nComponents": 3, "whiten": True}, wine, n_components=3, whiten=True),
        pca("a share of the variance", {"nComponents": 0.99}, wine, n_components=0.99),
        pca("as many as the evidence asks for", {"nComponents": "mle"}, iris, n_components="mle"),
        pca("more features than samples", {"nComponents": 3}, wide, n_components=3),
        incremental("batches", {"nComponents": 2, "batchSize": 20}, iris, n_components=2, batch_size=20),
        incremental("a rest that joins the last", {"nComponents": 3, "batchSize": 12}, iris[:38], n_components=3, batch_size=12),
        incremental("white", {"whiten": True}, iris, whiten=True),
        truncated("two", {}, wine, n_components=2),
        truncated("three", {"nComponents": 3}, iris, n_components=3),
    ],
    "pls": [
        {"options": {}, "x": left.tolist(), "y": right.tolist(),
         "left": pls.transform(left).tolist(), "right": pls.transform(left, right)[1].tolist()},
        {"options": {"scale": False}, "x": left.tolist(), "y": right.tolist(),
         "left": plain.transform(left).tolist(), "right": plain.transform(left, right)[1].tolist()},
    ],
}, open(sys.argv[1], "w"))

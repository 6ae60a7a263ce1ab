"""scikit-learn's kernels, Gaussian processes and kernel ridge, for the tests beside: python3 make-kernels-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (RBF, ConstantKernel, DotProduct, ExpSineSquared, Matern,
                                              RationalQuadratic, WhiteKernel)
from sklearn.kernel_ridge import KernelRidge

warnings.filterwarnings("ignore")
rng = np.random.default_rng(0)
round_to = lambda x, step=256: np.round(x * step) / step
a = round_to(rng.normal(size=(5, 2)))
b = round_to(rng.normal(size=(3, 2)))
tilt = np.cos(np.arange(5)[:, None] + 2 * np.arange(5)[None])


def kernel(name, ours, theirs, extent=2):
    x, y = a[:, :extent], b[:, :extent]
    _, slope = theirs(x, eval_gradient=True)
    return {"name": name, "kernel": ours, "x": x.tolist(), "y": y.tolist(), "own": theirs(x).tolist(),
            "cross": theirs(x, y).tolist(), "diagonal": theirs.diag(x).tolist(),
            # The derivatives of a weighted sum, sorted: orders of parameters differ.
            "slopes": sorted((tilt[:, :, None] * slope).sum(axis=(0, 1)).tolist())}


kernels = [
    kernel("constant", ["constant", 2], ConstantKernel(2)),
    kernel("white", ["white", 0.3], WhiteKernel(0.3)),
    kernel("rbf", ["rbf", 1.5], RBF(1.5)),
    kernel("rbf, a scale for each feature", ["rbf", [1.5, 0.6]], RBF([1.5, 0.6])),
    *[kernel(f"matern {nu}", ["matern", [0.8, 2], {"nu": nu}], Matern([0.8, 2], nu=nu)) for nu in (0.5, 1.5, 2.5)],
    kernel("rational quadratic", ["rationalQuadratic", {"lengthScale": 1.2, "alpha": 0.7}], RationalQuadratic(1.2, 0.7)),
    kernel("exp sine squared", ["expSineSquared", {"lengthScale": 1.3, "periodicity": 2.1}], ExpSineSquared(1.3, 2.1)),
    kernel("periodic of one feature", ["periodic", {"lengthScale": 1.3, "periodicity": 2.1}], ExpSineSquared(1.3, 2.1), 1),
    kernel("dot product", ["dotProduct", 0.4], DotProduct(0.4)),
    kernel("a sum of products", ["sum", ["product", ["constant", 3], ["rbf", 2]], ["white", 0.1]], ConstantKernel(3) * RBF(2) + WhiteKernel(0.1)),
    kernel("a power", ["power", ["sum", ["rbf", 2], ["dotProduct", 1]], 2], (RBF(2) + DotProduct(1)) ** 2),
]
periodic = [ExpSineSquared(s, p)(a[:, [j]], b[:, [j]]) for j, (s, p) in enumerate([(1.3, 2.1), (0.8, 1.4)])]
smooth = Matern([0.8, 2], nu=3.5)(a, b)

diabetes = load_diabetes()
x = round_to(diabetes.data[:40, [2, 3, 8]] * 20)
y = diabetes.target[:40] / 64
two = np.stack([y, np.round(diabetes.data[:40, 6] * 640) / 64], axis=1)
new = round_to(diabetes.data[40:46, [2, 3, 8]] * 20)


def tight(loss, start, bounds):
    found = minimize(loss, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"ftol": 1e-16, "gtol": 1e-9, "maxiter": 2000})
    return found.x, found.fun


def process(name, ours, theirs, options, targets=y, **more):
    optimizer = None if options.get("optimizer") == "none" else tight
    model = GaussianProcessRegressor(theirs, optimizer=optimizer, **more).fit(x, targets)
    mean, std = model.predict(new, return_std=True)
    return {"name": name, "kernel": ours, "options": options, "x": x.tolist(), "y": targets.tolist(), "new": new.tolist(),
            "mean": mean.tolist(), "std": std.tolist(), "covariance": model.predict(new, return_cov=True)[1].tolist(),
            "likelihood": float(model.log_marginal_likelihood_value_), "parameters": np.sort(model.kernel_.theta).tolist()}


noise = (0.5 + np.arange(40) % 3 / 4).tolist()
scaled, scaled_theirs = ["sum", ["product", ["constant", 1], ["rbf", [1, 1, 1]]], ["white", 0.5]], ConstantKernel(1) * RBF([1, 1, 1]) + WhiteKernel(0.5)
regressions = [
    process("no search", ["rbf", 0.7], RBF(0.7), {"optimizer": "none", "alpha": 0.5}, alpha=0.5),
    process("noise by sample", ["product", ["constant", 2], ["matern", 1.5]], ConstantKernel(2) * Matern(1.5), {"optimizer": "none", "alpha": noise}, alpha=np.array(noise)),
    process("a search, normalized", scaled, scaled_theirs, {"normalizeY": True}, normalize_y=True),
    process("two outputs", ["sum", ["rbf", 1], ["white", 1]], RBF(1) + WhiteKernel(1), {"normalizeY": True}, targets=two, normalize_y=True),
    process("a bound is met", ["sum", ["rbf", 1, {"lengthScaleBounds": [0.5, 1.25]}], ["white", 1]], RBF(1, (0.5, 1.25)) + WhiteKernel(1), {}),
]

iris = load_iris()
cancer = load_breast_cancer()
wide = round_to((cancer.data[::14] - cancer.data.mean(axis=0)) / cancer.data.std(axis=0))[:, :4]


def classified(name, ours, theirs, options, samples, labels):
    optimizer = None if options.get("optimizer") == "none" else tight
    model = GaussianProcessClassifier(theirs, optimizer=optimizer).fit(samples, labels)
    return {"name": name, "kernel": ours, "options": options, "x": samples.tolist(), "y": labels.tolist(),
            "probabilities": model.predict_proba(samples[::3]).tolist(), "predicted": model.predict(samples[::3]).tolist(),
            "likelihood": float(model.log_marginal_likelihood_value_)}


classifications = [
    classified("two classes, no search", ["rbf", 1], RBF(1), {"optimizer": "none"}, wide, cancer.target[::14]),
    classified("two classes", ["product", ["constant", 1], ["rbf", 1]], ConstantKernel(1) * RBF(1), {}, wide, cancer.target[::14]),
    classified("three classes", ["rbf", 1], RBF(1), {}, iris.data[::6, :3], iris.target[::6]),
]


def ridge(name, options, targets=y, weights=None, samples=x, at=new, **more):
    model = KernelRidge(**more).fit(samples, targets, sample_weight=weights)
    return {"name": name, "options": options, "x": samples.tolist(), "y": targets.tolist(), "weights": None if weights is None else weights.tolist(),
            "new": at.tolist(), "dual": model.dual_coef_.tolist(), "predicted": model.predict(at).tolist()}


weights = 1 + np.arange(40) % 4 / 2
gram, cross = np.round(x @ x.T * 64) / 64, np.round(new @ x.T * 64) / 64
ridges = [
    ridge("linear", {}),
    ridge("rbf, two outputs", {"kernel": "rbf", "gamma": 0.4, "alpha": [0.1, 2]}, two, kernel="rbf", gamma=0.4, alpha=[0.1, 2]),
    ridge("rbf, weights", {"kernel": "rbf", "alpha": 0.5}, y, weights, kernel="rbf", alpha=0.5),
    ridge("polynomial", {"kernel": "polynomial", "degree": 2, "coef0": 2}, kernel="polynomial", degree=2, coef0=2),
    ridge("sigmoid", {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.5, "alpha": 2}, kernel="sigmoid", gamma=0.1, coef0=0.5, alpha=2),
    ridge("laplacian", {"kernel": "laplacian", "gamma": 0.2}, kernel="laplacian", gamma=0.2),
    ridge("precomputed", {"kernel": "precomputed", "alpha": 30}, two, None, gram, cross, kernel="precomputed", alpha=30),
]


def components(name, options, samples=iris.data[::5], at=iris.data[1::30], **more):
    model = KernelPCA(eigen_solver="dense", **more).fit(samples)
    moved = model.transform(at)
    return {"name": name, "options": options, "x": samples.tolist(), "new": at.tolist(), "eigenvalues": model.eigenvalues_.tolist(),
            "vectors": model.eigenvectors_.tolist(), "transformed": moved.tolist(),
            "back": model.inverse_transform(moved).tolist() if more.get("fit_inverse_transform") else None}


similar = np.round(iris.data[::5] @ iris.data[::5].T * 64) / 64
pcas = [
    components("linear, all", {}),
    components("rbf", {"kernel": "rbf", "nComponents": 3, "gamma": 0.3}, kernel="rbf", n_components=3, gamma=0.3),
    components("polynomial", {"kernel": "polynomial", "degree": 2, "nComponents": 4}, kernel="poly", degree=2, n_components=4),
    components("sigmoid", {"kernel": "sigmoid", "gamma": 0.01, "nComponents": 2}, kernel="sigmoid", gamma=0.01, n_components=2),
    components("cosine", {"kernel": "cosine", "nComponents": 3}, kernel="cosine", n_components=3),
    components("precomputed", {"kernel": "precomputed", "nComponents": 2}, similar, similar[::7], kernel="precomputed", n_components=2),
    components("the way back", {"kernel": "rbf", "gamma": 0.2, "nComponents": 3, "fitInverseTransform": True, "alpha": 0.1},
               kernel="rbf", gamma=0.2, n_components=3, fit_inverse_transform=True, alpha=0.1),
]


def short(value):
    """Twelve digits; numbers of the data have fewer."""
    if isinstance(value, dict):
        return {name: short(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(each) for each in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


json.dump(short({
    "kernels": kernels, "periodic": {"x": a.tolist(), "y": b.tolist(), "cross": (periodic[0] * periodic[1]).tolist(), "smooth": smooth.tolist()},
    "regressions": regressions, "classifications": classifications, "ridges": ridges, "pcas": pcas,
}), open(sys.argv[1], "w"))

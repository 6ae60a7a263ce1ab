"""scikit-learn's results for the tests of numeric preprocessing: python3 make-preprocessing-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import (
    Binarizer, KBinsDiscretizer, Normalizer, PolynomialFeatures, PowerTransformer, QuantileTransformer, SplineTransformer)

warnings.simplefilter("ignore")


def listed(a):
    return [[None if np.isnan(v) else float(v) for v in row] for row in np.asarray(a, dtype=float)]


# Rounded so that f32 holds them exactly; a column of few values, and one that does not vary. 32 gaps between samples, so that no
# quantile that is a sample is moved by rounding.
x = np.round(load_diabetes(scaled=False).data[:33, [0, 2, 4]] * 16) / 16
x = np.concatenate([x, np.round(np.sin(np.arange(33)) * 3)[:, None], np.full((33, 1), 3.5)], axis=1)
zeros = x * np.array([-1, 1, 2, 0, 1])
zeros[7] = 0
above = np.abs(x) + 0.5
gaps = x.copy()
gaps = np.concatenate([gaps, gaps[:1]])
gaps[3, 0] = gaps[5, 1] = gaps[33, 2] = gaps[33, 3] = gaps[2, 4] = np.nan
new = np.concatenate([x[:8] + 0.25, x[:2] * 3, -x[:2]])


def case(kind, name, options, model, x=x, back=False, new=new):
    out = model.fit(x).transform(x)
    return {
        "kind": kind, "name": name, "options": options, "x": listed(x), "transformed": listed(out), "new": listed(new),
        "newTransformed": listed(model.transform(new)),
        "back": listed(model.inverse_transform(out)) if back else None,
        "names": [str(each) for each in model.get_feature_names_out()],
    }


small = x[:12, :3]
few = {"x": small, "new": new[:, :3]}
cases = [
    case("normalizer", "l2", {}, Normalizer(), x=zeros),
    case("normalizer", "l1", {"norm": "l1"}, Normalizer(norm="l1"), x=zeros),
    case("normalizer", "largest", {"norm": "max"}, Normalizer(norm="max"), x=zeros),
    case("binarizer", "at zero", {}, Binarizer()),
    case("binarizer", "at another threshold", {"threshold": 3.5}, Binarizer(threshold=3.5)),
    case("polynomialFeatures", "squares", {}, PolynomialFeatures(), **few),
    case("polynomialFeatures", "no bias, degree 3", {"degree": 3, "includeBias": False}, PolynomialFeatures(3, include_bias=False), **few),
    case("polynomialFeatures", "interactions", {"degree": 4, "interactionOnly": True}, PolynomialFeatures(4, interaction_only=True), **few),
    case("polynomialFeatures", "degrees 2 and 3", {"degree": [2, 3]}, PolynomialFeatures((2, 3)), **few),
    case("polynomialFeatures", "degree 0", {"degree": 0}, PolynomialFeatures(0), **few),
    *[case("kBinsDiscretizer", f"{strategy}, {encode}", {"nBins": bins, "encode": encode, "strategy": strategy},
           KBinsDiscretizer(n_bins=bins, encode="onehot-dense" if encode == "onehot" else encode, strategy=strategy), back=True, **data)
      for strategy, encode, bins, data in [
          ("uniform", "ordinal", 4, {"x": x[:, :4], "new": new[:, :4]}),
          ("quantile", "onehot", 4, {"x": x[:, :4], "new": new[:, :4]}),
          ("quantile", "ordinal", [2, 4, 8], {"x": x[:, :3], "new": new[:, :3]}),
          ("kmeans", "ordinal", 5, {"x": x[:, :4], "new": new[:, :4]}),
          ("kmeans", "onehot", 3, {"x": x[:, :3], "new": new[:, :3]})]],
    case("quantileTransformer", "uniform", {"nQuantiles": 9}, QuantileTransformer(n_quantiles=9), back=True),
    case("quantileTransformer", "normal", {"nQuantiles": 17, "outputDistribution": "normal"},
         QuantileTransformer(n_quantiles=17, output_distribution="normal"), back=True),
    case("quantileTransformer", "missing values", {"nQuantiles": 33}, QuantileTransformer(n_quantiles=33), x=gaps, back=True),
    case("powerTransformer", "Yeo and Johnson", {}, PowerTransformer(), x=x[:, :4], new=x[:8, :4] + 0.25, back=True),
    case("powerTransformer", "not standardised, missing values", {"standardize": False}, PowerTransformer(standardize=False),
         x=gaps[:, :4], new=x[:8, :4] + 0.25, back=True),
    case("powerTransformer", "Box and Cox", {"method": "boxCox"}, PowerTransformer("box-cox"), x=above[:, :4], new=above[:8, :4] + 0.25, back=True),
]
json.dump(cases, open(sys.argv[1], "w"))

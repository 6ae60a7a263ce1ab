"""Writes forest-cases.json: scikit-learn's single trees, and what its forests reach over seeds. Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

rng = np.random.default_rng(5)


def single(x):
    # scikit-learn's trees see f32.
    return np.asarray(x, np.float32).astype(float)


def known(load, rows=None, columns=None, **options):
    d = load(**options)
    order = rng.permutation(len(d.data))[:rows]
    return single(np.round(d.data[order][:, :columns], 4)), d.target[order]


data = {
    # Petal lengths and widths part the species alike: a tie, so the widths stay out.
    "iris": known(load_iris, columns=3),
    "wine": known(load_wine),
    "cancer": known(load_breast_cancer, 300, 10),
    "diabetes": known(load_diabetes, 300, scaled=False),
}
x, y = data["diabetes"]
data["several"] = (x, np.c_[y, np.round(x[:, 2] * x[:, 3] / 10 + rng.normal(size=len(y)), 2)])
data["counts"] = (x, rng.poisson(np.exp((x[:, 2] - 26) / 6 + (x[:, 8] - 4.6))))
weights = np.round(rng.random(300) * 2, 1)

classes = [
    ("iris", dict(max_depth=2, min_samples_leaf=12)),
    ("iris", dict(criterion="entropy", max_depth=2, min_samples_leaf=5)),
    ("iris", dict(min_samples_leaf=10)),
    ("wine", dict(max_depth=2)),
    ("wine", dict(max_leaf_nodes=4, min_samples_leaf=4)),
    ("wine", dict(class_weight="balanced", max_depth=2, min_samples_split=30)),
    ("cancer", dict(max_depth=3, min_samples_leaf=10)),
    ("cancer", dict(criterion="entropy", max_depth=3, min_samples_leaf=7)),
    ("cancer", dict(min_samples_leaf=5, ccp_alpha=0.006)),
    ("cancer", dict(max_depth=1, weights=True)),
]
numbers = [
    ("diabetes", dict(min_samples_leaf=6)),
    ("diabetes", dict(max_depth=4, min_samples_split=20, min_samples_leaf=3)),
    ("diabetes", dict(max_leaf_nodes=9, min_samples_leaf=4)),
    ("diabetes", dict(min_samples_leaf=8, min_impurity_decrease=25.0, weights=True)),
    ("diabetes", dict(min_samples_leaf=4, ccp_alpha=40.0)),
    ("several", dict(min_samples_leaf=9)),
    ("counts", dict(criterion="poisson", max_depth=1)),
]


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def tree_case(kind, maker, name, options):
    given = {k: v for k, v in options.items() if k != "weights"}
    x, y = data[name]
    w = weights[: len(y)] if options.get("weights") else None
    trees = [maker(random_state=s, **given).fit(x, y, sample_weight=w) for s in range(8)]
    t = trees[0].tree_
    for other in trees[1:]:
        # The order in which scikit-learn looks at features decides ties: trees with one are left out.
        if not (np.array_equal(other.tree_.feature, t.feature) and np.allclose(other.tree_.threshold, t.threshold)):
            print("tie:", kind, name, options)
            return None
    value = t.value[:, 0, :] if "Class" in kind else t.value[:, :, 0]
    if "Class" in kind:
        value = value / value.sum(1, keepdims=True)
    # Nodes from the root, left parts first: with a limit of leaves scikit-learn numbers them as they were made.
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if t.children_left[node] >= 0:
            waiting += [t.children_right[node], t.children_left[node]]
    number = np.full(t.node_count + 1, -1)
    number[order] = range(t.node_count)
    inner = t.children_left[order] >= 0
    return dict(
        kind=kind,
        data=name,
        options={camel(k): v for k, v in given.items()},
        weights=bool(options.get("weights")),
        feature=np.where(inner, t.feature[order], -1).tolist(),
        threshold=[round(float(v), 6) if i else 0 for v, i in zip(t.threshold[order], inner)],
        left=number[t.children_left[order]].tolist(),
        right=number[t.children_right[order]].tolist(),
        count=t.n_node_samples[order].tolist(),
        impurity=[round(float(v), 7) for v in t.impurity[order]],
        value=[[round(float(v), 7) for v in row] for row in value[order]],
        importances=[round(float(v), 7) for v in trees[0].feature_importances_],
    )


trees = [tree_case("decisionTreeClassifier", DecisionTreeClassifier, *c) for c in classes]
trees += [tree_case("decisionTreeRegressor", DecisionTreeRegressor, *c) for c in numbers]
trees = [case for case in trees if case]

digits = load_digits()
order = rng.permutation(1797)[:700]
pixels, digit = digits.data[order].astype(int), digits.target[order]
samples = {
    "digits": (pixels, digit),
    "cancer": data["cancer"],
    "diabetes": data["diabetes"],
}
makers = dict(
    randomForestClassifier=RandomForestClassifier,
    extraTreesClassifier=ExtraTreesClassifier,
    randomForestRegressor=RandomForestRegressor,
    extraTreesRegressor=ExtraTreesRegressor,
)
forests = []
for kind, name, options in [
    ("randomForestClassifier", "digits", {}),
    ("randomForestClassifier", "cancer", dict(criterion="entropy", max_features=0.5)),
    ("randomForestRegressor", "diabetes", dict(max_features=4, min_samples_leaf=3)),
    ("extraTreesClassifier", "digits", {}),
    ("extraTreesClassifier", "cancer", dict(max_depth=6)),
    ("extraTreesRegressor", "diabetes", dict(min_samples_leaf=3)),
]:
    x, y = samples[name]
    half = len(y) // 2
    bags = "random" in kind
    scores, unseen = [], []
    for seed in range(16):
        more = dict(oob_score=True) if bags else {}
        model = makers[kind](40, random_state=seed, **options, **more).fit(x[:half], y[:half])
        scores.append(model.score(x[half:], y[half:]))
        if bags:
            unseen.append(model.oob_score_)
    forests.append(
        dict(
            kind=kind,
            data=name,
            options={"nEstimators": 40, **{camel(k): v for k, v in options.items()}},
            mean=round(float(np.mean(scores)), 6),
            sd=round(float(np.std(scores, ddof=1)), 6),
            unseen=[round(float(np.mean(unseen)), 6), round(float(np.std(unseen, ddof=1)), 6)] if bags else None,
        )
    )

x = np.round(np.r_[rng.normal(size=(190, 3)), rng.normal(size=(10, 3)) * 4], 3)
scores = np.array([IsolationForest(n_estimators=100, max_samples=128, random_state=s).fit(x).score_samples(x) for s in range(20)])
isolation = dict(
    x=x.tolist(),
    maxSamples=128,
    mean=np.round(scores.mean(0), 6).tolist(),
    sd=np.round(scores.std(0, ddof=1), 6).tolist(),
)

out = dict(
    data={k: dict(x=np.round(x, 6).tolist(), y=np.asarray(y).tolist()) for k, (x, y) in data.items() if k not in ("several", "counts")},
    targets={k: np.asarray(data[k][1]).tolist() for k in ("several", "counts")},
    weights=weights.tolist(),
    trees=trees,
    # A pixel is a letter, from a for 0 to q for 16.
    digits=dict(pixels=["".join(chr(97 + v) for v in row) for row in pixels], labels=digit.tolist()),
    forests=forests,
    isolation=isolation,
)
path = pathlib.Path(__file__).with_name("forest-cases.json")
path.write_text(json.dumps(out, separators=(",", ":")))
print(path.stat().st_size)

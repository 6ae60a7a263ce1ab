"""Writes tree-options-cases.json: scikit-learn's trees by options, pruning paths, texts and ways, on the data of forest-cases.json.
Run with Debian's python3 (scikit-learn 1.2.1)."""
import json
import pathlib

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

here = pathlib.Path(__file__).parent
known = json.loads(here.joinpath("forest-cases.json").read_text())
data = {name: (np.array(d["x"]), np.array(d["y"])) for name, d in known["data"].items()}
for name, y in known["targets"].items():
    data[name] = (data["diabetes"][0], np.array(y))
weights = np.array(known["weights"])

CLASSES, NUMBERS = ("decisionTreeClassifier", DecisionTreeClassifier), ("decisionTreeRegressor", DecisionTreeRegressor)
CASES = [
    (CLASSES, "cancer", dict(min_weight_fraction_leaf=0.07)),
    (CLASSES, "cancer", dict(min_weight_fraction_leaf=0.09, max_depth=2, weights=True)),
    (CLASSES, "cancer", dict(criterion="log_loss", max_depth=3, min_samples_leaf=0.03)),
    (NUMBERS, "diabetes", dict(min_samples_split=0.3, min_samples_leaf=0.04)),
    (NUMBERS, "diabetes", dict(min_weight_fraction_leaf=0.06, max_leaf_nodes=6, weights=True)),
    (NUMBERS, "diabetes", dict(criterion="friedman_mse", min_samples_leaf=10, min_impurity_decrease=60000.0)),
    (NUMBERS, "several", dict(criterion="friedman_mse", min_samples_leaf=15)),
    (NUMBERS, "diabetes", dict(criterion="absolute_error", max_depth=3, min_samples_leaf=10)),
    (NUMBERS, "diabetes", dict(criterion="absolute_error", max_leaf_nodes=5, min_samples_leaf=15)),
    (NUMBERS, "several", dict(criterion="friedman_mse", min_samples_leaf=8, max_leaf_nodes=7, weights=True)),
]
NAMES = {"log_loss": "logLoss", "friedman_mse": "friedmanMse", "absolute_error": "absoluteError"}


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
            raise SystemExit(f"tie: {kind} {name} {options}")
    value = t.value[:, 0, :] if "Class" in kind else t.value[:, :, 0]
    if "Class" in kind:
        value = value / value.sum(1, keepdims=True)
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
        options={camel(k): NAMES.get(v, v) for k, v in given.items()},
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


def path(maker, name, **options):
    found = maker(random_state=0, **options).cost_complexity_pruning_path(*data[name])
    return {"alphas": found.ccp_alphas.tolist(), "impurities": found.impurities.tolist()}


def told(tree, name, **options):
    return export_text(tree.fit(*data[name]), **options)


small = DecisionTreeClassifier(random_state=0, max_depth=3, min_samples_leaf=10).fit(*data["cancer"])
columns = [f"c{i}" for i in range(10)]
out = dict(
    trees=[tree_case(*kind, *rest) for kind, *rest in CASES],
    paths={
        "classes": path(DecisionTreeClassifier, "cancer", max_depth=3, min_samples_leaf=10),
        "numbers": path(DecisionTreeRegressor, "diabetes", min_samples_leaf=6),
    },
    ways=np.array(small.decision_path(data["cancer"][0][:12]).todense()).tolist(),
    texts={
        "classes": export_text(small),
        "weights": export_text(small, feature_names=columns, max_depth=1, show_weights=True, spacing=5, decimals=4),
        "numbers": told(DecisionTreeRegressor(random_state=0, max_depth=4, min_samples_split=20, min_samples_leaf=3), "diabetes", decimals=3),
    },
)
target = here / "tree-options-cases.json"
target.write_text(json.dumps(out, separators=(",", ":")))
print(target.stat().st_size)

"""scikit-learn's searches on its own data sets, for the tests of src/learn/selection: python3 make-search-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")
x = np.round(load_diabetes(scaled=False).data[:60, [0, 2, 3, 4, 6]] * 16) / 16
y = load_diabetes().target[:60]
chosen = np.arange(0, 178, 3)
wine_x, wine_y = np.round(load_wine().data[chosen][:, [0, 1, 6, 9]] * 64) / 64, load_wine().target[chosen]


def table(search, names):
    r = search.cv_results_
    return {
        "names": names,
        "scores": {name: {"mean": r[f"mean_test_{key}"].tolist(), "std": r[f"std_test_{key}"].tolist(), "rank": r[f"rank_test_{key}"].tolist()}
                   for name, key in names.items()},
        "best": int(search.best_index_),
        "predicted": np.asarray(search.predict(search.given), dtype=float).tolist(),
    }


def searched(estimator, grid, data, target, cv, scoring, refit, names):
    search = GridSearchCV(estimator, grid, cv=cv, scoring=scoring, refit=refit).fit(data, target)
    search.given = data
    return table(search, names)


ridge = searched(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.01, 1, 10, 100], "ridge__fit_intercept": [True, False]},
                 x, y, KFold(4), ["r2", "neg_mean_squared_error"], "r2", {"r2": "r2", "negMeanSquaredError": "neg_mean_squared_error"})
lasso = searched(make_pipeline(StandardScaler(), Lasso(tol=1e-10, max_iter=100000)), {"lasso__alpha": [0.1, 1, 5, 20]},
                 x, y, KFold(4), {"score": "r2"}, "score", {"score": "score"})
logistic = searched(make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cg", tol=1e-10, max_iter=1000)), {"logisticregression__C": [0.01, 0.1, 1, 10]},
                    wine_x, wine_y, StratifiedKFold(3), {"accuracy": "accuracy", "negLogLoss": "neg_log_loss"}, "negLogLoss",
                    {"accuracy": "accuracy", "negLogLoss": "negLogLoss"})


class Kept(Ridge):
    """Any regressor will do: only the plan of rounds is looked at."""


halvings = []
for candidates, samples, folds, factor in [(9, 180, 3, 3), (10, 200, 4, 2), (30, 240, 5, 3), (2, 60, 2, 3), (27, 100, 5, 3)]:
    rng = np.random.RandomState(0)
    data = rng.randn(samples, 2)
    search = HalvingGridSearchCV(Kept(), {"alpha": np.arange(1, candidates + 1)}, cv=KFold(folds), factor=factor, random_state=0)
    search.fit(data, data[:, 0])
    halvings.append({"candidates": candidates, "samples": samples, "folds": folds, "factor": factor,
                     "rounds": [{"candidates": int(c), "resources": int(r)} for c, r in zip(search.n_candidates_, search.n_resources_)]})

json.dump({"diabetes": {"x": x.tolist(), "y": y.tolist()}, "wine": {"x": wine_x.tolist(), "y": wine_y.tolist()},
           "ridge": ridge, "lasso": lasso, "logistic": logistic, "halvings": halvings}, open(sys.argv[1], "w"))

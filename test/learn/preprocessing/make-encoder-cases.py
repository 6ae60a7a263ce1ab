"""scikit-learn's results for the tests of encoders, imputers and columns: python3 make-encoder-cases.py OUT.json"""
import json, sys, warnings
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

warnings.simplefilter("ignore")
n = 24
i = np.arange(n)
city = np.array(["Bern", "Genf", "Rom", "Ulm", "Wien"], dtype=object)[(i * i + i // 5) % 5]
size = np.array(["S", "M", "L"], dtype=object)[(i * 7) % 3]
rooms = ((i * 5) % 4 + 1).astype(float)
area = np.round((40 + 13 * np.sin(i) + 5 * rooms) * 8) / 8
price = np.round(area * 3 + rooms * 7 + 10 * np.cos(i))


def listed(a):
    return [[None if isinstance(v, float) and np.isnan(v) else v for v in row] for row in np.asarray(a, dtype=object).tolist()]


def encoder(kind, name, options, model, x, new):
    out = model.fit(x).transform(x)
    names = [str(each).replace("infrequent_sklearn", "infrequent").replace(".0", "") for each in model.get_feature_names_out()]
    return {"kind": kind, "name": name, "options": options, "x": listed(x), "new": listed(new), "names": names,
            "transformed": listed(out), "newTransformed": listed(model.transform(new))}


texts = np.stack([city, size], axis=1)
known = texts[3:9]
other = known.copy()
other[1, 0] = "Oslo"
mixed = np.stack([city, rooms.astype(object)], axis=1)
numbers = np.stack([rooms, (i % 7).astype(float)], axis=1)
gaps = numbers.copy()
gaps[3, 0] = np.nan
one = lambda **options: OneHotEncoder(sparse_output=False, **options)
encoders = [
    encoder("oneHotEncoder", "texts", {}, one(), texts, known),
    encoder("oneHotEncoder", "numbers with a missing one", {}, one(), gaps, gaps[2:6]),
    encoder("oneHotEncoder", "texts and numbers, first dropped", {"drop": "first"}, one(drop="first"), mixed, mixed[4:8]),
    encoder("oneHotEncoder", "dropped where there are two", {"drop": "ifBinary"}, one(drop="if_binary"),
            np.stack([city, (i % 2).astype(object)], axis=1), np.stack([city, (i % 2).astype(object)], axis=1)[:4]),
    encoder("oneHotEncoder", "some dropped by name", {"drop": ["Rom", "M"]}, one(drop=["Rom", "M"]), texts, known),
    encoder("oneHotEncoder", "unknown ones ignored", {"handleUnknown": "ignore"}, one(handle_unknown="ignore"), texts, other),
    encoder("oneHotEncoder", "rare ones together", {"minFrequency": 6, "handleUnknown": "infrequentIfExist"},
            one(min_frequency=6, handle_unknown="infrequent_if_exist"), texts, other),
    encoder("oneHotEncoder", "rare by share, dropped", {"minFrequency": 0.22, "drop": "first"}, one(min_frequency=0.22, drop="first"), texts, known),
    encoder("oneHotEncoder", "three columns at most", {"maxCategories": 3, "handleUnknown": "infrequentIfExist"},
            one(max_categories=3, handle_unknown="infrequent_if_exist"), texts, other),
    encoder("oneHotEncoder", "given categories", {"categories": [["Wien", "Rom", "Oslo", "Bern", "Genf", "Ulm"], ["S", "M", "L"]]},
            one(categories=[["Wien", "Rom", "Oslo", "Bern", "Genf", "Ulm"], ["S", "M", "L"]]), texts, other),
    encoder("ordinalEncoder", "texts", {}, OrdinalEncoder(), texts, known),
    encoder("ordinalEncoder", "in the order that is given", {"categories": [["Ulm", "Wien", "Rom", "Genf", "Bern"], ["S", "M", "L"]]},
            OrdinalEncoder(categories=[["Ulm", "Wien", "Rom", "Genf", "Bern"], ["S", "M", "L"]]), texts, known),
    encoder("ordinalEncoder", "unknown ones", {"handleUnknown": "useEncodedValue", "unknownValue": -7},
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7), texts, other),
    encoder("ordinalEncoder", "missing numbers", {"encodedMissingValue": -1}, OrdinalEncoder(encoded_missing_value=-1), gaps, gaps[2:6]),
]

holes = np.stack([area, rooms, (i % 5).astype(float)], axis=1)
holes[[1, 5, 9], 0] = np.nan
holes[[0, 7], 1] = np.nan
imputed = holes.copy()
imputed[2, 2] = np.nan


def imputer(name, options, model):
    case = encoder("simpleImputer", name, options, model, holes, imputed[:4])
    return case


imputers = [
    imputer("mean", {}, SimpleImputer()),
    imputer("median", {"strategy": "median"}, SimpleImputer(strategy="median")),
    imputer("most frequent", {"strategy": "mostFrequent"}, SimpleImputer(strategy="most_frequent")),
    imputer("constant", {"strategy": "constant", "fillValue": -2.5}, SimpleImputer(strategy="constant", fill_value=-2.5)),
    imputer("with indicator", {"addIndicator": True}, SimpleImputer(add_indicator=True)),
]

# A table with categories and missing values, end to end.
names = ["city", "area", "rooms", "size"]
frame = np.stack([city, area.astype(object), rooms.astype(object), size], axis=1)
frame[[2, 11], 0] = np.nan
frame[[4, 7, 8], 1] = np.nan
columns = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)), [0, 3]),
    (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), [1]),
    remainder="passthrough", verbose_feature_names_out=False)
model = make_pipeline(columns, Ridge(alpha=0.5)).fit(frame, price)
table = {
    "rows": [dict(zip(names, row)) for row in listed(frame)], "price": price.tolist(),
    "names": [str(each) for each in columns.get_feature_names_out(names)],
    "transformed": listed(columns.transform(frame)), "predicted": model.predict(frame).tolist(),
    "scores": cross_val_score(model, frame, price, cv=KFold(3)).tolist(),
}
json.dump({"encoders": encoders + imputers, "table": table}, open(sys.argv[1], "w"))

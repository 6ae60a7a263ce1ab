"""scikit-learn's results for the tests of texts: python3 make-text-cases.py OUT.json HASHED.json"""
import json, sys
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.utils import murmurhash3_32

texts = [
    "The cat sat on the mat; the cat slept.", "A dog and a cat: friends!", "", "Über-große Häuser, 42 rooms & été",
    "dogs chase cats, cats chase mice", "mat mat mat the MAT", "don't_stop   now\tnow", "cat",
]
new = ["the unknown cat chased 42 mice", "zzz", "Mat été"]


def case(kind, name, options, model):
    return {"kind": kind, "name": name, "options": options, "texts": texts, "new": new,
            "transformed": model.fit_transform(texts).toarray().tolist(), "newTransformed": model.transform(new).toarray().tolist(),
            "names": model.get_feature_names_out().tolist()}


C, T = CountVectorizer, TfidfVectorizer
cases = [
    case("countVectorizer", "plain", {}, C()),
    case("countVectorizer", "one and two words, binary", {"ngramRange": [1, 2], "binary": True}, C(ngram_range=(1, 2), binary=True)),
    case("countVectorizer", "frequent ones without stop words", {"minDf": 2, "maxDf": 0.5, "stopWords": ["the", "on"]},
         C(min_df=2, max_df=0.5, stop_words=["the", "on"])),
    case("countVectorizer", "three terms at most", {"maxFeatures": 3}, C(max_features=3)),
    case("countVectorizer", "a vocabulary, capitals kept", {"vocabulary": ["MAT", "mat", "dog", "The"], "lowercase": False},
         C(vocabulary=["MAT", "mat", "dog", "The"], lowercase=False)),
    case("countVectorizer", "characters", {"analyzer": "char", "ngramRange": [2, 2], "minDf": 3}, C(analyzer="char", ngram_range=(2, 2), min_df=3)),
    case("countVectorizer", "characters of words", {"analyzer": "charWithin", "ngramRange": [3, 5], "minDf": 2},
         C(analyzer="char_wb", ngram_range=(3, 5), min_df=2)),
    case("countVectorizer", "own words", {"tokenPattern": "[a-z]"}, C(token_pattern="[a-z]")),
    case("tfidfVectorizer", "plain", {}, T()),
    case("tfidfVectorizer", "sublinear, not smooth, l1", {"sublinearTf": True, "smoothIdf": False, "norm": "l1"},
         T(sublinear_tf=True, smooth_idf=False, norm="l1")),
    case("tfidfVectorizer", "no weights, no norm", {"useIdf": False, "norm": None}, T(use_idf=False, norm=None)),
]


def hashing(name, options, **more):
    model = HashingVectorizer(**more)
    return {"name": name, "options": options, "texts": texts, "transformed": model.transform(texts).toarray().tolist()}


hashes = ["", "a", "ab", "abc", "abcd", "abcde", "été", "日本語", "😀 smile", "the quick brown fox"]
hashed = {
    "hashes": [[text, murmurhash3_32(text, seed=0), murmurhash3_32(text, seed=42)] for text in hashes],
    "cases": [
        hashing("plain", {"nFeatures": 32}, n_features=32),
        hashing("all positive, l1", {"nFeatures": 30, "alternateSign": False, "norm": "l1"}, n_features=30, alternate_sign=False, norm="l1"),
        hashing("binary, no norm, few columns", {"nFeatures": 3, "binary": True, "norm": None}, n_features=3, binary=True, norm=None),
        hashing("characters", {"nFeatures": 17, "analyzer": "charWithin", "ngramRange": [2, 3], "norm": None}, n_features=17, analyzer="char_wb",
                ngram_range=(2, 3), norm=None),
    ],
}
json.dump(cases, open(sys.argv[1], "w"))
json.dump(hashed, open(sys.argv[2], "w"))

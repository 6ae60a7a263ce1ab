/** scikit-learn's trees, which test/learn/trees/make-trees-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

interface BoostingCase {
  readonly kind: "histGradientBoostingRegressor" | "histGradientBoostingClassifier";
  readonly data: string;
  readonly options: Readonly<Record<string, never>>;
  readonly weights: boolean;
  readonly predicted: readonly (readonly number[])[];
  readonly hasTies: boolean;
  readonly leaves: readonly number[];
}

interface TreeCases {
  readonly data: Readonly<
    Record<string, { readonly x: readonly (readonly (number | null)[])[]; readonly y: readonly number[] }>
  >;
  readonly weights: readonly number[];
  readonly boosting: readonly BoostingCase[];
}

let held: TreeCases | null = null;

export function treeCases(): TreeCases {
  held ??= JSON.parse(readFileSync(resolve("test/learn/trees/trees-cases.json"), "utf8")) as TreeCases;
  return held;
}

/** Samples (null is NaN) and targets of a case. */
export function treeData(name: string, isWeighted: boolean) {
  const { data, weights } = treeCases();
  const { x, y } = data[name] as TreeCases["data"][string];
  return {
    x: x.map((row) => row.map((value) => value ?? Number.NaN)),
    y: [...y],
    sampleWeights: isWeighted ? weights.slice(0, y.length) : null,
  };
}

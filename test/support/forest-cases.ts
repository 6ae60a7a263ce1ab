/** scikit-learn's trees and forests, which test/learn/trees/make-forest-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

type Rows = readonly (readonly number[])[];

export interface SingleTree {
  readonly kind: "decisionTreeClassifier" | "decisionTreeRegressor";
  readonly data: string;
  readonly options: Readonly<Record<string, never>>;
  readonly weights: boolean;
  readonly feature: readonly number[];
  readonly threshold: readonly number[];
  readonly left: readonly number[];
  readonly right: readonly number[];
  readonly count: readonly number[];
  readonly impurity: readonly number[];
  readonly value: Rows;
  readonly importances: readonly number[];
}

type ForestKind = "randomForestClassifier" | "extraTreesClassifier" | "randomForestRegressor" | "extraTreesRegressor";

interface ForestCase {
  readonly kind: ForestKind;
  readonly data: string;
  readonly options: Readonly<Record<string, never>>;
  /** Scores of samples that the fit did not see, over 16 seeds. */
  readonly mean: number;
  readonly sd: number;
  /** The same of scikit-learn's `oob_score_`. */
  readonly unseen: readonly [number, number] | null;
}

interface ForestCases {
  readonly data: Readonly<Record<string, { readonly x: Rows; readonly y: readonly number[] }>>;
  readonly targets: Readonly<Record<string, Rows | readonly number[]>>;
  readonly weights: readonly number[];
  readonly trees: readonly SingleTree[];
  readonly digits: { readonly pixels: readonly string[]; readonly labels: readonly number[] };
  readonly forests: readonly ForestCase[];
  readonly isolation: {
    readonly x: Rows;
    readonly maxSamples: number;
    readonly mean: readonly number[];
    readonly sd: readonly number[];
  };
}

let held: ForestCases | null = null;

export function forestCases(): ForestCases {
  held ??= JSON.parse(readFileSync(resolve("test/learn/trees/forest-cases.json"), "utf8")) as ForestCases;
  return held;
}

/** Samples and targets by name. Some targets stand beside the samples of diabetes. */
export function forestData(name: string): { readonly x: number[][]; readonly y: number[] } {
  const { data, targets, digits } = forestCases();
  if (name === "digits") {
    const x = digits.pixels.map((row) => Array.from(row, (letter) => letter.charCodeAt(0) - 97));
    return { x, y: [...digits.labels] };
  }
  const known = (data[name] ?? data.diabetes) as { x: Rows; y: readonly number[] };
  return { x: known.x.map((row) => [...row]), y: [...((targets[name] as readonly number[]) ?? known.y)] };
}

/** scikit-learn's embeddings, which make-t-sne-cases.py writes, and the digits. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { DistanceOptions, TsneOptions } from "../../../src/learn/index.js";

type Matrix = number[][];

interface Quality {
  readonly options: TsneOptions;
  readonly klDivergence: number;
  readonly trustworthiness: number;
}

interface TsneCases {
  readonly x: Matrix;
  readonly places: Matrix;
  readonly perplexity: number;
  /** Probabilities of pairs, [samples, samples]. */
  readonly joint: Matrix;
  readonly klDivergence: number;
  readonly gradient: Matrix;
  readonly start: Matrix;
  readonly afterThirty: Matrix;
  readonly iris: Matrix;
  readonly quality: Readonly<Record<"iris" | "digits", Quality>>;
  readonly trust: readonly {
    readonly options: DistanceOptions & { readonly nNeighbors: number };
    readonly value: number;
  }[];
}

const folder = "test/learn/manifold";

export const casesOf = <C>(name: string): C => JSON.parse(readFileSync(resolve(folder, name), "utf8"));

export const tsneCases = (): TsneCases => casesOf("t-sne-cases.json");

/** The first of the handwritten digits, 64 features each. */
export const digits = (count: number): number[][] =>
  (JSON.parse(readFileSync(resolve("test/learn/neighbors/digits.json"), "utf8")) as string[])
    .slice(0, count)
    .map((image) => Array.from(image, (pixel) => Number.parseInt(pixel, 36)));

/** What they show. */
export const digitLabels = (count: number): number[] =>
  Array.from(casesOf<{ readonly digitLabels: string }>("umap-cases.json").digitLabels.slice(0, count), Number);

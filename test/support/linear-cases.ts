/** scikit-learn's linear models, which test/learn/linear/make-linear-cases.py writes, and the comparison with ours. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { type DType, type Tensor, tensor } from "../../src/index.js";
import { closeTo } from "./learn-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "./tensors.js";

type Matrix = readonly (readonly number[])[];

export interface LinearModelCase {
  readonly name: string;
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly data: string;
  readonly weighted: boolean;
  readonly predicted: readonly number[] | Matrix;
  readonly score: number;
  readonly coefficients?: readonly number[] | Matrix;
  readonly intercept?: number | readonly number[];
  /** What a kind has besides. */
  readonly [more: string]: unknown;
}

interface Cases {
  readonly data: Readonly<Record<string, { readonly x: Matrix; readonly y: readonly number[] }>>;
  readonly cases: readonly LinearModelCase[];
}

const { data, cases }: Cases = JSON.parse(readFileSync(resolve("test/learn/linear/linear-cases.json"), "utf8"));

export const linearData = (name: string): { readonly x: Matrix; readonly y: readonly number[] } => data[name]!;

/** A model as these tests see it. */
export interface AnyModel {
  readonly learned: Readonly<Record<string, Tensor>>;
  readonly [method: string]: unknown;
}

/** A model's method. */
export const called = <R = Tensor>(model: AnyModel, method: string, ...given: unknown[]): R =>
  (model[method] as (...given: unknown[]) => R)(...given);

interface Comparison {
  /** The estimator of a case. */
  make(each: LinearModelCase, dtype: DType): { fit(x: Tensor, y: unknown, options: object): PromiseLike<unknown> };
  readonly areLabels?: boolean;
  /** Shares of the largest coefficient: in f64, and in f32. */
  readonly within: readonly [number, number];
  /** Checks besides coefficients, predictions and scores. */
  more?(model: AnyModel, each: LinearModelCase, x: Tensor, within: number): Promise<void>;
}

/**
 * Every case of the kinds in f64 on the CPU. The first of a kind also in f32 and on the other devices, and the second in f64 there: the
 * programs are the same, and compiling them is what takes long.
 */
export function compareLinear(kinds: readonly string[], { make, areLabels = false, within, more }: Comparison): void {
  describeOnTensorDevices(kinds.join(", "), (device) => {
    for (const kind of kinds) {
      cases
        .filter((each) => each.kind === kind)
        .forEach((each, i) => {
          const isCpu = device === "cpu";
          const dtypes: DType[] = [];
          if (devicesWithDoubles().includes(device) && (isCpu || i === 1)) dtypes.push("f64");
          if (i === 0) dtypes.push("f32");
          for (const dtype of dtypes) {
            test(`${kind}, ${each.name}, ${dtype}: scikit-learn's numbers`, async () => {
              const { x: rows, y } = linearData(each.data);
              const [x, targets] = [
                tensor(rows as number[][], { dtype }),
                areLabels ? y : tensor(y as number[], { dtype }),
              ];
              const weights = each.weighted ? { weights: y.map((_, row) => (row % 4) / 2) } : {};
              const model = (await make(each, dtype).fit(x, targets, weights)) as AnyModel;
              const allowed = within[dtype === "f64" ? 0 : 1];
              if (each.coefficients) {
                await closeTo(model.learned.coefficients!, each.coefficients, allowed, "coefficients");
                // Beside predictions: an intercept of zero has no size.
                const sizes = [each.intercept, each.predicted, each.coefficients].flat(3) as number[];
                const size = Math.max(...sizes.map(Math.abs));
                await closeTo(
                  model.learned.intercept!.div(size),
                  [each.intercept].flat().map((b) => (b as number) / size),
                  allowed * 10,
                  "intercept",
                  1,
                );
              }
              const score = called<Tensor | Promise<number>>(model, "score", x, targets);
              const found = score instanceof Promise ? await score : Number(await score.item());
              assert.ok(Math.abs(found - each.score) <= Math.max(1e-6, allowed), `score ${found}, not ${each.score}`);
              const predicted = called(model, "predict", x);
              if (areLabels) assert.deepEqual(Array.from(await predicted.data()), each.predicted);
              else await closeTo(predicted, each.predicted, allowed, "predictions");
              await more?.(model, each, x, allowed);
            });
          }
        });
    }
  });
}

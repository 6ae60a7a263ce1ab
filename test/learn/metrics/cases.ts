/** scikit-learn's metrics, which make-metrics-cases.py writes, and the comparison with them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Tensor } from "../../../src/index.js";
import { metrics } from "../../../src/learn/index.js";
import { isTensor } from "../../../src/tensor/index.js";

type Value = number | string | null | readonly Value[] | { readonly [name: string]: Value };

export interface MetricCase {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly want: Value;
}

export const readCases = <T>(name: string): T =>
  JSON.parse(readFileSync(resolve(`test/learn/metrics/${name}.json`), "utf8")) as T;

/** Where a case names a set, the set itself; null in it is NaN. */
function givenOf(given: unknown, sets: readonly unknown[]): unknown {
  const isNamed = typeof given === "object" && given !== null && "set" in given;
  return isNamed ? sets[(given as { set: number }).set] : given;
}

/** null stands for NaN, and infinities are texts. */
const numberOf = (value: unknown): number => (value === null ? Number.NaN : Number(value));

export function near(found: unknown, want: Value, within: number, what: string): void {
  if (typeof found === "object" && found !== null && !isTensor(found)) {
    assert.ok(want !== null && typeof want === "object", what);
    for (const [name, value] of Object.entries(want as { readonly [name: string]: Value })) {
      near((found as Record<string, unknown>)[name], value, within, `${what}, ${name}`);
    }
    return;
  }
  const got = Array.from((found as Tensor).cast("f64").dataSync() as Float64Array);
  const wanted = ([want] as unknown[]).flat(4).map(numberOf);
  assert.equal(got.length, wanted.length, `${what}: the number of values`);
  const size = Math.max(1e-3, ...wanted.filter(Number.isFinite).map(Math.abs));
  got.forEach((value, i) => {
    const right = wanted[i] as number;
    const isNear = Object.is(value, right) || value === right || Math.abs(value - right) <= within * size;
    assert.ok(isNear, `${what}: value ${i} is ${value}, not ${right}`);
  });
}

type AnyMetric = (...args: unknown[]) => unknown;

/** A metric of a case. */
export function computed({ name, args, options }: MetricCase, sets: readonly unknown[], more: object): unknown {
  const metric = (metrics as unknown as Record<string, AnyMetric>)[name] as AnyMetric;
  const given = args.map((each) => givenOf(each, sets));
  if (/^pairwise/.test(name) && given.length === 1) given.push(null);
  const settings = Object.entries(options).map(([key, value]) => [key, givenOf(value, sets)]);
  return metric(...given, { ...Object.fromEntries(settings), ...more });
}

export const titleOf = ({ name, options }: MetricCase): string => {
  const said = Object.entries(options).map(([key, value]) => `${key} ${typeof value === "object" ? "given" : value}`);
  return `${name}(${said.join(", ")})`;
};

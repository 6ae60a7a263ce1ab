/**
 * Two problems for optimisers, and the parameters after each of ten steps on them: by an optimiser inside `jit`, and by a plain
 * loop over numbers. The problems are those of make-optimizer-cases.py: a quadratic of a matrix `w` and a vector `b`, and
 * Rosenbrock's function of `x`. They share no parameter, so one program runs both.
 */
import assert from "node:assert/strict";
import { grad, jit, type Tensor, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import type { Optimizer, OptimizerState } from "../../../src/nn/optimizers/index.js";

export interface Params<T> {
  readonly w: T;
  readonly b: T;
  readonly x: T;
}

type Names = keyof Params<unknown>;
const NAMES = ["w", "b", "x"] as const satisfies readonly Names[];

const counting = (count: number, f: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => f(i));

const CURVE = counting(12, (i) => (i + 1) / 4);
const AIM = counting(12, Math.cos);

/** The first values. */
export const START: Params<readonly number[]> = {
  w: counting(12, (i) => i / 6 - 0.8),
  b: [0.5, -1.5, 2],
  x: [-1.2, 1],
};

const SHAPES: Params<readonly number[]> = { w: [3, 4], b: [3], x: [2] };

/** The loss of both problems together. */
export function loss({ w, b, x }: Params<Tensor>): Tensor {
  const options = { dtype: w.dtype, device: w.device } as const;
  const [curve, aim] = [tensor(CURVE, options).reshape(3, 4), tensor(AIM, options).reshape(3, 4)];
  const quadratic = w
    .sub(aim)
    .square()
    .mul(curve)
    .sum()
    .add(
      b
        .add(w.sum({ axis: 1 }))
        .square()
        .sum()
        .mul(0.5),
    );
  const [p, q] = [x.at(0), x.at(1)];
  const valley = p.sub(1).square().add(q.sub(p.square()).square().mul(100));
  return quadratic.add(valley) as Tensor;
}

/** Its gradient, written out. */
export function gradientOf({ w, b, x }: Params<readonly number[]>): Params<number[]> {
  const rows = counting(3, (r) => b[r]! + counting(4, (c) => w[4 * r + c]!).reduce((sum, v) => sum + v));
  const [p, q] = x as [number, number];
  return {
    w: w.map((v, i) => 2 * CURVE[i]! * (v - AIM[i]!) + rows[Math.floor(i / 4)]!),
    b: rows,
    x: [2 * (p - 1) - 400 * p * (q - p * p), 200 * (q - p * p)],
  };
}

export const paramsOn = (device: string, dtype: "f32" | "f64" | "bf16" | "f16"): Params<Tensor> => {
  const made = NAMES.map((name) => [name, tensor(START[name] as number[], { device, dtype }).reshape(SHAPES[name])]);
  return Object.fromEntries(made) as unknown as Params<Tensor>;
};

/** The parameters after each step, by an optimiser in one compiled program whose arguments are given away. */
export async function track(
  optimizer: Optimizer,
  device: string,
  dtype: "f32" | "f64",
  steps = 10,
): Promise<Params<number[]>[]> {
  let params = paramsOn(device, dtype);
  let state = optimizer.init(params);
  const step = jit(
    (p: Params<Tensor>, s: OptimizerState): [Params<Tensor>, OptimizerState] => {
      const [updates, next] = optimizer.update(grad(loss)(p), s, p, { value: loss(p) });
      return [optimizers.applyUpdates(p, updates), next];
    },
    { donate: [0, 1] },
  );
  const found: Params<number[]>[] = [];
  for (let i = 0; i < steps; i++) {
    [params, state] = step(params, state);
    const values = await Promise.all(NAMES.map(async (name) => Array.from(await params[name].data(), Number)));
    found.push({ w: values[0]!, b: values[1]!, x: values[2]! });
  }
  assert.equal(step.programs, 1);
  return found;
}

/** A parameter, its gradient and what is kept for it, by name: one step changes `p` and `kept`. */
export interface PlainLeaf {
  readonly p: number[];
  readonly g: readonly number[];
  readonly name: Names;
  readonly kept: Record<string, number[]>;
}

/** The parameters after each step, by a plain loop. */
export function plainTrack(rule: (leaf: PlainLeaf, count: number) => void, steps = 10): Params<number[]>[] {
  const params = Object.fromEntries(NAMES.map((name) => [name, [...START[name]]])) as unknown as Params<number[]>;
  const kept = Object.fromEntries(NAMES.map((name) => [name, {}])) as Record<Names, Record<string, number[]>>;
  return counting(steps, (i) => i + 1).map((count) => {
    const gradients = gradientOf(params);
    for (const name of NAMES) rule({ p: params[name], g: gradients[name], name, kept: kept[name] }, count);
    return { w: [...params.w], b: [...params.b], x: [...params.x] };
  });
}

/** An array of what is kept, `first` at first. */
export const keptOf = ({ kept, p }: PlainLeaf, name: string, first = 0): number[] => {
  kept[name] ??= p.map(() => first);
  return kept[name];
};

export const norm = (values: readonly number[]): number => Math.hypot(...values);

/** Both tracks agree at every step, to a share of the largest number. */
export function assertTracks(
  found: readonly Partial<Params<number[]>>[],
  wanted: readonly Partial<Params<readonly number[]>>[],
  tolerance: number,
): void {
  assert.equal(found.length, wanted.length);
  wanted.forEach((params, step) => {
    for (const [name, values] of Object.entries(params) as [Names, readonly number[]][]) {
      values.forEach((value, i) => {
        const got = found[step]![name]![i]!;
        const size = Math.max(1, ...values.map(Math.abs));
        if (Math.abs(got - value) <= tolerance * size) return;
        assert.fail(`step ${step + 1}, ${name}[${i}]: ${got}, not ${value}`);
      });
    }
  });
}

/** The devices on which tracks are compared, and the largest difference: f32 everywhere, f64 on the CPU. */
export const places = (device: string): readonly (readonly ["f32" | "f64", number])[] =>
  device === "cpu"
    ? [
        ["f64", 1e-10],
        ["f32", 2e-4],
      ]
    : [["f32", 2e-4]];

/** An optimiser's track on this device is that of a plain loop. */
export async function assertPlain(
  optimizer: Optimizer,
  rule: (leaf: PlainLeaf, count: number) => void,
  device: string,
  steps = 10,
): Promise<void> {
  for (const [dtype, tolerance] of places(device)) {
    assertTracks(await track(optimizer, device, dtype, steps), plainTrack(rule, steps), tolerance);
  }
}

/**
 * Derivatives against difference quotients. A function's Jacobian J is looked at in one random direction on each side,
 * ct·J·v, in three ways: reverse mode (Jᵀct)·v, forward mode ct·(Jv), and (f(x + hv) - f(x - hv))·ct / 2h on the CPU in
 * f64, extrapolated from two steps so that its own error is of the order h⁴. Second derivatives are checked the same way
 * on the gradient of f·ct, by forward and reverse mode over reverse mode.
 */
import assert from "node:assert/strict";
import { jvp, type Tensor, tensor, vjp } from "../../src/index.js";
import { backendOf } from "../../src/tensor/build.js";
import type { Input, InputRule, OperationCase } from "./operation-cases.js";
import { randomFrom } from "./random.js";
import { count, devicesWithDoubles, numbersOf, testDevices } from "./tensors.js";

/** Where derivatives are computed, and how far from the difference quotient they may be. */
export interface Place {
  readonly device: string;
  readonly dtype: "f32" | "f64";
  readonly tolerance: number;
}

/** Every device, in f64 where it has that; in f32, which has too few digits for some cases, those that run everywhere. */
export function placesFor({ isEverywhere }: OperationCase): Place[] {
  const precise = devicesWithDoubles().map((device): Place => ({ device, dtype: "f64", tolerance: 1e-7 }));
  const gpus = testDevices().filter((device) => device !== "cpu");
  return [
    ...precise,
    ...(isEverywhere ? gpus.map((device): Place => ({ device, dtype: "f32", tolerance: 3e-5 })) : []),
  ];
}

type Values = readonly number[];
const STEP = 2 ** -10;

export const dotOf = (a: Values, b: Values): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
/** The same with the sizes of its terms: what rounding errors are measured by. */
const termsOf = (a: Values, b: Values): number => a.reduce((sum, x, i) => sum + Math.abs(x * b[i]!), 0);

/** Random numbers between -1 and 1. */
export function direction(length: number, seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length }, () => random.below(2 ** 20) / 2 ** 19 - 1);
}

const listOf = (result: Tensor | readonly Tensor[]): readonly Tensor[] =>
  Array.isArray(result) ? result : [result as Tensor];

/** The values of several tensors, computed together. */
export function valuesOf(tensors: readonly Tensor[]): number[] {
  if (tensors.length === 0) return [];
  backendOf(tensors[0]!.node).realize(tensors.map(({ node }) => node));
  return tensors.flatMap(numbersOf);
}

/** A case with its inputs: a function of one list of numbers, the float inputs one after another. */
class Problem {
  readonly start: number[];
  private readonly floats: readonly Input[];

  constructor(
    readonly operation: OperationCase,
    readonly inputs: readonly Input[],
  ) {
    this.floats = inputs.filter(({ dtype }) => dtype === "float");
    this.start = this.floats.flatMap(({ values }) => values);
  }

  /** The function of the float inputs alone, on a device. */
  on({ device, dtype }: Pick<Place, "device" | "dtype">): (...x: Tensor[]) => Tensor[] {
    const others = this.inputs.map((input) =>
      input.dtype === "float" ? null : tensor([...input.values], { dtype: input.dtype, shape: input.shape, device }),
    );
    return (...x) => {
      let next = 0;
      const result = this.operation.f(...others.map((other) => other ?? x[next++]!));
      return listOf(result).filter((each) => each.dtype === dtype);
    };
  }

  tensors(values: Values, { device, dtype }: Pick<Place, "device" | "dtype">): Tensor[] {
    let at = 0;
    return this.floats.map(({ shape }) => {
      const length = count(shape);
      at += length;
      return tensor(Float64Array.from(values.slice(at - length, at)), { shape, dtype, device });
    });
  }
}

const exact = { device: "cpu", dtype: "f64" } as const;

/** (F(x + hv) - F(x - hv))·ct / 2h, extrapolated. */
function quotient(F: (x: Values) => Values, x: Values, v: Values, ct: Values): number {
  const moved = (step: number) => F(x.map((value, i) => value + step * v[i]!));
  const central = (h: number) => (dotOf(moved(h), ct) - dotOf(moved(-h), ct)) / (2 * h);
  return (4 * central(STEP / 2) - central(STEP)) / 3;
}

function isNear(got: number, want: number, scale: number, what: string): void {
  const error = Math.abs(got - want);
  assert.ok(error <= scale, `${what} gives ${got}, not ${want}: off by ${error}, allowed ${scale}`);
}

/** Like tensors, with other values. */
function likeOf(tensors: readonly Tensor[], values: Values): Tensor[] {
  let at = 0;
  return tensors.map(({ shape, dtype, device, size }) => {
    at += size;
    return tensor(Float64Array.from(values.slice(at - size, at)), { shape, dtype, device });
  });
}

export function checkGradients(operation: OperationCase, places: readonly Place[], seed = 1): void {
  const inputs = operation.inputs.map((rule: InputRule, i) => rule(seed * 100 + i));
  const problem = new Problem(operation, inputs);
  const f = problem.on(exact);
  const F = (x: Values) => valuesOf(f(...problem.tensors(x, exact)));
  const x = problem.start;
  const v = direction(x.length, seed * 7 + 3);
  const ct = direction(F(x).length, seed * 7 + 4);
  const first = quotient(F, x, v, ct);
  for (const place of places) {
    const where = `${place.device} in ${place.dtype}`;
    const g = problem.on(place);
    const at = problem.tensors(x, place);
    const [result, pullback] = vjp(g, ...at);
    const cotangents = valuesOf(pullback(likeOf(result, ct)));
    const [, moved] = jvp(g, at, likeOf(at, v));
    const tangents = valuesOf(moved);
    const terms = termsOf(cotangents, v) + termsOf(tangents, ct);
    const [reverse, forward] = [dotOf(cotangents, v), dotOf(tangents, ct)];
    const scale = place.tolerance * (1 + Math.abs(first) + terms);
    isNear(reverse, first, scale, `reverse mode on ${where}`);
    isNear(forward, first, scale, `forward mode on ${where}`);
    const rounding = place.dtype === "f64" ? 1e-11 : 1e-5;
    isNear(reverse, forward, rounding * (1 + terms), `reverse mode against forward mode on ${where}`);
  }
  checkSecond(problem, x, v, ct, seed);
}

function checkSecond(problem: Problem, x: Values, v: Values, ct: Values, seed: number): void {
  const f = problem.on(exact);
  const gradient = (...at: Tensor[]): Tensor[] => {
    const [result, pullback] = vjp(f, ...at);
    return pullback(likeOf(result, ct));
  };
  const G = (values: Values) => valuesOf(gradient(...problem.tensors(values, exact)));
  const w = direction(x.length, seed * 7 + 5);
  const second = quotient(G, x, v, w);
  const at = problem.tensors(x, exact);
  const curved = valuesOf(jvp(gradient, at, likeOf(at, v))[1]);
  const scale = 1e-7 * (1 + Math.abs(second) + termsOf(curved, w));
  isNear(dotOf(curved, w), second, scale, "forward over reverse mode");
  const [, pullback] = vjp(gradient, ...at);
  isNear(dotOf(valuesOf(pullback(likeOf(at, w))), v), second, scale, "reverse over reverse mode");
}

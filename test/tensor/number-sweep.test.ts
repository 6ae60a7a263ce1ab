/**
 * Every number among the arguments of every method and function takes one value after another, outside jit. A number that leaves
 * the shape of the results alone must not take a program for each value, or a loop of everyday calls compiles in every round.
 * The exceptions are named: numbers by which kernels are written, as docs/tensors.md says.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as pumice from "../../src/index.js";
import { fft, linalg, PumiceError, random, setDefaultDevice, signal, Tensor } from "../../src/index.js";
import { workOf } from "../support/jit-check.js";
import {
  type Args,
  FUNCTIONS,
  isOptions,
  METHODS,
  OF_METHODS,
  RECEIVERS,
  rightTensor,
} from "../support/right-arguments.js";

before(() => setDefaultDevice("cpu"));

type Call = (args: Args) => unknown;

/** Programs that a number may take: built in, then as data, alone and with others. */
const MOST_PROGRAMS = 6;

/** Numbers by which kernels are written: the extent, the steps and the gaps of windows, rounds that are written out. */
const BY_KERNEL: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    ["windowSum", "windowMean", "windowProduct", "windowMax", "windowMin", "windowScatterMax", "windowScatterMin"].map(
      (name) => [name, /^(0|1)\[[01]\]$|\.(stride|dilation)$/],
    ),
  ),
  conv: /\.(stride|kernelDilation|inputDilation)$/,
  quantizationScale: /\.blockSize$/,
  attention: /\.window$/,
  "linalg.matrixPower": /^1$/,
  "signal.istft": /\.nfft$/,
};

/** Small and large means are drawn in different ways. */
const IN_SEVERAL_WAYS: Readonly<Record<string, number>> = { "random.poisson": 12, "random.binomial": 12 };

const candidates = (value: number): number[] => {
  const steps = Array.from({ length: 8 }, (_, k) => k + 1);
  return [...new Set([value, ...steps.flatMap((k) => [value + k, value * (1 + k / 13), value - k / 13, value - k])])];
};

/** A number among the arguments, and the arguments with another in its place. */
interface Place {
  readonly name: string;
  readonly value: number;
  put(value: number): Args;
}

function placesIn(value: unknown, name: string, put: (value: unknown) => Args): Place[] {
  if (typeof value === "number") return [{ name, value, put }];
  if (typeof value === "string" && /^\d+:/.test(value)) {
    return [{ name, value: Number.parseInt(value, 10), put: (first) => put(value.replace(/^\d+/, `${first}`)) }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((part, i) => placesIn(part, `${name}[${i}]`, (other) => put(value.with(i, other))));
  }
  if (!isOptions(value)) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    placesIn(part, `${name}.${key}`, (other) => put({ ...value, [key]: other })),
  );
}

/** Computes the tensors in a value; its form as text. */
function computed(value: unknown): string {
  if (value instanceof Tensor) {
    value.dataSync();
    return `${value.dtype}[${value.shape}]`;
  }
  if (Array.isArray(value)) return `[${value.map(computed)}]`;
  return isOptions(value) ? `{${Object.values(value).map(computed)}}` : typeof value;
}

/** The programs that one value after another took, by the form of the results. */
function programsByForm(call: Call, { value, put }: Place): Map<string, number> {
  const programs = new Map<string, number>();
  for (const candidate of candidates(value)) {
    const before = workOf("cpu").compiled;
    let form: string;
    try {
      form = computed(call(put(candidate)));
    } catch (error) {
      assert.ok(error instanceof PumiceError, String(error));
      continue;
    }
    programs.set(form, (programs.get(form) ?? 0) + workOf("cpu").compiled - before);
  }
  return programs;
}

function offenders(name: string, right: () => Args, call: Call): string[] {
  const args = right();
  const places = args.flatMap((arg, i) => placesIn(arg, `${i}`, (other) => args.with(i, other)));
  const most = IN_SEVERAL_WAYS[name] ?? MOST_PROGRAMS;
  return places.flatMap((place) => {
    if (BY_KERNEL[name]?.test(place.name)) return [];
    const programs = [...programsByForm(call, place)].filter(([, count]) => count > most);
    return programs.map(([form, count]) => `${name}, ${place.name}: ${count} programs for ${form}`);
  });
}

/** They give promises, or set what holds for all. */
const LEFT_OUT = new Set([
  "data",
  "item",
  "bytes",
  "array",
  "arraySync",
  "itemSync",
  "setDefaultDevice",
  "withDevice",
  "scope",
]);

test("no method compiles for each value of a number that leaves shapes alone", () => {
  const found = Object.entries(METHODS).flatMap(([name, right]) => {
    const receiver = (RECEIVERS[name] ?? rightTensor)().realize() as unknown as Record<
      string,
      (...args: Args) => unknown
    >;
    return LEFT_OUT.has(name) ? [] : offenders(name, right, (args) => receiver[name]!(...args));
  });
  assert.deepEqual(found, []);
});

test("no function does", () => {
  const spaces: Readonly<Record<string, object>> = { "": pumice, random, linalg, fft, signal };
  const found = Object.entries(FUNCTIONS).flatMap(([name, right]) => {
    if (LEFT_OUT.has(name) || name in OF_METHODS) return [];
    const [last, space = ""] = name.split(".").reverse() as [string, string?];
    const f = (spaces[space] as Record<string, (...args: Args) => unknown>)[last]!;
    return offenders(name, right, (args) => f(...args));
  });
  assert.deepEqual(found, []);
});

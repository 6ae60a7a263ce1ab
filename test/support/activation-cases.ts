/**
 * Checks of functions of one number that tests of src/nn/activations share: values and slopes against closed forms in plain
 * JavaScript and their difference quotients, and both against PyTorch's, where a file of them is there.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { grad, stack, type Tensor, tensor } from "../../src/index.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "./tensors.js";

/** An activation, its closed form, and the numbers where it has a corner. */
export interface Curve {
  readonly f: (x: Tensor) => Tensor;
  readonly closed: (x: number) => number;
  /** Slopes at corners, as [x, slope]. */
  readonly corners?: readonly (readonly [number, number])[];
}

const pathOf = (path: string): string => fileURLToPath(new URL(`../../../test/nn/${path}`, import.meta.url));

/** For a test's `skip`: false where the file is there. */
export const withoutTorch = (path: string): string | false =>
  existsSync(pathOf(path)) ? false : `missing: ${path}, which the script beside it makes with PyTorch`;

/** Numbers that a script made with PyTorch, from the file beside the script in test/nn. */
export const torchCases = <T>(path: string): T => JSON.parse(readFileSync(pathOf(path), "utf8")) as T;

const FILE = "activations/activation-cases.json";

interface TorchCase {
  readonly name: string;
  readonly shape: readonly number[];
  readonly x: readonly (number | string)[];
  readonly y: readonly (number | string)[];
  readonly gradient: readonly (number | string)[];
}

interface TorchCases {
  readonly cases: readonly TorchCase[];
  readonly extremes: readonly { readonly name: string; readonly x: readonly string[]; readonly y: readonly string[] }[];
}

const SAMPLES = [-12.3, -7.1, -4.25, -2.9, -1.7, -0.8, -0.31, -0.02, 0.013, 0.27, 0.62, 1.3, 2.2, 3.6, 5.5, 8.4, 15.7];

const closeTo = (got: number, want: number, tolerance: number, what: string) =>
  assert.ok(
    Object.is(got, want) || Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)),
    `${what} is ${got}, not ${want}`,
  );

/** (f(x + h) - f(x - h)) / 2h, extrapolated from two steps. */
export function slopeOf(f: (x: number) => number, x: number): number {
  const central = (h: number) => (f(x + h) - f(x - h)) / (2 * h);
  return (4 * central(2 ** -11) - central(2 ** -10)) / 3;
}

const slopesOf = (f: (x: Tensor) => Tensor, x: Tensor): Tensor => grad((at: Tensor) => f(at).sum())(x);

/** All functions at the same numbers, and their slopes, by one program. */
function table(curves: readonly Curve[], x: Tensor): number[][][] {
  const rows = [curves.map(({ f }) => f(x)), curves.map(({ f }) => slopesOf(f, x))].map((each) => stack(each));
  return rows.map((each) => {
    const values = numbersOf(each);
    return curves.map((_, i) => values.slice(i * x.size, (i + 1) * x.size));
  });
}

export function testCurves(curves: Readonly<Record<string, Curve>>): void {
  const [names, all] = [Object.keys(curves), Object.values(curves)];
  describeOnTensorDevices("values and slopes are those of the closed form", (device) => {
    const dtypes = devicesWithDoubles().includes(device) ? (["f64", "f32"] as const) : (["f32"] as const);
    for (const dtype of dtypes) {
      test(dtype, () => {
        const [values, slopes] = table(all, tensor(SAMPLES, { dtype }));
        // Difference quotients of the closed form have about nine digits themselves.
        const [near, along] = dtype === "f64" ? [1e-12, 2e-9] : [2e-6, 4e-6];
        all.forEach(({ closed }, i) => {
          SAMPLES.forEach((x, j) => {
            closeTo(values![i]![j]!, closed(x), near, `${names[i]}(${x})`);
            closeTo(slopes![i]![j]!, slopeOf(closed, x), along, `the slope of ${names[i]} at ${x}`);
          });
        });
      });
    }
    for (const [dtype, digits] of [
      ["bf16", 8],
      ["f16", 11],
    ] as const) {
      test(`${dtype} is rounded once: the nearest number to the closed form's, and to its slope`, () => {
        const x = tensor(SAMPLES).cast(dtype);
        const rounded = numbersOf(x);
        const [values, slopes] = table(all, x);
        // Half a unit in the last place, and f32's own error.
        const half = (want: number) =>
          0.51 * 2 ** (Math.floor(Math.log2(Math.max(Math.abs(want), 2 ** -14))) + 1 - digits) + 4e-6;
        all.forEach(({ closed }, i) => {
          rounded.forEach((at, j) => {
            const [y, slope] = [closed(at), slopeOf(closed, at)];
            closeTo(values![i]![j]!, y, half(y) / Math.max(1, Math.abs(y)), `${names[i]}(${at})`);
            closeTo(
              slopes![i]![j]!,
              slope,
              half(slope) / Math.max(1, Math.abs(slope)),
              `the slope of ${names[i]} at ${at}`,
            );
          });
        });
      });
    }
    test("at corners the slope is PyTorch's", () => {
      for (const [name, { f, corners = [] }] of Object.entries(curves)) {
        if (corners.length === 0) continue;
        const slopes = numbersOf(slopesOf(f, tensor(corners.map(([x]) => x))));
        corners.forEach(([x, slope], i) => {
          closeTo(slopes[i]!, slope, 1e-6, `the slope of ${name} at ${x}`);
        });
      }
    });
  });
}

/** Compares with PyTorch: values and gradients in f64, and values at extremes in f32. */
export function testAgainstTorch(functions: Readonly<Record<string, (x: Tensor) => Tensor>>): void {
  test("values and gradients are PyTorch's", { skip: withoutTorch(FILE) }, () => {
    const { cases, extremes } = torchCases<TorchCases>(FILE);
    for (const [name, f] of Object.entries(functions)) {
      const found = cases.find((each) => each.name === name);
      assert.ok(found, `PyTorch's ${name} is not in the file`);
      const x = tensor(found.x.map(Number), { shape: found.shape, dtype: "f64", device: "cpu" });
      const y = f(x);
      const weights = tensor(y.size === 1 ? [0.5] : Array.from({ length: y.size }, (_, i) => 0.5 + i / (y.size - 1)), {
        dtype: "f64",
        device: "cpu",
        shape: y.shape,
      });
      const gradient = grad((at: Tensor) => f(at).mul(weights).sum())(x);
      for (const [what, got, want] of [
        ["value", y, found.y],
        ["gradient", gradient, found.gradient],
      ] as const) {
        numbersOf(got).forEach((value, i) => {
          closeTo(value, Number(want[i]), 1e-7, `${what} ${i} of ${name}`);
        });
      }
      const far = extremes.find((each) => each.name === name);
      if (!far) continue;
      const values = numbersOf(f(tensor(far.x.map(Number), { device: "cpu" })));
      values.forEach((value, i) => {
        // PyTorch's gelu of infinity is NaN in vectors, which is no value to compare with.
        if (far.y[i] === "NaN" && far.x[i] === "Infinity") return;
        closeTo(value, Number(far.y[i]), 1e-6, `${name}(${far.x[i]})`);
      });
    }
  });
}

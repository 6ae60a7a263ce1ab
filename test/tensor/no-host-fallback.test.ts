/**
 * An operation runs on the device its tensors live on, or throws. Two counters prove it for Vulkan: the bytes that went
 * between host and device, which are those of the inputs and of the result that is read, and the kernels that the CPU
 * engine has run, which are none. Where a shape depends on values a count is read back; those operations are listed here
 * with the bytes it takes.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  arange,
  cond,
  eye,
  grad,
  jit,
  linalg,
  linspace,
  random,
  scan,
  type Tensor,
  tensor,
  vmap,
  whileLoop,
} from "../../src/index.js";
import { backendFor, setDefaultDevice } from "../../src/tensor/index.js";
import { vulkanEngineOf } from "../support/engines.js";
import { type InputRule, type OperationCase, operationCases } from "../support/operation-cases.js";
import { testDevices } from "../support/tensors.js";

const device = "vulkan";
const skip = testDevices().includes(device) ? false : "missing: a Vulkan device";

interface Moved {
  readonly uploaded: number;
  readonly downloaded: number;
  readonly onCpu: number;
}

function counted(): Moved {
  const engine = vulkanEngineOf(device);
  const { uploadedBytes, downloadedBytes } = engine.stats();
  return { uploaded: uploadedBytes, downloaded: downloadedBytes, onCpu: backendFor("cpu").counters.kernels };
}

/** What work moves between host and device, and what it has the CPU do. */
function movedBy<T>(work: () => T): { readonly result: T; readonly moved: Moved } {
  const before = counted();
  const result = work();
  const after = counted();
  const moved = {
    uploaded: after.uploaded - before.uploaded,
    downloaded: after.downloaded - before.downloaded,
    onCpu: after.onCpu - before.onCpu,
  };
  return { result, moved };
}

const listOf = (result: Tensor | readonly Tensor[]): readonly Tensor[] =>
  Array.isArray(result) ? result : [result as Tensor];

const nothing: Moved = { uploaded: 0, downloaded: 0, onCpu: 0 };

const given = (rules: readonly InputRule[], seed: number): Tensor[] =>
  rules.map((rule, i) => {
    const { shape, values, dtype } = rule(seed + i);
    return tensor([...values], { shape, dtype: dtype === "float" ? "f32" : dtype, device });
  });

/** Computes results, then reads each: what the one and the other moved. */
function check(compute: () => Tensor | readonly Tensor[], allowed: Partial<Moved> = {}): void {
  // Constants that operations keep on the device, such as roots of unity, are uploaded at the first use of a length.
  listOf(compute());
  const { result, moved } = movedBy(() => {
    const results = listOf(compute());
    backendFor(device).realize(results.map(({ node }) => node));
    return results;
  });
  assert.deepEqual(moved, { ...nothing, ...allowed }, "while computing");
  const read = movedBy(() => result.map((each) => each.dataSync().byteLength));
  const bytes = read.result.reduce((sum, length) => sum + length, 0);
  assert.deepEqual(read.moved, { ...nothing, downloaded: bytes }, "while reading the result");
}

const methodOf = (name: string): string => name.split(" ")[0]!;

/** One case of each method, and those meant for every device: compiling takes long on software drivers. */
const cases = operationCases.filter(({ name, isEverywhere, isLooping }, i) => {
  if (isLooping) return false;
  const isFirst = operationCases.findIndex((other) => methodOf(other.name) === methodOf(name)) === i;
  return isEverywhere || isFirst;
});

describe("no operation falls back to the host", { skip }, () => {
  for (const { name, inputs, f } of cases) {
    test(name, () => {
      const x = given(inputs, 1);
      check(() => f(...x));
    });
  }
});

describe("nor does it under jit, when it is traced and when it is replayed", { skip }, () => {
  const checkJit = ({ inputs, f }: OperationCase) => {
    const quick = jit((...x: Tensor[]) => [...listOf(f(...x))]);
    for (const seed of [1, 11]) {
      const x = given(inputs, seed);
      check(() => quick(...x));
    }
  };
  for (const operation of cases) test(operation.name, () => checkJit(operation));
});

describe("nor do what makes values and what transforms functions", { skip }, () => {
  const on = (f: () => Tensor | readonly Tensor[]) => () => {
    setDefaultDevice(device);
    check(f);
  };
  const x = () => tensor([0.5, -1, 2, 3], { device });

  test(
    "counting and constants",
    on(() => [arange(100).mul(2), linspace(0, 1, 9).add(1), eye(3).neg()]),
  );
  for (const name of ["uniform", "normal", "exponential", "gumbel", "bits"] as const) {
    test(`random.${name}`, () => {
      const key = random.key(1, { device });
      const draw = random[name] as (key: random.Key, shape: number[]) => Tensor;
      check(() => draw(key, [5]));
    });
  }
  test("random.split and random.permutation", () => {
    const key = random.key(1, { device });
    // The numbers that keys are told apart by are inputs: a word each, uploaded once and kept.
    random.split(key);
    const draw = (from: random.Key) => random.split(from).map((each) => random.permutation(each, 8));
    // Keys that are made of numbers come as their words, like the first one: two, and two more for each permutation.
    check(() => draw(key), { uploaded: 6 * 8 });
    const ofDevice = random.bits(key, [2]).realize();
    draw(ofDevice);
    check(() => draw(ofDevice));
  });
  test("grad", () => {
    const at = x();
    check(() => grad((y: Tensor) => y.tanh().square().sum())(at));
  });
  test("vmap", () => {
    const at = x();
    check(() => vmap((y: Tensor) => y.mul(3).sin())(at));
  });
  test("scan, as one kernel and by rounds", () => {
    const [at, zero] = [x(), tensor(0, { device })];
    check(() => scan((c: Tensor, y: Tensor) => [c.add(y), c.mul(y)], zero, at).flat() as Tensor[]);
    check(() => scan((c: Tensor, y: Tensor) => [c.softmax().add(y), c.sum()], at, at).flat() as Tensor[]);
  });
  test("cond", () => {
    const at = x();
    check(() =>
      cond(
        at.sum().greater(0),
        (y: Tensor) => y.exp(),
        (y: Tensor) => y.neg(),
        at,
      ),
    );
  });
});

describe("what reads a count back reads no more than that", { skip }, () => {
  const numbers = () => tensor([3, 1, 3, 0, 2, 2], { dtype: "i32", device });
  const reading: Readonly<Record<string, readonly [bytes: number, f: (x: Tensor) => Tensor | readonly Tensor[]]>> = {
    nonzero: [4, (x) => x.nonzero()],
    argwhere: [4, (x) => x.argwhere()],
    unique: [4, (x) => Object.values(x.unique()) as Tensor[]],
    "unique slices": [4, (x) => Object.values(x.reshape(3, 2).unique({ axis: 0, sorted: false })) as Tensor[]],
    uniqueAll: [4, (x) => Object.values(x.uniqueAll()) as Tensor[]],
    union1d: [4, (x) => x.union1d(x)],
    intersect1d: [12, (x) => x.intersect1d(x)],
    "at with a mask": [4, (x) => x.at(x.greater(1))],
    "bincount without a length": [4, (x) => x.bincount()],
    // Whether rounds were wanted is read once for several: here for the first four, then for the next eight. A word for
    // each that could have been sent off together, 64, and one before them.
    whileLoop: [
      2 * 4 * 65,
      (x) =>
        whileLoop(
          (y: Tensor) => y.sum().less(40),
          (y: Tensor) => y.add(1),
          x,
        ),
    ],
    eigvals: [4 * 65, (x) => linalg.eigvals(x.expandDims(1).mul(x).add(x)).real()],
  };
  for (const [name, [downloaded, f]] of Object.entries(reading)) {
    test(`${name}: ${downloaded} bytes`, () => {
      const x = numbers();
      check(() => f(x), { downloaded });
    });
  }
});

test("the counters see a value that goes through the host", { skip }, () => {
  const x = tensor([1, 2, 3], { device });
  assert.throws(() => check(() => tensor(x.dataSync().map((value) => value + 1) as Float32Array, { device })));
  assert.throws(() => check(() => x.to("cpu").add(1).to(device)));
});

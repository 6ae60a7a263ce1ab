/**
 * Every method and every function with wrong arguments: what comes back is a value, or an error of ours that names the
 * operation that was called. The rows of support/right-arguments.ts are right; the sweep spoils them one argument at a time. A
 * method that is missing from the table fails the test.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import * as pumice from "../../src/index.js";
import { fft, linalg, PumiceError, random, setDefaultDevice, signal, Tensor, tensor, zeros } from "../../src/index.js";
import {
  type Args,
  FUNCTIONS,
  isOptions,
  METHODS,
  OF_METHODS,
  RECEIVERS,
  rightTensor,
  UPDATES,
} from "../support/right-arguments.js";
import { operations } from "../support/tensor-members.js";

before(() => setDefaultDevice("cpu"));

type Call = (args: Args) => unknown;

/** What people pass by mistake. */
const WRONG: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  "an object": {},
  "a foreign object": { values: [1, 2], shape: [2], node: {} },
  "a string": "x",
  "a number as a string": "1",
  "a slice that is none": "a:b",
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "a negative number": -7,
  "a fraction": 1.5,
  "a huge number": 2 ** 60,
  "a bigint": 10n ** 30n,
  true: true,
  "an empty list": [],
  "a list of strings": ["a", "b"],
  "a list of nothing": [null],
  "a ragged list": [[1], [2, 3]],
  "a typed array": new Float32Array([1, 2, 3]),
  "a DataView": new DataView(new ArrayBuffer(4)),
  "a date": new Date(0),
  "a function": () => 1,
  "a symbol": Symbol("no"),
};

/** They have no argument to get wrong. */
const WITHOUT_ARGUMENTS = ["T", "mT", "ndim"];

/** Exported, and not about tensors given by users, or tested in test/transforms, test/io and test/tensor/tune.test.ts. */
const ELSEWHERE = new Set([
  ...["version", "newAxis", "defaultDevice", "devices", "profile", "tune", "io", "tree", "Tensor", "random", "linalg"],
  ...["fft", "signal"],
  // It waits for the device (test/linalg/check.test.ts); it calls a function of the user's (iterative.test.ts).
  ...["linalg.check", "linalg.cg", "linalg.gmres"],
  // The same functions as without `linalg.`.
  ...["diagonal", "matmul", "matrixTranspose", "outer", "tensordot", "trace", "vecdot"].map((name) => `linalg.${name}`),
  ...["associativeScan", "cond", "forLoop", "scan", "switchCase", "whileLoop", "checkpoint", "customGradient", "grad"],
  ...["jvp", "linearize", "stopGradient", "valueAndGrad", "vjp", "jit", "hessian", "hvp", "jacobian", "vmap"],
]);

/** The tensors in what came back are computed: an error must come when the operation is called. */
function compute(value: unknown): void {
  if (value instanceof Tensor) {
    if (value.size <= 1000) value.dataSync();
  } else if (Array.isArray(value)) for (const part of value) compute(part);
  else if (isOptions(value)) for (const part of Object.values(value)) compute(part);
}

/** Nothing when the call gives a value or a good error, else what is wrong. */
function complaint(name: string, what: string, call: () => unknown): string | null {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    if (!(error instanceof PumiceError)) return `${what} gave ${error}`;
    const named = new RegExp(`^${name.replace(".", "\\.")}\\b`);
    return named.test(error.message) ? null : `${what} does not name the operation: ${error.message}`;
  }
  if (value instanceof Promise) {
    value.catch(() => {});
    return null;
  }
  try {
    compute(value);
  } catch (error) {
    return `${what} failed when it was computed: ${error}`;
  }
  return null;
}

/** Complaints about every way to spoil the arguments. */
function complaints(name: string, right: () => Args, call: Call): string[] {
  const found: (string | null)[] = [];
  const args = right();
  assert.doesNotThrow(() => call(right()), `the row of ${name} is right`);
  const at = (position: number, value: unknown): Args => right().map((arg, i) => (i === position ? value : arg));
  for (const [what, value] of Object.entries(WRONG)) {
    for (let i = 0; i < Math.max(1, args.length); i++) {
      const spoilt = args.length === 0 ? [value] : at(i, value);
      found.push(complaint(name, `${what} as argument ${i}`, () => call(spoilt)));
    }
    const last = args.at(-1);
    if (!isOptions(last)) continue;
    for (const option of Object.keys(last)) {
      const spoilt = at(args.length - 1, { ...last, [option]: value });
      found.push(complaint(name, `${what} as the option ${option}`, () => call(spoilt)));
    }
  }
  for (let count = 0; count < args.length; count++) {
    found.push(complaint(name, `${count} arguments`, () => call(right().slice(0, count))));
  }
  return found.filter((each) => each !== null);
}

function checkOptionsOf(right: () => Args, call: Call): void {
  const args = right();
  const last = args.at(-1);
  if (!isOptions(last)) return;
  const before = args.slice(0, -1);
  assert.throws(
    () => call([...before, { ...last, nonsense: 1 }]),
    /there is no option "nonsense"; (there are|the only one is) /,
  );
  assert.throws(() => call([...before, Symbol("no")]), /options/);
}

/** They take any number of arguments. */
const ANY_NUMBER = new Set(
  `${UPDATES} at reshape permute transpose tile arange eye tri broadcastTensors broadcastArrays permuteDims resultType einsum`.split(
    " ",
  ),
);

/** One argument more than the row has, which has all of them. */
function checkSurplus(name: string, right: () => Args, call: Call): void {
  if (ANY_NUMBER.has(name)) return;
  const message = new RegExp(
    `^${name.replace(".", "\\.")}: takes (no|one|\\d) arguments?( at most)?, but (also )?got 7; leave`,
  );
  assert.throws(() => call([...right(), 7]), { name: "ArgumentError", message });
  assert.doesNotThrow(() => call([...right(), undefined]), "an argument that is left undefined");
}

describe("wrong arguments of methods", () => {
  const names = operations().filter((name) => !WITHOUT_ARGUMENTS.includes(name));

  test("every method is in the table", () => {
    assert.deepEqual(names.filter((name) => !(name in METHODS)), []); // biome-ignore format: one line
  });

  for (const [name, right] of Object.entries(METHODS)) {
    const call: Call = (args) => {
      const receiver = (RECEIVERS[name] ?? rightTensor)();
      return (receiver as unknown as Record<string, (...args: Args) => unknown>)[name]!(...args);
    };
    test(`${name} gives a value or names itself`, () => assert.deepEqual(complaints(name, right, call), []));
    test(`${name} knows its options`, () => checkOptionsOf(right, call));
    test(`${name} refuses surplus arguments`, () => checkSurplus(name, right, call));
  }
});

describe("receivers that do not fit", () => {
  const receivers: Readonly<Record<string, () => Tensor>> = {
    bool: () => rightTensor().greater(2),
    i32: () => rightTensor().cast("i32"),
    u8: () => rightTensor().cast("u8"),
    c64: () => rightTensor().cast("c64"),
    "a scalar": () => tensor(3),
    "no elements": () => zeros([0, 3]),
    "a vector": () => tensor([1, 2, 3]),
  };
  for (const [name, right] of Object.entries(METHODS)) {
    test(`${name} gives a value or names itself`, () => {
      const found = Object.entries(receivers).map(([what, receiver]) =>
        complaint(name, what, () =>
          (receiver() as unknown as Record<string, (...args: Args) => unknown>)[name]!(...right()),
        ),
      );
      assert.deepEqual(found.filter((each) => each !== null), []); // biome-ignore format: one line
    });
  }
});

describe("wrong arguments of functions", () => {
  const spaces = { "": pumice, "random.": random, "linalg.": linalg, "fft.": fft, "signal.": signal } as const;
  const exported: Record<string, (...args: Args) => unknown> = Object.fromEntries(
    Object.entries(spaces).flatMap(([prefix, space]) =>
      Object.entries(space)
        .filter(([name]) => !name.endsWith("Error") && !ELSEWHERE.has(prefix + name))
        .map(([name, value]) => [prefix + name, value as (...args: Args) => unknown]),
    ),
  );

  test("every function is in the table", () => {
    const all = { ...FUNCTIONS, ...OF_METHODS };
    assert.deepEqual(Object.keys(exported).filter((name) => !(name in all)), []); // biome-ignore format: one line
  });

  for (const [name, right] of Object.entries({ ...FUNCTIONS, ...OF_METHODS })) {
    const call: Call = (args) => exported[name]!(...args);
    test(`${name} gives a value or names itself`, () => assert.deepEqual(complaints(name, right, call), []));
    test(`${name} knows its options`, () => checkOptionsOf(right, call));
    test(`${name} refuses surplus arguments`, () => checkSurplus(name, right, call));
  }

  test("transforms, files and trees refuse surplus arguments too", async () => {
    const others = { "": pumice, "io.": pumice.io, "tree.": pumice.tree };
    const takesAny = "cond switchCase vjp linearize tree.map".split(" ");
    for (const [prefix, space] of Object.entries(others)) {
      for (const [key, value] of Object.entries(space as Record<string, unknown>)) {
        const name = prefix + key;
        if (typeof value !== "function" || /^class/.test(String(value))) continue;
        if (ANY_NUMBER.has(name) || takesAny.includes(name)) continue;
        // The arguments are counted before they are looked at.
        await assert.rejects(async () => value(...new Array(8), 7), {
          message: new RegExp(`^${name}: takes .* got .*7; `),
        });
      }
    }
  });
});

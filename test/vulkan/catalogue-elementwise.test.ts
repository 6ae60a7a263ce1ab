/** The elementwise kernels of the catalogue, every op code at f32 and f64, against arithmetic done without them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsupportedError } from "../../src/core/errors.js";
import { catalogue, type DeviceBuffer, type VulkanDevice } from "../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../support/devices.js";
import {
  asFloats,
  bytesPer,
  type FloatArray,
  type FloatType,
  floats,
  rounded,
  specialFloats,
  ulpsFrom,
} from "../support/floats.js";
import { type Accepted, acceptedResults, binaryOracles, type Oracle, unaryOracles } from "./elementwise-oracles.js";

const TYPES = ["f32", "f64"] as const;
/** Around the 256 threads of a workgroup, and past one row of tiny devices. */
const SIZES = [0, 1, 3, 255, 256, 257, 1000, 65537];
/** Prime, so that the cases meet every thread of a workgroup. */
const CASES = 997;

interface Sweep {
  readonly oracle: Oracle;
  /** Arguments by position, each CASES long. */
  readonly args: readonly FloatArray[];
  readonly accepted: readonly (readonly Accepted[])[];
}

function sweepOf(oracle: Oracle, arity: 1 | 2, type: FloatType): Sweep {
  const specials = specialFloats(type);
  const grid = arity === 1 ? specials.map((x) => [x]) : specials.flatMap((x) => specials.map((y) => [x, y]));
  const draw = oracle.draw(type, 20260701);
  const cases = Array.from({ length: CASES }, (_, i) => (grid[i] ?? draw()).map((x) => rounded(type, x)));
  return {
    oracle,
    args: Array.from({ length: arity }, (_, at) =>
      floats(
        type,
        cases.map((args) => args[at]),
      ),
    ),
    accepted: cases.map((args) => acceptedResults(oracle, type, args)),
  };
}

/** Units of the last place to the nearest result that counts; Infinity when none does. */
function distance(type: FloatType, got: number, accepted: readonly Accepted[], { ulps, anyZero }: Oracle): number {
  const far = accepted.map(({ value, isFlushed }) => {
    const nearest = rounded(type, value.high);
    if (Object.is(got, nearest)) return ulps === 0 ? 0 : ulpsFrom(type, got, value);
    if (got === 0 && nearest === 0) return anyZero || isFlushed ? 0 : Infinity;
    return ulps === 0 ? Infinity : ulpsFrom(type, got, value);
  });
  return Math.min(...far);
}

function assertResults(type: FloatType, got: FloatArray, { oracle, args, accepted }: Sweep): void {
  for (let i = 0; i < got.length; i++) {
    const at = i % CASES;
    const off = distance(type, got[i], accepted[at], oracle);
    if (off <= oracle.ulps) continue;
    const called = `${oracle.name}(${args.map((arg) => arg[at]).join(", ")})`;
    const wanted = accepted[at].map(({ value }) => rounded(type, value.high)).join(" or ");
    assert.fail(`element ${i}: ${type} ${called} is ${got[i]}, not ${wanted}: ${off} units of the last place off`);
  }
}

/** n elements that repeat the cases. */
const repeated = (type: FloatType, cases: FloatArray, n: number): FloatArray =>
  floats(
    type,
    Array.from({ length: n }, (_, i) => cases[i % CASES]),
  );

const hasType = (device: VulkanDevice, type: FloatType): boolean =>
  type === "f32" || device.plan.features.includes("shaderFloat64");

describeOnOpenDevices("elementwise kernels", false, (device) => {
  const run = (out: DeviceBuffer, inputs: readonly DeviceBuffer[], n: number, op: number, type: FloatType) => {
    const [a, b] = inputs as [DeviceBuffer, DeviceBuffer];
    if (inputs.length === 2) catalogue.applyBinary(out, a, b, n, op, { type });
    else catalogue.applyUnary(out, a, n, op, { type });
  };

  for (const [arity, oracles] of [
    [2, binaryOracles],
    [1, unaryOracles],
  ] as const) {
    for (const type of TYPES) {
      oracles.forEach((oracle, op) => {
        const claim = oracle.ulps === 0 ? "is correctly rounded" : `is within ${oracle.ulps} ulp`;
        test(`${oracle.name} (${arity === 1 ? "unary" : "binary"} op ${op}) ${claim} at ${type}, for any number of elements`, () => {
          if (!hasType(device(), type)) {
            const [x, y] = [device().alloc(8), device().alloc(8)];
            assert.throws(() => run(y, arity === 1 ? [x] : [x, x], 1, op, type), UnsupportedError);
            return;
          }
          const sweep = sweepOf(oracle, arity, type);
          for (const n of SIZES) {
            using out = device().alloc(n * bytesPer(type));
            const inputs = sweep.args.map((cases) => device().upload(repeated(type, cases, n)));
            run(out, inputs, n, op, type);
            assertResults(type, asFloats(type, out.readSync()), sweep);
            for (const input of inputs) input.dispose();
          }
        });
      });
    }
  }

  const apply = (type: FloatType, oracles: readonly Oracle[], name: string, ...args: number[]): number => {
    const op = oracles.findIndex((oracle) => oracle.name === name);
    using out = device().alloc(bytesPer(type));
    const inputs = args.map((arg) => device().upload(floats(type, [arg])));
    run(out, inputs, 1, op, type);
    for (const input of inputs) input.dispose();
    return asFloats(type, out.readSync())[0];
  };
  const unary = (name: string, x: number, want: number) =>
    [unaryOracles, name, [x], want, `${name}(${show(x)}) is ${show(want)}`] as const;
  const binary = (name: string, x: number, y: number, want: number) =>
    [binaryOracles, name, [x, y], want, `${name}(${show(x)}, ${show(y)}) is ${show(want)}`] as const;
  const show = (x: number) => (Object.is(x, -0) ? "-0" : String(x));

  // The sweep covers these too; they are the ones a reader looks for.
  const claims = [
    binary("pow", 0, 0, 1),
    binary("pow", -2, 3, -8),
    binary("pow", -2, 0.5, NaN),
    binary("pow", 1, NaN, 1),
    binary("pow", NaN, 0, 1),
    binary("pow", -1, Infinity, 1),
    binary("pow", 0, -1, Infinity),
    binary("pow", -0, -1, -Infinity),
    binary("pow", -0, 3, -0),
    binary("pow", -Infinity, 3, -Infinity),
    binary("pow", 0.5, -Infinity, Infinity),
    binary("max", NaN, 1, NaN),
    binary("max", 1, NaN, NaN),
    binary("min", NaN, 1, NaN),
    binary("min", 1, NaN, NaN),
    binary("max", -Infinity, -1, -1),
    binary("div", 1, 0, Infinity),
    binary("div", 1, -0, -Infinity),
    binary("div", 0, 0, NaN),
    binary("div", Infinity, Infinity, NaN),
    binary("add", Infinity, -Infinity, NaN),
    binary("add", -0, -0, -0),
    binary("mul", 0, Infinity, NaN),
    binary("sub", 0, 0, 0),
    unary("exp", -Infinity, 0),
    unary("exp", Infinity, Infinity),
    unary("log", 0, -Infinity),
    unary("log", -0, -Infinity),
    unary("log", -1, NaN),
    unary("log", 1, 0),
    unary("log", Infinity, Infinity),
    unary("sqrt", -0, -0),
    unary("sqrt", -1, NaN),
    unary("abs", -0, 0),
    unary("neg", 0, -0),
    unary("sigmoid", -Infinity, 0),
    unary("sigmoid", Infinity, 1),
    unary("sigmoid", 0, 0.5),
    unary("tanh", -0, -0),
    unary("tanh", -Infinity, -1),
    unary("relu", NaN, NaN),
    unary("relu", -Infinity, 0),
    unary("ceil", -0.5, -0),
    unary("floor", -0.5, -1),
    unary("sign", 0, 0),
    unary("sign", -0, -0),
    unary("sign", -Infinity, -1),
    unary("sign", NaN, NaN),
    unary("reciprocal", -0, -Infinity),
    unary("reciprocal", -Infinity, -0),
  ];
  for (const [oracles, name, args, want, claim] of claims) {
    test(`${claim}, at f32 and f64`, () => {
      for (const type of TYPES) {
        if (hasType(device(), type)) assert.equal(show(apply(type, oracles, name, ...args)), show(want), type);
      }
    });
  }

  test("only the first n elements are written when the buffers hold more", () => {
    const [a, b] = [floats("f32", 1000).fill(3), floats("f32", 1000).fill(4)];
    using x = device().upload(a);
    using y = device().upload(b);
    using sum = device().upload(a.slice().fill(-1));
    catalogue.applyBinary(sum, x, y, 300, 0);
    assert.deepEqual(
      asFloats("f32", sum.readSync()),
      floats(
        "f32",
        Array.from(a, (_, i) => (i < 300 ? 7 : -1)),
      ),
    );
    using root = device().upload(a.slice().fill(-1));
    catalogue.applyUnary(root, y, 257, 2);
    assert.deepEqual(
      asFloats("f32", root.readSync()),
      floats(
        "f32",
        Array.from(a, (_, i) => (i < 257 ? 2 : -1)),
      ),
    );
  });

  test("the result may replace an operand, and both operands may be one buffer", () => {
    const values = floats(
      "f32",
      Array.from({ length: 1001 }, (_, i) => i),
    );
    using x = device().upload(values);
    catalogue.applyBinary(x, x, x, 1001, 0); // 2 i
    using y = device().upload(values);
    catalogue.applyBinary(y, x, y, 1001, 2); // 2 i - i
    catalogue.applyUnary(y, y, 1001, 12); // i²
    assert.deepEqual(
      asFloats("f32", y.readSync()),
      values.map((i) => i * i),
    );
  });

  test("results follow one another through a chain of kernels without waiting in between", () => {
    using x = device().upload(floats("f32", 513).fill(1));
    using y = device().alloc(4 * 513);
    for (let i = 0; i < 50; i++) {
      catalogue.applyBinary(y, x, x, 513, 0);
      catalogue.applyUnary(x, y, 513, 4);
    }
    // Fifty doublings and sign changes.
    assert.deepEqual(asFloats("f32", x.readSync()), floats("f32", 513).fill(2 ** 50));
  });

  test("more elements than one row of workgroups holds are all computed", (t) => {
    const [widest] = device().plan.limits.maxComputeWorkGroupCount;
    const n = widest * 256 + 1000;
    if (n > 2 ** 25) {
      t.skip(`one row of workgroups of ${device().name} holds more than the test's memory`);
      return;
    }
    using x = device().upload(new Float32Array(n).map((_, i) => i % 4093));
    catalogue.applyUnary(x, x, n, 12);
    const got = asFloats("f32", x.readSync());
    assert.equal(
      got.findIndex((value, i) => value !== (i % 4093) ** 2),
      -1,
    );
  });
});

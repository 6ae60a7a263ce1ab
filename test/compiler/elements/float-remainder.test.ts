/** The remainder of floats is exact: JavaScript's %, which is C's fmod. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementOps } from "../../../src/compiler/elements/elements.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { runKernel } from "../../support/kernels.js";
import { randomFrom } from "../../support/random.js";

function remainders<A extends Float32Array | Float64Array>(a: A, b: A): A {
  const dtype = a instanceof Float32Array ? "f32" : "f64";
  const k = new KernelBuilder("rem", a.length);
  const sources = [k.buffer(dtype, false), k.buffer(dtype, false)];
  const [x, y] = sources.map((source) => ({ dtype, value: k.load(source, k.row, dtype) }) as const);
  const target = k.buffer(dtype, true);
  k.store(target, k.row, elementOps(k, { division: "native" }).rem(x!, y!).value);
  return runKernel("cpu", k.finish(), [a, b, a.slice()] as never)[2] as unknown as A;
}

const SPECIAL = [0, -0, 1, -1, 0.1, 3, 1e30, 1e-30, 2 ** 24 + 1, 1.4e-45, Infinity, -Infinity, Number.NaN];

for (const Floats of [Float32Array, Float64Array]) {
  test(`${Floats.name}: special values, denormals and quotients of any size`, () => {
    const random = randomFrom(1);
    const any = () => (random.below(2) ? 1 : -1) * (1 + random.below(2 ** 30)) * 2 ** (random.below(200) - 130);
    const pairs = [
      ...SPECIAL.flatMap((x) => SPECIAL.map((y) => [x, y] as const)),
      ...Array.from({ length: 2000 }, () => [any(), any()] as const),
    ];
    const a = Floats.from(pairs.map(([x]) => x));
    const b = Floats.from(pairs.map(([, y]) => y));
    const got = remainders(a as Float64Array, b as Float64Array);
    pairs.forEach((_, i) => {
      // The exact remainder of two floats is a float of the same format, so rounding changes nothing.
      assert.ok(Object.is(got[i], a[i]! % b[i]!), `${a[i]} % ${b[i]} is ${a[i]! % b[i]!}, not ${got[i]}`);
    });
  });
}

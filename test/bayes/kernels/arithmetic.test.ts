import assert from "node:assert/strict";
import { test } from "node:test";
import { arithmeticOf } from "../../../src/bayes/kernels/arithmetic.js";
import { columnPlace } from "../../../src/compiler/inline/place.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import type { DeviceStorage } from "../../../src/runtime/backend.js";
import { backendFor } from "../../../src/tensor/index.js";

test("normal numbers are those of Box and Muller, a quarter of the circle for two bits and an angle for the rest", async () => {
  const words = [0, 1, 2 ** 29, 2 ** 30 - 1, 2 ** 30, 2 ** 31 + 5, 3 * 2 ** 30 + 12345, 2 ** 32 - 1];
  const [radii, angles] = [words.flatMap((a) => words.map(() => a)), words.flatMap(() => words)];
  const rows = radii.length;
  const backend = backendFor("cpu");
  for (const [type, tolerance] of [
    ["f32", 4e-7],
    ["f64", 1e-15],
  ] as const) {
    const compiled = backend.handWritten(`normals ${type}`, ({ settings }) => {
      const k = new KernelBuilder("normals", rows, 1);
      const ops = arithmeticOf(k, settings);
      const [from, to] = [k.buffer("u32", false), k.buffer(type, true)];
      const word = (n: number) => k.load(from, k.binary("add", k.row, k.constant("i32", n * rows)), "u32");
      ops.normals(type, [word(0), word(1)]).forEach((z, n) => {
        columnPlace(k, to, type, ops.i(n)).store(ops.i(0), z);
      });
      return { kernel: k.finish() };
    });
    const input = backend.upload(new Uint8Array(Uint32Array.of(...radii, ...angles).buffer));
    const output = backend.reserve(2 * rows * (type === "f64" ? 8 : 4)) as DeviceStorage;
    compiled.run([input, output]);
    const bytes = await backend.read(output);
    const found = type === "f64" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
    const round = type === "f32" ? Math.fround : (x: number) => x;
    radii.forEach((a, row) => {
      const b = angles[row]!;
      const radius = Math.sqrt(-2 * Math.log(round(round(a + 0.5) / 2 ** 32)));
      const angle = (((b % 2 ** 30) + 0.5) / 2 ** 30 - 0.5) * (Math.PI / 2);
      const sign = b >= 2 ** 31 ? -1 : 1;
      const isTurned = Math.floor(b / 2 ** 30) % 2 === 1;
      const [x, y] = [sign * radius * Math.cos(angle), sign * radius * Math.sin(angle)];
      for (const [n, wanted] of (isTurned ? [y, x] : [x, y]).entries()) {
        const got = found[n * rows + row]!;
        assert.ok(Math.abs(got - wanted) <= tolerance * radius, `${type} ${a} ${b}: ${got}, not ${wanted}`);
      }
    });
  }
});

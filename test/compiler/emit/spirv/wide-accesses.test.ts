/** Loads and stores of neighbours become vectors, where their alignment is known, and only there. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/spirv/index.js";
import { runKernel } from "../../../support/kernels.js";
import { assertValid, without } from "../../../support/spirv-val.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

interface Layout {
  /** Elements from a row to the next, and where the first begins. */
  readonly pitch: number;
  readonly start?: number;
  readonly count?: number;
  readonly dtype?: "f32" | "f64" | "f16";
  /** Rows from here on are neither loaded nor stored. */
  readonly end?: number;
  /** Bytes of the vectors that are counted, where they are fewer than most. */
  readonly bytes?: number;
}

/** out[row·pitch + start + c] = in[the same] + c, for c below count. */
function kernelOf({ pitch, start = 0, count = 4, dtype = "f32", end }: Layout, rows = 8) {
  const k = new KernelBuilder("neighbours", rows);
  const type = dtype === "f64" ? "f64" : "f32";
  const [source, target] = [k.buffer(dtype, false), k.buffer(dtype, true)];
  const i = (value: number) => k.constant("i32", value);
  const first = k.binary("add", k.binary("mul", k.row, i(pitch)), i(start));
  const gate = end === undefined ? null : k.compare("lt", k.row, i(end));
  const places = Array.from({ length: count }, (_, c) => k.binary("add", first, i(c)));
  const safe = (at: Value) => (gate ? k.select(gate, at, i(0)) : at);
  const values = places.map((at, c) => k.binary("add", k.load(source, safe(at), type), k.constant(type, c)));
  places.forEach((at, c) => {
    k.store(target, at, values[c]!, false, gate);
  });
  return k.finish();
}

/** How often the kernel loads and stores vectors. */
function vectorsIn(layout: Layout): [loads: number, stores: number] {
  const text = disassemble(emitSpirv(kernelOf(layout)));
  const bytes = layout.bytes ?? (layout.dtype === "f16" ? 8 : 16);
  const count = (op: string) => text.match(new RegExp(`${op}.* Aligned ${bytes}$`, "gm"))?.length ?? 0;
  return [count("OpLoad %v\\d"), count("OpStore")];
}

const cases: readonly [string, Layout, [number, number]][] = [
  ["four neighbours at a multiple of four", { pitch: 4 }, [1, 1]],
  ["eight neighbours", { pitch: 8, count: 8 }, [2, 2]],
  ["rows that are four neighbours and more apart", { pitch: 12, start: 8 }, [1, 1]],
  ["rows that begin anywhere", { pitch: 5 }, [0, 0]],
  ["neighbours that begin in between", { pitch: 8, start: 2 }, [0, 0]],
  ["three neighbours", { pitch: 4, count: 3 }, [0, 0]],
  ["neighbours behind a gate", { pitch: 4, end: 6 }, [1, 1]],
  ["pairs of f64", { pitch: 2, count: 2, dtype: "f64" }, [1, 1]],
  ["f64 at odd places", { pitch: 2, count: 2, start: 1, dtype: "f64" }, [0, 0]],
  ["f16", { pitch: 4, dtype: "f16" }, [1, 1]],
  ["pairs of words, as parts of complex numbers are", { pitch: 2, count: 2, bytes: 8 }, [1, 1]],
  ["neighbours from an even place on, in pairs", { pitch: 8, start: 2, bytes: 8 }, [2, 2]],
  ["six neighbours, four and two", { pitch: 8, count: 6, bytes: 8 }, [1, 1]],
  ["pairs behind a gate", { pitch: 2, count: 2, end: 6, bytes: 8 }, [1, 1]],
  ["words at odd places", { pitch: 2, count: 2, start: 1, bytes: 8 }, [0, 0]],
];

describe("wide accesses", () => {
  for (const [name, layout, expected] of cases) {
    test(`${name}: ${expected[0]} loads of vectors`, { skip: without("spirv-val") }, () => {
      assertValid(emitSpirv(kernelOf(layout)));
      assert.deepEqual(vectorsIn(layout), expected);
    });
  }
});

describeOnTensorDevices("wide accesses", (device) => {
  for (const [name, layout] of cases) {
    if (layout.dtype === "f16") continue;
    test(`${name} are what they are one by one`, () => {
      const { pitch, start = 0, count = 4, end = 8 } = layout;
      const Type = layout.dtype === "f64" ? Float64Array : Float32Array;
      const source = new Type(Array.from({ length: 8 * pitch + 16 }, (_, i) => 10 * i));
      const [, result] = runKernel(device, kernelOf(layout), [source, new Type(source.length)]);
      const expected = new Type(source.length);
      for (let row = 0; row < end; row++) {
        for (let c = 0; c < count; c++) expected[row * pitch + start + c] = 10 * (row * pitch + start + c) + c;
      }
      assert.deepEqual(result, expected);
    });
  }
});

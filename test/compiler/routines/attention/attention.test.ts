/**
 * The kernels of attention in every form of tiles: on the devices there are, against plain loops, and by the interpreter, which
 * finds missing barriers and indices outside memory.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attentionKernel } from "../../../../src/compiler/routines/attention/attention.js";
import { ATTENTION_TILES, planAttention } from "../../../../src/compiler/routines/attention/plan.js";
import { type AttentionProblem, problemOf } from "../../../../src/compiler/routines/attention/problem.js";
import { cpuProfile, gpuProfile } from "../../../../src/compiler/target/profile.js";
import type { AttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { dataOf, elementAt, encodeValues } from "../../../../src/core/storage.js";
import type { Node } from "../../../../src/graph/node.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { type AttentionShapes, bools, caseOf, expectAttention, sample } from "../../../support/attention-cases.js";
import { attentionGradients, attentionOf } from "../../../support/attention-oracle.js";
import { tensorOn, withTiles } from "../../../support/forced-tiles.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { type Plain, testDevices } from "../../../support/tensors.js";

const vectors: AttentionTile = { kind: "vectors" };
/** The forms that a device can run. */
const formsOf = (device: string): readonly AttentionTile[] => (device === "cpu" ? [vectors] : ATTENTION_TILES);

const textOf = (tile: AttentionTile) =>
  tile.kind === "vectors" ? "vectors" : `${tile.rows}×${tile.columns} on ${tile.lanes.join("×")} lanes`;

for (const device of testDevices()) {
  for (const [at, tile] of formsOf(device).entries()) {
    describe(`attention in tiles, ${textOf(tile)}, ${device}`, () => {
      const backend = withTiles(device, { attention: tile });
      const make = (plain: Plain, dtype: Parameters<typeof tensorOn>[2]) => tensorOn(backend, plain, dtype);
      const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [37, 41], widths: [12, 20] };

      test("extents that nothing divides, with shared key heads", () => {
        expectAttention(shapes, {}, "f32", make);
        expectAttention({ ...shapes, tokens: [3, 70], widths: [5, 3] }, { causal: true }, "f32", make);
        expectAttention({ batch: 2, heads: [1, 1], tokens: [66, 35], widths: [9, 16] }, { causal: true }, "f32", make);
      });

      test("windows, lengths, masks and biases", () => {
        const options = {
          mask: bools([1, 1, 37, 41], 3),
          bias: sample([1, 2, 1, 41], 4),
          lengths: [33],
        };
        expectAttention(shapes, { window: [9, 2] }, "f32", make);
        expectAttention(shapes, options, "f32", make);
        expectAttention({ ...shapes, batch: 2 }, { lengths: [0, 20], causal: true }, "f32", make);
      });

      // Every dtype goes through the same kernels: one form shows it.
      if (at === formsOf(device).length >> 1) {
        test("every float dtype", () => {
          for (const dtype of ["f16", "bf16", ...(backendFor(device).hasDoubles ? (["f64"] as const) : [])] as const) {
            expectAttention(shapes, { causal: true }, dtype, make);
          }
        });
      }
    });
  }
}

/** The node of an attention of these shapes, without a device. */
function problem(shapes: AttentionShapes, choices: Parameters<typeof caseOf>[1]): AttentionProblem {
  const { before = Infinity, behind = Infinity, scale, bias, mask, lengths, q, k, v } = caseOf(shapes, choices, 1);
  const node = (plain: Plain, dtype: string) => ({ shape: plain.shape, dtype });
  const optional = [
    bias && node(bias, "f32"),
    mask && node(mask, "bool"),
    lengths && { shape: [shapes.batch], dtype: "i32" },
  ];
  return problemOf({
    inputs: [...[q, k, v].map((each) => node(each, "f32")), ...optional.filter(Boolean)],
    params: {
      ...{ scale: scale ?? 1 / Math.sqrt(shapes.widths[0]), left: before, right: behind },
      ...{ hasBias: !!bias, hasMask: !!mask, hasLength: !!lengths },
    },
  } as unknown as Node);
}

/** Runs a kernel on numbers of f32, and a boolean or integer buffer where one is declared; returns what it wrote. */
function interpreted(
  kernel: ReturnType<typeof attentionKernel>,
  inputs: readonly (readonly number[])[],
  sizes: readonly number[],
) {
  const memory = kernel.buffers.map(({ dtype, isWritten }, i) =>
    isWritten ? new Uint8Array(4 * sizes[i - inputs.length]!) : encodeValues(inputs[i]!, dtype, "test"),
  );
  interpretKernel(kernel, memory);
  return memory.slice(inputs.length).map((bytes) => {
    const data = dataOf(bytes, "f32");
    return Array.from({ length: bytes.length / 4 }, (_, i) => Number(elementAt(data, "f32", i)));
  });
}

function expectAll(got: readonly number[], want: Plain, what: string): void {
  got.forEach((x, i) => {
    assert.ok(
      Math.abs(x - want.values[i]!) <= 1e-5 * (1 + Math.abs(want.values[i]!)),
      `${what} ${i}: ${x}, ${want.values[i]}`,
    );
  });
}

describe("attention in tiles, interpreted", () => {
  const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [19, 21], widths: [6, 8] };
  const choices = { causal: true, bias: sample([1, 1, 19, 21], 4) };

  for (const tile of ATTENTION_TILES.slice(1)) {
    test(`no race and no index outside memory, ${textOf(tile)}`, () => {
      const own = problem(shapes, choices);
      const given = caseOf(shapes, choices, 1);
      const inputs = [given.q, given.k, given.v, choices.bias].map(({ values }) => values);
      const settings = { division: "native" } as const;
      const rows = 2 * 19;
      const [out, logs] = interpreted(attentionKernel(own, "forward", tile, settings), inputs, [rows * 8, rows]);
      const want = attentionOf(given);
      expectAll(out!, want, "output");
      const ct = sample(want.shape, 5, 1);
      const delta = logs!.map((_, row) =>
        ct.values.slice(row * 8, row * 8 + 8).reduce((sum, x, c) => sum + x * want.values[row * 8 + c]!, 0),
      );
      const [ofQ, ofK, ofV] = attentionGradients(given, ct);
      const rest = [...inputs, ct.values, logs!, delta];
      const [q] = interpreted(attentionKernel(own, "queries", tile, settings), rest, [rows * 6]);
      expectAll(q!, ofQ!, "gradient of q");
      const sizes = [21 * 6, 21 * 8];
      const [k, v] = interpreted(attentionKernel(own, "keys", tile, settings), rest, sizes);
      expectAll(k!, ofK!, "gradient of k");
      expectAll(v!, ofV!, "gradient of v");
    });
  }
});

describe("plans of attention", () => {
  const sized = (tokens: number, width: number): AttentionProblem =>
    problem({ batch: 0, heads: [1, 1], tokens: [tokens, tokens], widths: [width, width] }, {});
  const passes = ["forward", "queries", "keys"] as const;
  const large = { ...gpuProfile.tiles, sharedBytes: 49152, maxLanes: 1024 };

  test("a GPU of 48 KiB has tiles for rows of up to 256 numbers, within its memory", () => {
    for (const width of [1, 16, 40, 64, 80, 128, 160, 256]) {
      for (const pass of passes) {
        const tile = planAttention(sized(1024, width), large, pass);
        assert.ok(tile?.kind === "shared", `${width} ${pass}`);
        const kernel = attentionKernel({ ...sized(64, width), batch: 1 }, pass, tile, { division: "native" });
        const bytes = kernel.arrays.reduce((sum, { size }) => sum + 4 * size, 0);
        assert.ok(bytes <= 49152, `${width} ${pass}: ${bytes} bytes`);
        assert.ok(kernel.lanes <= 1024);
      }
    }
    assert.deepEqual(planAttention(sized(1024, 64), large, "forward"), ATTENTION_TILES[0]);
  });

  test("16 KiB of shared memory are enough for rows of 64; what fits nowhere is computed by its definition", () => {
    for (const pass of passes) assert.ok(planAttention(sized(1024, 64), gpuProfile.tiles, pass), pass);
    assert.equal(planAttention(sized(1024, 4096), gpuProfile.tiles, "forward"), null);
  });

  test("a CPU has one form", () => {
    assert.deepEqual(planAttention(sized(1024, 64), cpuProfile.tiles, "forward"), vectors);
  });
});

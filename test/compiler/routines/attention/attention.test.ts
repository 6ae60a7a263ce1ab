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
import type { AttentionTile, MatrixAttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { DTYPES, type DType } from "../../../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../../../src/core/storage.js";
import type { Node } from "../../../../src/graph/node.js";
import { attention, explain, type Tensor } from "../../../../src/index.js";
import { backendFor } from "../../../../src/tensor/index.js";
import {
  type AttentionChoices,
  type AttentionShapes,
  bools,
  caseOf,
  expectAttention,
  sample,
} from "../../../support/attention-cases.js";
import {
  type AttentionCase,
  attentionGradients,
  attentionLogs,
  attentionOf,
} from "../../../support/attention-oracle.js";
import { tensorOn, withTiles } from "../../../support/forced-tiles.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { type Plain, plainOf, testDevices } from "../../../support/tensors.js";

const vectors: AttentionTile = { kind: "vectors" };
/** The forms that a device can run. */
const formsOf = (device: string): readonly AttentionTile[] => (device === "cpu" ? [vectors] : ATTENTION_TILES);

const textOf = (tile: AttentionTile) =>
  tile.kind === "shared" ? `${tile.rows}×${tile.columns} on ${tile.lanes.join("×")} lanes` : tile.kind;

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
function problem(shapes: AttentionShapes, choices: AttentionChoices, dtype: DType = "f32"): AttentionProblem {
  const { before = Infinity, behind = Infinity, scale, bias, mask, lengths, q, k, v } = caseOf(shapes, choices, 1);
  const node = (plain: Plain, dtype: string) => ({ shape: plain.shape, dtype });
  const optional = [
    bias && node(bias, "f32"),
    mask && node(mask, "bool"),
    lengths && { shape: [shapes.batch], dtype: "i32" },
  ];
  return problemOf({
    inputs: [...[q, k, v].map((each) => node(each, dtype)), ...optional.filter(Boolean)],
    params: {
      ...{ scale: scale ?? 1 / Math.sqrt(shapes.widths[0]), left: before, right: behind, emptyRow: 0 },
      ...{ hasBias: !!bias, hasMask: !!mask, hasLength: !!lengths },
    },
  } as unknown as Node);
}

/** Runs a kernel on the numbers of its inputs; returns what it wrote. */
function interpreted(
  kernel: ReturnType<typeof attentionKernel>,
  inputs: readonly (readonly number[])[],
  sizes: readonly number[],
) {
  const memory = kernel.buffers.map(({ dtype, isWritten }, i) =>
    isWritten
      ? new Uint8Array(DTYPES[dtype].bytes * sizes[i - inputs.length]!)
      : encodeValues(inputs[i]!, dtype, "test"),
  );
  interpretKernel(kernel, memory);
  return memory.slice(inputs.length).map((bytes, at) => {
    const { dtype } = kernel.buffers[inputs.length + at]!;
    const data = dataOf(bytes, dtype);
    return Array.from({ length: sizes[at]! }, (_, i) => Number(elementAt(data, dtype, i)));
  });
}

function expectAll(got: readonly number[], want: Plain, what: string, within = 1e-5): void {
  assert.equal(got.length, want.values.length);
  got.forEach((x, i) => {
    assert.ok(
      Math.abs(x - want.values[i]!) <= within * (1 + Math.abs(want.values[i]!)),
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

describe("attention on matrix units, interpreted", () => {
  const tileOf = (operand: "f16" | "bf16", subgroupSize: number, rows = 32, columns = 32): MatrixAttentionTile => ({
    ...{ kind: "matrix", rows, columns, subgroupSize },
    fragment: { operand, rows: 16, columns: 16, depth: 16 },
  });
  const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [20, 45], widths: [16, 24] };

  /** Inputs that the dtype holds exactly, so that only the weights and the result are rounded. */
  function check(
    tile: MatrixAttentionTile,
    own: AttentionShapes,
    choices: AttentionChoices,
    change?: Partial<AttentionCase>,
  ) {
    const { operand } = tile.fragment;
    const given = { ...caseOf(own, choices, 1), ...change };
    const kernel = attentionKernel(problem(own, choices, operand), "forward", tile, { division: "native" });
    const rows = own.batch * own.heads[0] * own.tokens[0];
    const optional = [choices.bias, choices.mask].flatMap((plain) => (plain ? [plain.values] : []));
    const inputs = [given.q, given.k, given.v].map(({ values }) => values);
    const lengths = choices.lengths ? [choices.lengths] : [];
    const [out, logs] = interpreted(kernel, [...inputs, ...optional, ...lengths], [rows * own.widths[1], rows]);
    const want = attentionOf(given);
    expectAll(out!, want, `${operand}, output`, operand === "f16" ? 2e-3 : 1.6e-2);
    // With values of 1 the logarithm alone says whether the weights add up.
    const plain = attentionLogs(given);
    logs!.forEach((log, row) => {
      const expected = plain[row]!;
      const isNear = log === expected || Math.abs(log - expected) < 1e-4 * (1 + Math.abs(expected));
      assert.ok(isNear, `logarithm ${row}: ${log}, not ${expected}`);
    });
    const ct = sample(want.shape, 5, 1);
    const width = own.widths[1];
    const delta = logs!.map((_, row) => {
      const line = ct.values.slice(row * width, (row + 1) * width);
      return line.reduce((sum, x, c) => sum + x * want.values[row * width + c]!, 0);
    });
    const rest = [...inputs, ...optional, ...lengths, ct.values, logs!, delta];
    const [ofQ, ofK, ofV] = attentionGradients(given, ct) as [Plain, Plain, Plain];
    const written = (pass: "queries" | "keys", ...sizes: number[]) =>
      interpreted(attentionKernel(problem(own, choices, operand), pass, tile, { division: "native" }), rest, sizes);
    // Sums of as many rounded weights, times keys.
    const size = given.k.values.reduce((most, x) => Math.max(most, Math.abs(x)), 2) / 2;
    const within = (operand === "f16" ? 4e-3 : 3e-2) * size;
    const [q] = written("queries", ofQ.values.length);
    expectAll(q!, ofQ, `${operand}, gradient of q`, within);
    const [k, v] = written("keys", ofK.values.length, ofV.values.length);
    expectAll(k!, ofK, `${operand}, gradient of k`, within);
    expectAll(v!, ofV, `${operand}, gradient of v`, within);
  }

  test("every dtype and size of subgroups, with edges inside tiles and units", () => {
    check(tileOf("f16", 32), shapes, { causal: true });
    check(tileOf("bf16", 32), shapes, {});
    check(tileOf("f16", 8), { ...shapes, tokens: [18, 40] }, { causal: true });
    check(tileOf("bf16", 64, 16), { ...shapes, tokens: [20, 33] }, { causal: true });
    check(tileOf("f16", 16, 16, 16), { ...shapes, tokens: [17, 33], widths: [24, 8] }, {});
  });

  test("values wider than a tile has columns", () => {
    check(tileOf("f16", 32, 16, 16), { ...shapes, tokens: [16, 30], widths: [8, 40] }, { causal: true });
  });

  test("windows, lengths, masks and biases; queries that see nothing", () => {
    check(tileOf("f16", 32), shapes, { window: [20, 3] });
    check(tileOf("f16", 32), shapes, { bias: sample([1, 2, 1, 45], 4), mask: bools([1, 1, 20, 45], 5) });
    check(tileOf("f16", 32), { ...shapes, batch: 2 }, { lengths: [0, 40], causal: true });
  });

  test("sums are scaled when the largest score grows far, and left alone while it grows a little", () => {
    const own: AttentionShapes = { batch: 1, heads: [1, 1], tokens: [16, 96], widths: [16, 16] };
    for (const step of [1, 8, 64]) {
      // Scores rise from tile to tile, by about `step` in powers of two, in half of the rows.
      const q = plainOf([1, 1, 16, 16], ([, , i, c]) => (c === 0 ? (i! % 2) * 4 : 0));
      const k = plainOf([1, 1, 96, 16], ([, , j, c]) => (c === 0 ? Math.floor(j! / 32) * step : 0));
      check(tileOf("f16", 32, 16), own, { scale: 0.25 }, { q, k });
    }
  });
});

test("explain says that one kernel computes it, and which keys are seen", () => {
  const backend = withTiles("cpu", { attention: vectors });
  const [q, k, v] = [1, 2, 3].map((seed) => tensorOn(backend, sample([1, 2, 20, 8], seed), "f32")) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const text = explain(attention(q, k, v, { causal: true, window: [5, 0] }));
  assert.match(text, /1 kernel\n.*attention\[1×2×20×8\]/);
  assert.match(text, /softmax\(.*5 keys before, causal\).*scores stay on chip/);
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

  test("f16 and bf16 go to matrix units where there are any", () => {
    const fragment = { operand: "bf16", rows: 16, columns: 16, depth: 16 } as const;
    const units = { ...large, matrices: { subgroupSize: 32, shapes: [fragment] } };
    const brain: AttentionProblem = { ...sized(1024, 64), dtype: "bf16" };
    for (const width of [8, 64, 72, 128, 192]) {
      for (const pass of passes) {
        const tile = planAttention({ ...brain, depth: width, width }, units, pass);
        assert.equal(tile?.kind, "matrix", `${width}`);
        const kernel = attentionKernel({ ...brain, batch: 1, depth: width, width }, pass, tile!, {
          division: "native",
        });
        const bytes = kernel.arrays.reduce((sum, { size }) => sum + 4 * size, 0);
        assert.ok(bytes <= 49152, `${width}: ${bytes} bytes`);
      }
    }
    const others = [{ ...brain, dtype: "f16" as const }, { ...brain, depth: 60 }, sized(1024, 64)];
    for (const other of others) assert.equal(planAttention(other, units, "forward")?.kind, "shared");
  });

  test("16 KiB of shared memory are enough for rows of 64; what fits nowhere is computed by its definition", () => {
    for (const pass of passes) assert.ok(planAttention(sized(1024, 64), gpuProfile.tiles, pass), pass);
    assert.equal(planAttention(sized(1024, 4096), gpuProfile.tiles, "forward"), null);
  });

  test("a CPU has one form", () => {
    assert.deepEqual(planAttention(sized(1024, 64), cpuProfile.tiles, "forward"), vectors);
  });
});

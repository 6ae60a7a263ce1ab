/**
 * The kernels of attention in every form of tiles: on the devices there are, against plain loops, and by the interpreter, which
 * finds missing barriers and indices outside memory.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { attentionKernel } from "../../../../src/compiler/routines/attention/attention.js";
import {
  ATTENTION_TILES,
  type AttentionPass,
  planAttention,
  SUBGROUP_TILES,
} from "../../../../src/compiler/routines/attention/plan.js";
import type { AttentionProblem } from "../../../../src/compiler/routines/attention/problem.js";
import { cpuProfile, gpuProfile } from "../../../../src/compiler/target/profile.js";
import type { AttentionTile } from "../../../../src/compiler/target/tile-profile.js";
import { attention, explain, type Tensor } from "../../../../src/index.js";
import { backendFor } from "../../../../src/tensor/index.js";
import { type AttentionShapes, bools, expectAttention, sample } from "../../../support/attention-cases.js";
import { tensorOn, withTiles } from "../../../support/forced-tiles.js";
import { type Plain, testDevices } from "../../../support/tensors.js";
import { checkBackward, checkForward, problem } from "./interpreted-attention.js";

const vectors: AttentionTile = { kind: "vectors" };
/** The forms that a device can run: those in subgroups as well, where it has subgroups of a known size. */
function formsOf(device: string): readonly AttentionTile[] {
  if (device === "cpu") return [vectors];
  const { subgroupSize = 0 } = backendFor(device).target.profile.tiles;
  const loose = SUBGROUP_TILES.filter(({ isTight }) => !isTight);
  // A tight tile that fits into 32 KiB also on the way back, where it is a loose one.
  const all = [...loose, { ...ATTENTION_TILES[1]!, isTight: true }];
  const inSubgroups = all.filter(({ lanes }) => subgroupSize > 0 && subgroupSize % lanes[1] === 0);
  return [...ATTENTION_TILES, ...inSubgroups.map((tile) => ({ ...tile, subgroupSize }))];
}

const textOf = (tile: AttentionTile) =>
  tile.kind === "shared"
    ? `${tile.rows}×${tile.columns} on ${tile.lanes.join("×")} lanes${tile.subgroupSize ? " in subgroups" : ""}${tile.isTight ? ", tight" : ""}`
    : tile.kind;

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

describe("attention in tiles, interpreted", () => {
  const shapes: AttentionShapes = { batch: 1, heads: [2, 1], tokens: [19, 21], widths: [6, 8] };
  const choices = { causal: true, bias: sample([1, 1, 19, 21], 4) };

  for (const tile of ATTENTION_TILES.slice(1)) {
    test(`no race and no index outside memory, ${textOf(tile)}`, () => {
      const write = (pass: AttentionPass) => (own: AttentionProblem) =>
        attentionKernel(own, pass, tile, { division: "native" });
      checkForward(write("forward"), { shapes, choices });
      checkBackward({ queries: write("queries"), keys: write("keys") }, { shapes, choices });
    });
  }
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

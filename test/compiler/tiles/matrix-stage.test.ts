/**
 * Operands on their way to matrix units: tiles that lanes loaded and kept are read again as fragments, element by element, and
 * compared with the operand. The interpreter finds missing barriers and indices outside memory.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Statement, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { Lowering } from "../../../src/compiler/lower/lowering.js";
import type { MatrixTile } from "../../../src/compiler/target/tile-profile.js";
import { MatrixStage } from "../../../src/compiler/tiles/matrix-stage.js";
import { matrixLanesOf, operandWords } from "../../../src/compiler/tiles/matrix-tile-memory.js";
import { constantExpr } from "../../../src/core/index-expr.js";
import { dataOf, elementAt, encodeValues } from "../../../src/core/storage.js";
import type { Node } from "../../../src/graph/node.js";
import * as E from "../../../src/graph/primitives/elementwise.js";
import { permute } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { type Windows, windowNode } from "../../../src/graph/windows.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { make, storedAs } from "../../support/nodes.js";
import { sample } from "./product-kernels.js";

/** Where the operand begins in shared memory: not at its start. */
const START = 4;

const tileOf = (changes: Partial<MatrixTile> = {}): MatrixTile => ({
  ...{ kind: "matrix", rows: 32, columns: 32, depth: 32, subgroups: [1, 2], subgroupSize: 8, parts: 1, promoted: 0 },
  fragment: { operand: "f16", rows: 16, columns: 16, depth: 16 },
  ...changes,
});

interface Operand {
  readonly side: "left" | "right";
  /** Elements along the rows (or columns) of the result, and along the summation. */
  readonly extent: number;
  readonly summed: number;
  /** The operand as the product sees it, from nodes that lie in memory with these values. */
  readonly node: Node;
  readonly memory: ReadonlyMap<Node, readonly number[]>;
}

/** An operand of these extents in memory, or its transpose in memory. */
function operandOf(
  tile: MatrixTile,
  side: "left" | "right",
  extent: number,
  summed: number,
  isTurned = false,
): Operand {
  const shape = side === "left" ? [1, extent, summed] : [1, summed, extent];
  const [, rows, columns] = shape as [number, number, number];
  const leaf = storedAs(tile.fragment.operand, ...(isTurned ? [1, columns, rows] : shape));
  const node = isTurned ? make(permute, [leaf], { axes: [0, 2, 1] }) : leaf;
  return { side, extent, summed, node, memory: new Map([[leaf, sample(rows * columns, 3)]]) };
}

/** A stage of an operand in a kernel of one row, for the tile at this number along the result. */
function stageIn(tile: MatrixTile, { side, extent, summed, node }: Operand, first: number) {
  const rows = side === "left" ? tile.rows : tile.columns;
  const lanes = matrixLanesOf(tile);
  const k = new KernelBuilder("stage", 1, lanes, tile.subgroupSize);
  const group = {
    results: [{ node, rowAxes: [] }],
    tiling: { lanes, width: 1, unroll: 1, elementsPerLane: 1 },
    rowsPerThread: 1,
    isLoaded: ({ storage }: Node) => storage !== null,
  };
  const lowering = new Lowering(k, group, { division: "native" });
  const array = k.array("u32", START + tile.parts * operandWords(tile, rows));
  const at = (...[along, sum]: Parameters<ConstructorParameters<typeof MatrixStage>[3]["at"]>) =>
    side === "left" ? [constantExpr(0), along, sum] : [constantExpr(0), sum, along];
  const operand = { node, side, rows, extent, first: k.constant("i32", first), summed, at };
  const lane = lowering.bind("lane", lanes, k.lane);
  return { k, lowering, rows, stage: new MatrixStage(k, lowering, tile, operand, array, START, lanes, lane) };
}

/** The tile at these numbers along the result and the summation, kept in shared memory and written out through fragments. */
function staged(tile: MatrixTile, operand: Operand, first: number, step: number) {
  const { side, memory } = operand;
  const { k, lowering, rows, stage } = stageIn(tile, operand, first);
  const i = (value: number) => k.constant("i32", value);
  const words = stage.load(i(step));
  assert.equal(words.length, stage.wordCount);
  stage.keep(words);
  k.barrier();
  // Each fragment's lines, a word at a time: of 16 elements in so many words.
  const perWord = tile.fragment.operand === "i8" ? 4 : 2;
  const { depth } = tile.fragment;
  const out = k.buffer("u32", true);
  const places: { along: number; sum: number; part: number; isAlongSum: boolean; line: number; word: number }[] = [];
  for (let part = 0; part < tile.parts; part++) {
    for (let along = 0; along < rows; along += 16) {
      for (let sum = 0; sum < tile.depth; sum += depth) {
        const place = stage.fragment(i(along - (along % 32)), along % 32, sum, part);
        const isAlongSum = place.isByColumns === (side === "right");
        const [lines, length] = isAlongSum ? [16, depth] : [depth, 16];
        for (let line = 0; line < lines; line++) {
          for (let word = 0; word < length / perWord; word++) {
            const index = k.binary("add", place.index, i(line * place.pitch + word));
            k.store(out, i(places.length), k.get(place.array, index), true);
            places.push({ along, sum, part, isAlongSum, line, word });
          }
        }
      }
    }
  }
  const kernel = k.finish();
  const bytes = new Uint8Array(4 * places.length);
  const given = lowering.buffers.map((leaf) => encodeValues(memory.get(leaf)!, leaf.dtype, "test"));
  interpretKernel(kernel, [...given, bytes]);
  const data = dataOf(bytes, tile.fragment.operand);
  const found = new Map<string, number>();
  places.forEach(({ along, sum, part, isAlongSum, line, word }, number) => {
    for (let c = 0; c < perWord; c++) {
      const inLine = word * perWord + c;
      const [row, column] = isAlongSum ? [along + line, sum + inLine] : [along + inLine, sum + line];
      found.set(`${part}:${row},${column}`, Number(elementAt(data, tile.fragment.operand, number * perWord + c)));
    }
  });
  return { found, kernel, isAlongSum: places[0]!.isAlongSum };
}

/** Checks every element of every tile. `expected`: the operand's element, from its index along the result and the summation. */
function check(
  tile: MatrixTile,
  operand: Operand,
  expected: (along: number, sum: number, part: number) => number,
): void {
  const { extent, summed, side } = operand;
  const rows = side === "left" ? tile.rows : tile.columns;
  for (let first = 0; first * rows < extent; first++) {
    for (let step = 0; step * tile.depth < summed; step++) {
      const { found } = staged(tile, operand, first, step);
      assert.equal(found.size, tile.parts * rows * tile.depth);
      for (const [name, value] of found) {
        const [part, along, sum] = name.split(/[:,]/).map(Number) as [number, number, number];
        const [row, at] = [first * rows + along, step * tile.depth + sum];
        // Rows beyond the result are never stored, and may hold anything; beyond the summation there must be zeros.
        if (row >= extent) continue;
        const want = at < summed ? expected(row, at, part) : 0;
        assert.equal(value + 0, want + 0, `${side} ${extent}×${summed}, part ${part}, element ${row}, ${at}`);
      }
    }
  }
}

const plainValue = ({ side, extent, summed, memory }: Operand, isTurned: boolean) => {
  const [values] = memory.values();
  const isSumLast = (side === "left") !== isTurned;
  return (along: number, sum: number) => values![isSumLast ? along * summed + sum : sum * extent + along]!;
};

describe("tiles through registers and shared memory", () => {
  const tile = tileOf();
  for (const side of ["left", "right"] as const) {
    test(`the ${side} operand and its transpose, whole tiles and edges in tiles and in units`, () => {
      for (const [extent, summed] of [
        [64, 64],
        [40, 32],
        [32, 40],
        [37, 45],
        [9, 5],
      ] as const) {
        for (const isTurned of [false, true]) {
          const operand = operandOf(tile, side, extent, summed, isTurned);
          check(tile, operand, plainValue(operand, isTurned));
        }
      }
    });
  }

  test("bf16 and bytes", () => {
    const brain = tileOf({ fragment: { ...tile.fragment, operand: "bf16" } });
    const bytes = tileOf({ fragment: { operand: "i8", rows: 16, columns: 16, depth: 32 } });
    for (const each of [brain, bytes]) {
      for (const [extent, summed] of [
        [32, 64],
        [21, 35],
      ] as const) {
        const operand = operandOf(each, "left", extent, summed);
        check(each, operand, plainValue(operand, false));
      }
    }
  });

  test("a tile of fewer units than lanes", () => {
    // 16×16 halves are 32 units for 64 lanes.
    const small = tileOf({ rows: 16, depth: 16, subgroups: [1, 2], subgroupSize: 32 });
    const operand = operandOf(small, "left", 16, 16);
    check(small, operand, plainValue(operand, false));
  });

  test("an operand that is computed, and one in two parts", () => {
    const plain = operandOf(tile, "right", 40, 48);
    const value = plainValue(plain, false);
    check(tile, { ...plain, node: make(E.neg, [plain.node], {}) }, (along, sum) => -value(along, sum));
    const [upper, lower] = [operandOf(tile, "left", 33, 40), operandOf(tile, "left", 33, 40)];
    const [values] = lower.memory.values();
    const memory = new Map([...upper.memory, [lower.node, values!.map((x) => x + 1)] as const]);
    const wide = ({ node }: Operand) => make(E.cast, [node], { dtype: "f32" });
    const sum = make(E.add, [wide(upper), wide(lower)], {});
    const first = plainValue(upper, false);
    check(tileOf({ parts: 2 }), { ...upper, node: sum, memory }, (a, s, part) => first(a, s) + part);
  });
});

test("lines lie along the axis whose neighbours are neighbours in memory, and are copied there 16 bytes at a time", () => {
  const tile = tileOf();
  const loads = (operand: Operand) => {
    const { kernel, isAlongSum } = staged(tile, operand, 0, 0);
    const kinds: Statement["kind"][] = [];
    walkStatements(kernel.body, ({ kind }) => void kinds.push(kind));
    return { isAlongSum, copies: kinds.filter((kind) => kind === "loadWords").length };
  };
  // 32×32 halves are 128 units for 16 lanes.
  assert.deepEqual(loads(operandOf(tile, "left", 64, 64)), { isAlongSum: true, copies: 8 });
  assert.deepEqual(loads(operandOf(tile, "left", 64, 64, true)), { isAlongSum: false, copies: 8 });
  assert.deepEqual(loads(operandOf(tile, "right", 64, 64)), { isAlongSum: false, copies: 8 });
  const odd = loads(operandOf(tile, "left", 33, 33));
  assert.deepEqual(odd, { isAlongSum: false, copies: 0 }, "units that are no vectors: lanes go along memory");
});

/** Windows of 3 along 5 places of 8 channels, with a zero before and behind, as the right operand: [1, 3 × 8, 5 images × 5]. */
function windowed(
  tile: MatrixTile,
  isChannelLast: boolean,
): Operand & { readonly at: (along: number, sum: number) => number } {
  const [images, places, channels] = [5, 5, 8];
  const shape = isChannelLast ? [images, places, channels] : [images, channels, places];
  const leaf = storedAs(tile.fragment.operand, ...shape);
  const values = sample(images * places * channels, 3);
  const byChannel = isChannelLast ? make(permute, [leaf], { axes: [0, 2, 1] }) : leaf;
  const windows: Windows = { axes: [2], size: [3], stride: [1], dilation: [1], padding: [[1, 1]] };
  const seen = windowNode(byChannel, windows, 0);
  const node = g.reshape(g.permute(seen, [3, 1, 0, 2]), [1, 3 * channels, images * places]);
  const at = (along: number, sum: number) => {
    const [image, place, channel] = [
      Math.floor(along / places),
      (along % places) + Math.floor(sum / channels) - 1,
      sum % channels,
    ];
    if (place < 0 || place >= places) return 0;
    return values[
      isChannelLast ? (image * places + place) * channels + channel : (image * channels + channel) * places + place
    ]!;
  };
  return { side: "right", extent: images * places, summed: 3 * channels, node, memory: new Map([[leaf, values]]), at };
}

test("windows with zeros around, channels last: 16 bytes at a time, zeros where the window is outside", () => {
  const tile = tileOf();
  const copies = (operand: Operand) => {
    const kinds: Statement["kind"][] = [];
    walkStatements(staged(tile, operand, 0, 0).kernel.body, ({ kind }) => void kinds.push(kind));
    return kinds.filter((kind) => kind === "loadWords").length;
  };
  for (const isChannelLast of [true, false]) {
    const operand = windowed(tile, isChannelLast);
    check(tile, operand, operand.at);
    assert.equal(copies(operand), isChannelLast ? 8 : 0);
  }
});

test("eight lanes write to different banks of shared memory", () => {
  // 128×32 halves in lines of four units; 16 bytes are four of 32 banks.
  const tile = tileOf({ rows: 128, subgroups: [4, 2], subgroupSize: 32 });
  const operand = operandOf(tile, "left", 128, 64);
  const { k, stage } = stageIn(tile, operand, 0);
  const written: Value[] = [];
  const setMany = k.setMany.bind(k);
  k.setMany = (array, at, ...rest) => {
    written.push(at);
    setMany(array, at, ...rest);
  };
  stage.keep(stage.load(k.constant("i32", 0)));
  const out = k.buffer("i32", true);
  for (const [turn, at] of written.entries()) {
    k.store(out, k.binary("add", k.lane, k.constant("i32", turn * k.lanes)), at, false);
  }
  const found = new Int32Array(written.length * k.lanes);
  const values = [...operand.memory.values()][0]!;
  interpretKernel(k.finish(), [encodeValues(values, "f16", "test"), new Uint8Array(found.buffer)]);
  const places = Array.from({ length: k.lanes }, (_, lane) =>
    written.map((_at, turn) => found[turn * k.lanes + lane]!),
  );
  for (let first = 0; first < places.length; first += 8) {
    for (let turn = 0; turn < places[first]!.length; turn++) {
      const banks = places.slice(first, first + 8).map((own) => (own[turn]! / 4) % 8);
      assert.equal(new Set(banks).size, 8, `lanes from ${first} on, turn ${turn}: ${banks}`);
    }
  }
});

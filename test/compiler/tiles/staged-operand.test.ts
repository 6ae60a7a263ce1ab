/** Operands on their way into shared memory: which axis neighbouring lanes read, by how the operand lies in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Kernel, type Value, walkStatements } from "../../../src/compiler/ir/ir.js";
import type { Node } from "../../../src/graph/node.js";
import * as M from "../../../src/graph/primitives/movement.js";
import { make } from "../../support/nodes.js";
import { lowered, matrix } from "./product-kernels.js";

const tile = { kind: "shared", rows: 32, columns: 32, depth: 16, perLane: [4, 4], buffers: 1, unrolled: 16 } as const;
const transposed = (node: Node) => make(M.permute, [node], { axes: [0, 2, 1] });

/** How many elements the lanes of a row move from one lane to the next where they load a buffer. */
function laneStride(kernel: Kernel, buffer: number): number {
  const loads: Value[] = [];
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "let" && statement.value.op === "load" && statement.value.attribute === buffer) {
      loads.push(statement.value.args[0]!);
    }
  });
  const at = (value: Value, lane: number): number => {
    const [x, y] = value.args.map((arg) => at(arg, lane));
    const constants: Partial<Record<string, number>> = { lane, row: 0, index: 0, accumulator: 0, result: 0 };
    if (value.op === "constant") return Number(value.attribute);
    if (value.op in constants) return constants[value.op]!;
    if (value.op === "add") return x! + y!;
    if (value.op === "sub") return x! - y!;
    if (value.op === "mul") return x! * y!;
    if (value.op === "idiv") return Math.floor(x! / y!);
    if (value.op === "irem") return x! % y!;
    if (value.op === "min") return Math.min(x!, y!);
    throw new Error(value.op);
  };
  const strides = loads.map((index) => at(index, 1) - at(index, 0));
  return Math.max(...strides.map(Math.abs));
}

test("lanes read neighbours in memory, whichever way the operand lies", () => {
  const plain = lowered(tile, matrix("f32", 1, 64, 64), matrix("f32", 1, 64, 64));
  const turned = lowered(tile, transposed(matrix("f32", 1, 64, 64)), transposed(matrix("f32", 1, 64, 64)));
  for (const { kernel } of [plain, turned]) {
    // Each lane takes four neighbours, so the next lane begins four further on.
    assert.deepEqual(
      [0, 1].map((operand) => laneStride(kernel, operand)),
      [4, 4],
    );
  }
});

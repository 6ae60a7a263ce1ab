/** Every vector instruction without memory access, compared with what JavaScript says it means lane by lane. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { INSTRUCTIONS, type Instruction, laneCount } from "../../src/wasm/instructions.js";
import type { LaneShape, ValueType } from "../../src/wasm/types.js";
import { VECTOR } from "../../src/wasm/vector-table.js";
import { randomFrom } from "../support/random.js";
import {
  assertSame,
  holdsOracle,
  RECORD,
  RESULT,
  read,
  runnerFor,
  specials,
  vector,
  write,
} from "./instruction-runs.js";
import type { Lane } from "./scalar-oracle.js";
import { fromLanes, lanesOf } from "./vector-oracle.js";

const names = Object.values(VECTOR).flatMap((row) => Object.keys(row));

describe("every instruction computes what JavaScript says it should", () => {
  for (const name of names) test(name, () => holdsOracle(INSTRUCTIONS.get(name) as Instruction));
});

describe("lanes", () => {
  const random = randomFrom(3);
  for (const instruction of [...INSTRUCTIONS.values()].filter(({ immediates }) => immediates === "lane")) {
    const { name, parameters, result } = instruction;
    test(name, () => {
      const shape = name.split(".")[0] as LaneShape;
      for (let lane = 0; lane < laneCount(instruction); lane++) {
        const { view, exports } = runnerFor(instruction, [lane]);
        for (let round = 0; round < 8; round++) {
          const source = vector(random);
          write(view, 0, "v128", source);
          const lanes = lanesOf(shape, source, !name.endsWith("_u"));
          if (parameters.length === 1) {
            exports.run?.(0, RECORD);
            const expected = result === "i32" ? Number(lanes[lane]) | 0 : (lanes[lane] as Lane);
            assertSame(read(view, RESULT, result as ValueType), expected, name, [source, lane]);
          } else {
            const type = parameters[1] as "i32";
            const replacement = random.pick(specials[type]);
            write(view, 16, type, replacement);
            exports.run?.(0, RECORD);
            lanes[lane] = typeof lanes[lane] === "bigint" ? BigInt(replacement) : replacement;
            const expected = fromLanes(shape, lanes);
            assertSame(read(view, RESULT, "v128"), expected, name, [source, replacement, lane]);
          }
        }
      }
    });
  }

  test("i8x16.shuffle takes any sixteen of two vectors' bytes", () => {
    for (let round = 0; round < 20; round++) {
      const lanes = Array.from({ length: 16 }, () => random.below(32));
      const { view, bytes, exports } = runnerFor(INSTRUCTIONS.get("i8x16.shuffle") as Instruction, lanes);
      const both = random.bytes(32);
      write(view, 0, "v128", both.subarray(0, 16));
      write(view, 16, "v128", both.subarray(16));
      exports.run?.(0, RECORD);
      assert.deepEqual(
        [...bytes.slice(RESULT, RESULT + 16)],
        lanes.map((lane) => both[lane]),
      );
    }
  });
});

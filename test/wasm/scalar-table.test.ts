/** Every numeric instruction on scalars, run on many operands and compared with what JavaScript says it means. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { INSTRUCTIONS, type Instruction } from "../../src/wasm/instructions.js";
import { SCALAR } from "../../src/wasm/scalar-table.js";
import { randomFrom } from "../support/random.js";
import { holdsOracle, RECORD, RESULT, runnerFor } from "./instruction-runs.js";
import { REINTERPRETS } from "./scalar-oracle.js";

const names = Object.values(SCALAR).flatMap((row) => Object.keys(row));

describe("every instruction computes what JavaScript says it should", () => {
  for (const name of names) {
    if (REINTERPRETS.includes(name)) continue;
    test(name, () => holdsOracle(INSTRUCTIONS.get(name) as Instruction));
  }
});

describe("reinterpreting keeps the bits", () => {
  for (const name of REINTERPRETS) {
    test(name, () => {
      const { bytes, exports } = runnerFor(INSTRUCTIONS.get(name) as Instruction);
      const random = randomFrom(1);
      const size = name.includes("64") ? 8 : 4;
      for (let i = 0; i < 200; i++) {
        const pattern = random.bytes(size);
        // Keep clear of signalling NaNs, which loading as a float may quiet on some machines.
        if (i % 4 === 0) pattern.set(size === 8 ? [0xf8, 0x7f] : [0xc0, 0x7f], size - 2);
        bytes.set(pattern, 0);
        exports.run?.(0, RECORD);
        assert.deepEqual(bytes.slice(RESULT, RESULT + size), pattern);
      }
    });
  }
});

/** The transform of pairs joined to half a spectrum, interpreted on both kinds of device, against the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinedHalvesKernel } from "../../../../src/compiler/routines/fft/joined-halves.js";
import { cpuProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { planDft } from "../../../../src/graph/dft-plan.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { apart, type C, gpuOf, LIMITS, linesOf, pairsOf, randomNumbers, tableOf, transformOf, wholePass } from "./transforms.js"; // biome-ignore format: one line

const LINES: readonly (readonly [number, number])[] = [[1, 1], [2, 1], [1, 3], [2, 2]]; // biome-ignore format: a table

test("lines along memory and across it, of even and odd numbers of pairs, more than a thread takes", () => {
  for (const length of [4, 9, 1040]) {
    const { halves } = planDft("real", 2 * length, "f64", LIMITS).table;
    for (const [outer, inner] of LINES) {
      const pass = wholePass(length, [outer, inner], {
        halves,
        isJoining: true,
        writing: { kind: "halved", extent: length + 1, factor: null, scale: 3 },
        digits: [
          { extent: inner, from: 1, to: 1, fromPosition: 0, toPosition: 0 },
          { extent: outer, from: length * inner, to: (length + 1) * inner, fromPosition: 0, toPosition: 0 },
        ].filter(({ extent }) => extent > 1),
      });
      const signals = Array.from({ length: outer * inner }, (_, line) => randomNumbers(2 * length, length + line));
      const spectra = signals.map((x) => transformOf(pairsOf(x), -1));
      const source = Array.from({ length: outer * length * inner }, (_, at) => {
        const [o, j, i] = [Math.floor(at / (length * inner)), Math.floor(at / inner) % length, at % inner];
        return spectra[o * inner + i]![j]!;
      });
      for (const profile of [cpuProfile, gpuOf(8)]) {
        const target = undefinedBytes(16 * outer * inner * (length + 1));
        const buffers = [encodeValues(source.flat(), "f64", "source"), tableOf("real", 2 * length, "f64"), target];
        interpretKernel(joinedHalvesKernel(pass, profile), buffers);
        const found = linesOf(pairsOf([...new Float64Array(target.slice().buffer)]), length + 1, [outer, inner]);
        signals.forEach((x, line) => {
          const wanted = transformOf(x.map((each): C => [each, 0]), -1).slice(0, length + 1); // biome-ignore format: one line
          const distance = apart(found[line]!, wanted.map(([re, im]): C => [3 * re, 3 * im])); // biome-ignore format: one line
          assert.ok(distance < 1e-13 * length, `${length}, ${outer}×${inner}, line ${line}: ${distance}`);
        });
      }
    }
  }
});

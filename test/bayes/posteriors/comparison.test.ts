/** The long tests can fail: draws that are NaN, stuck or off, and reference data that are broken or absent, are found. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { checkedDraws, type ReferenceDraws } from "../../support/reference-data.js";
import { independent, nested } from "../chains.js";
import { worstOf } from "../models/stein.js";
import { compared, complaintOf } from "./comparison.js";

const reference: ReferenceDraws = nested(independent(4, 500, 1)).map((x, c) => ({
  "x[1]": x,
  "x[2]": nested(independent(4, 500, 2))[c]!,
  one: x.map(() => 1),
}));

/** Draws of x[0] and x[1], the second of them changed. */
function drawsWith(change: (x: number, i: number) => number): Draws {
  const draws = new Draws({ chains: 4, variables: { x: [2], one: [] } });
  const [first, second] = [independent(4, 500, 3).values, independent(4, 500, 4).values.map(change)];
  draws.append({
    values: { x: Array.from(first).flatMap((value, i) => [value, second[i]!]), one: first.map(() => 1) },
  });
  return draws;
}

describe("draws against reference draws", () => {
  for (const [title, change, complaint] of [
    ["right ones pass, constants included", (x) => x, null],
    ["a parameter that is NaN", () => Number.NaN, /x\[2\]: NaN standard errors/],
    ["one number that is NaN", (x, i) => (i === 7 ? Number.NaN : x), /x\[2\]: NaN standard errors/],
    ["a parameter that never moves", () => 0, /standard errors off/],
    [
      "one that moves too seldom",
      (x, i) => Math.abs(x) * Math.sign(Math.sin(1e4 * Math.floor(i / 20))),
      /effective sample size/,
    ],
    ["one that is off", (x) => x + 0.3, /mean of x\[2\]/],
  ] as readonly (readonly [string, (x: number, i: number) => number, RegExp | null])[]) {
    test(title, () => {
      const found = complaintOf(compared(drawsWith(change), reference), 400);
      if (complaint) assert.match(found ?? "no complaint", complaint);
      else assert.equal(found, null);
    });
  }

  test("of scores, what is not a number is the worst", () => {
    const scores = [1, Number.NaN, 9].map((z) => ({ of: `${z}`, z }));
    assert.equal(worstOf(scores).of, "NaN");
    assert.equal(worstOf([...scores].reverse()).of, "NaN");
    assert.equal(worstOf(scores.filter(({ z }) => z > 0)).of, "9");
  });
});

describe("reference data", () => {
  test("that are not numbers, or not as many in every chain, are refused", () => {
    assert.equal(checkedDraws([{ x: [1, 2] }, { x: [3, 4] }]).length, 2);
    for (const [broken, message] of [
      [[], /no chains/],
      [[{}], /no draws/],
      [[{ x: [] }], /no draws/],
      [[{ x: [1, null] }], /draw 1 of x in chain 0 is null/],
      [[{ x: [1, 2] }, { x: [1] }], /x of chain 1 is not 2 draws/],
      [[{ x: [1, 2] }, { y: [1, 2] }], /chain 1 has other variables/],
    ] as const) {
      assert.throws(() => checkedDraws(broken), message);
    }
  });

  const module = fileURLToPath(new URL("../../support/reference-data.js", import.meta.url));
  /** What a process says that reads a file of a folder that was named. */
  function readingOf(folder: string): string {
    const code = `import { referenceDraws, withoutReference } from ${JSON.stringify(module)};
      console.log("skip", withoutReference("draws.json.gz"));
      referenceDraws("draws.json.gz");`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      env: { ...process.env, PUMICE_REFERENCE: folder },
      encoding: "utf8",
    });
    return stdout + stderr;
  }

  test("that were named and are absent or cut short fail with the name of the file", () => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-reference-"));
    try {
      const file = join(folder, "draws.json.gz");
      const fails = (why: RegExp) => {
        const said = readingOf(folder);
        assert.match(said, /skip false/);
        assert.ok(said.includes(`The reference data in ${file} cannot be read`), said);
        assert.match(said, why);
      };
      fails(/ENOENT/);
      const whole = gzipSync(JSON.stringify([{ x: [1, 2, 3] }]));
      writeFileSync(file, whole.subarray(0, whole.length - 12));
      fails(/unexpected end of file/);
      writeFileSync(file, gzipSync('[{"x": [1, 2'));
      fails(/JSON/);
      writeFileSync(file, whole);
      assert.doesNotMatch(readingOf(folder), /cannot be read/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

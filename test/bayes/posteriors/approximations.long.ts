/**
 * How well the approximations do on the posteriors of posteriordb: the table of docs/bayes-approximations.md is what comes out
 * here, to a tenth of a standard deviation. Prints each row as the table has it, so that it can be brought up to date.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import type { Approximation } from "../../../src/bayes/approximation/approximation.js";
import { advi, pathfinder, SmcFit, smc } from "../../../src/bayes/index.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { referenceJson, withoutReference } from "../../support/reference-data.js";
import { referenceModels } from "../models/index.js";
import { type AnyPosterior, makeIn } from "../models/reference-model.js";

type Fitted = Approximation & { readonly paretoK?: number };

/** The columns, in the order of the table. */
const methods: readonly ((posterior: AnyPosterior) => Promise<Fitted>)[] = [
  (posterior) => pathfinder(posterior, { seed: 1 }),
  (posterior) => advi(posterior, { seed: 1 }),
  (posterior) => advi(posterior, { seed: 1, family: "full-rank" }),
  (posterior) => smc(posterior, { seed: 1, particles: 1024 }),
];

type Cell = readonly number[];
const TOLERANCE = 0.1;

const page = readFileSync(new URL("../../../../docs/bayes-approximations.md", import.meta.url), "utf8");

/** What the page says of a posterior: numbers by column, none where it was not measured. */
function statedOf(name: string): readonly Cell[] {
  const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
  assert.ok(row, `the table has no row for ${name}`);
  return row
    .split("|")
    .slice(2, -1)
    .map((cell) => (cell.match(/[\d.]+/g) ?? []).map(Number));
}

/** The largest error of a mean in standard deviations, the least and largest ratio of these, and Pareto k if there is one. */
function cellOf(fit: Fitted, name: string): Cell {
  const { summary } = referenceJson(`posteriordb/${name}/reference.json`) as {
    summary: Record<string, { mean: number; sd: number }>;
  };
  const table = fit.summary();
  const found = Object.entries(summary).map(([scalar, known]) => {
    // The reference counts from 1.
    const row = table.get(scalar.replace(/\d+(?=[\],])/g, (index) => String(Number(index) - 1)));
    assert.ok(row, scalar);
    return { error: Math.abs(row.mean - known.mean) / known.sd, ratio: row.sd / known.sd };
  });
  const ratios = found.map(({ ratio }) => ratio);
  const worst = Math.max(...found.map(({ error }) => error));
  return [worst, Math.min(...ratios), Math.max(...ratios), ...(fit.paretoK === undefined ? [] : [fit.paretoK])];
}

function shown(cell: Cell): string {
  if (cell.length === 0) return "–";
  const [mean, least, most, ...k] = cell.map((value) => value.toFixed(2));
  return [mean, `${least}–${most}`, ...k].join(", ");
}

describe("the approximations are as good as their table says", () => {
  before(() => setDefaultDevice("cpu"));
  for (const one of referenceModels.filter(({ name }) => name !== "regime_returns")) {
    const name = one.name.replace(/^.*-/, "");
    test(name, { skip: withoutReference(`posteriordb/${one.name}/reference.json`) }, async () => {
      const posterior = one.posterior(makeIn("f64", "cpu"));
      const cells: Cell[] = [];
      for (const method of methods) {
        const fit = await method(posterior);
        cells.push(cellOf(fit, one.name));
        if (fit instanceof SmcFit) console.log(`${name}: ${fit.check()}`);
      }
      console.log(`| ${name} | ${cells.map(shown).join(" | ")} |`);
      const stated = statedOf(name);
      cells.forEach((cell, column) => {
        assert.equal(stated[column]!.length, cell.length, `${name}, column ${column}`);
        cell.forEach((value, i) => {
          const differs = `${name}, column ${column}: the page says ${shown(stated[column]!)}, it is ${shown(cell)}`;
          assert.ok(Math.abs(value - stated[column]![i]!) <= TOLERANCE, differs);
        });
      });
    });
  }
});

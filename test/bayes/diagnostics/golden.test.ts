/**
 * The diagnostics of posteriordb's reference draws (10 chains × 1000 draws of 12 posteriors) equal the golden values
 * that the R package posterior gave. R-hat differs in the sixth digit where the two draws next to the median tie after
 * folding: the stored draws have 15 digits.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { summary } from "../../../src/bayes/diagnostics/summary.js";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { referenceDraws, referenceJson, withoutReference } from "../../support/reference-data.js";

const POSTERIORS = [
  "arK-arK",
  "earnings-earn_height",
  "eight_schools-eight_schools_noncentered",
  "garch-garch11",
  "gp_pois_regr-gp_regr",
  "hmm_example-hmm_example",
  "kidiq-kidscore_interaction",
  "kidiq-kidscore_momiq",
  "kilpisjarvi_mod-kilpisjarvi",
  "low_dim_gauss_mix-low_dim_gauss_mix",
  "mesquite-mesquite",
  "sblrc-blr",
];

interface Reference {
  readonly summary: Record<string, { mean: number; sd: number; q05: number; q50: number; q95: number }>;
  readonly diagnostics: {
    readonly diagnostic_information: { readonly names: string[] };
    readonly effective_sample_size_bulk: number[];
    readonly effective_sample_size_tail: number[];
    readonly r_hat: number[];
  };
}

describe("ESS and R-hat of reference draws equal the golden values", () => {
  for (const posterior of POSTERIORS) {
    const folder = `posteriordb/${posterior}`;
    test(posterior, { skip: withoutReference(`${folder}/draws.json.gz`) }, () => {
      const chains = referenceDraws(`${folder}/draws.json.gz`);
      const names = Object.keys(chains[0]!);
      const draws = Draws.from(Object.fromEntries(names.map((name) => [name, chains.map((chain) => chain[name]!)])));
      const { diagnostics, summary: expected } = referenceJson(`${folder}/reference.json`) as Reference;
      const table = summary(draws);
      assert.equal(table.rows.length, diagnostics.diagnostic_information.names.length);
      diagnostics.diagnostic_information.names.forEach((name, i) => {
        const row = table.get(name)!;
        const relative = (actual: number, golden: number) => Math.abs(actual / golden - 1);
        assert.ok(relative(row.essBulk, diagnostics.effective_sample_size_bulk[i]!) < 1e-9, `ess_bulk of ${name}`);
        assert.ok(relative(row.essTail, diagnostics.effective_sample_size_tail[i]!) < 1e-9, `ess_tail of ${name}`);
        assert.ok(Math.abs(row.rHat - diagnostics.r_hat[i]!) < 1e-5, `rhat of ${name}`);
        const { mean, sd, q05, q50, q95 } = expected[name]!;
        const moments = [
          [row.mean, mean],
          [row.sd, sd],
          [row.q5, q05],
          [row.median, q50],
          [row.q95, q95],
        ];
        for (const [actual, golden] of moments)
          assert.ok(Math.abs(actual! - golden!) < 1e-2 * sd, `moments of ${name}`);
      });
    });
  }
});

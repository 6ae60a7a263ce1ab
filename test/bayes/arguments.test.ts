/** Mistakes in calls of `pumice/bayes`: each is told in words, by the name of what was called. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  advi,
  arvizJson,
  compare,
  Draws,
  essQuantile,
  type Fit,
  loadArviz,
  loadStanCsv,
  loo,
  mcseQuantile,
  model,
  normal,
  parseArviz,
  parseStanCsv,
  pathfinder,
  saveArviz,
  saveStanCsv,
  smc,
  stanCsv,
  summary,
} from "../../src/bayes/index.js";
import { ArgumentError } from "../../src/core/errors.js";
import { distributionNames, makerOf } from "./distributions/cases.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-arguments-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "p");

const line = model(() => {
  const mu = normal(0, 1);
  return { mu, y: normal(mu, 1) };
});
const posterior = line.given({ y: [1, 2] });
let fit: Fit;
before(async () => {
  fit = await posterior.sample({ chains: 2, draws: 10, warmup: 20, device: "cpu" });
});

/** The call as someone writes it who is not type-checked. */
const wrongly = (call: (...given: never[]) => unknown, ...given: readonly unknown[]): unknown =>
  call(...(given as never[]));

const mistakes: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  "a fit as JSON": [() => JSON.stringify({ fit }), /fits that have them, are no JSON: .*arvizJson/],
  "draws as JSON": [() => JSON.stringify(fit.draws), /Draws, .* are no JSON/],
  "a pattern that no name matches": [
    () => fit.summary(/nomatch/),
    /No scalar's name matches \/nomatch\/; there are mu/,
  ],
  "essQuantile of a percentage": [
    () => essQuantile(fit.draws.scalar("mu"), 95),
    /essQuantile: 95 stands where the probability of the quantile does, a number from 0 to 1/,
  ],
  "mcseQuantile of nothing": [
    () => wrongly(mcseQuantile, fit.draws.scalar("mu")),
    /mcseQuantile: undefined stands where the probability/,
  ],
  "loo of one draw": [
    () => loo({ values: [-1, -2], chains: 1, draws: 1 }),
    /loo: there is 1 draw; it takes 2 to reweigh, and 100 to trust/,
  ],
  "saveStanCsv of a fit": [
    () => wrongly(saveStanCsv, path, fit),
    /saveStanCsv: takes draws, .* not a Fit; write \.draws/,
  ],
  "saveStanCsv, swapped": [
    () => wrongly(saveStanCsv, fit.draws, path),
    /saveStanCsv: the prefix is a string, not a Draws/,
  ],
  "saveStanCsv, an unknown option": [() => wrongly(saveStanCsv, path, fit.draws, { name: "m" }), /no option "name"/],
  "stanCsv of a chain that is not there": [
    () => stanCsv(fit.draws, 2),
    /stanCsv: there is no chain 2; they count from 0 to 1/,
  ],
  "saveArviz of draws": [
    () => wrongly(saveArviz, path, fit.draws),
    /saveArviz: .* not a Draws; write \{ posterior: draws \}/,
  ],
  "saveArviz of a fit": [
    () => wrongly(saveArviz, path, fit),
    /saveArviz: .* not a Fit; write .* fit\.saveArviz\(path\)/,
  ],
  "saveArviz of a fit in a group": [
    () => wrongly(saveArviz, path, { posterior: fit }),
    /saveArviz, posterior: takes draws, .* not a Fit; write \.draws/,
  ],
  "saveArviz, swapped": [() => wrongly(saveArviz, { posterior: fit.draws }, path), /saveArviz: the path is a string/],
  "saveArviz, an unknown group": [
    () => wrongly(saveArviz, path, { posterior: fit.draws, posterior_predictive: fit.draws }),
    /no option "posterior_predictive"/,
  ],
  "saveArviz, data that are no array": [
    () => wrongly(saveArviz, path, { posterior: fit.draws, observedData: { y: [1, 2] } }),
    /saveArviz, observedData: y is \{ shape/,
  ],
  "arvizJson of nothing": [() => wrongly(arvizJson), /arvizJson: takes draws by group, not undefined/],
  loadArviz: [() => wrongly(loadArviz), /loadArviz: the path is a string, not undefined/],
  parseArviz: [() => wrongly(parseArviz, 5), /parseArviz: the text is a string, not 5/],
  loadStanCsv: [() => wrongly(loadStanCsv, "fit_1.csv"), /loadStanCsv: takes a list of paths, .* not "fit_1\.csv"/],
  parseStanCsv: [
    () => wrongly(parseStanCsv, "a,b"),
    /parseStanCsv: takes a list of texts, one for each chain, not "a,b"/,
  ],
  "Draws.from": [() => wrongly(Draws.from, null), /Draws\.from: takes nested arrays by name, .* not null/],
  "advi of nothing": [
    () => wrongly(advi),
    /advi: takes a posterior, as model\(fn\)\.given\(observed, data\) .* not undefined/,
  ],
  "smc of options": [() => wrongly(smc, {}), /smc: takes a posterior, .* not an object/],
  "pathfinder of a model": [
    () => wrongly(pathfinder, line),
    /pathfinder: takes a posterior, not the model: call \.given/,
  ],
  "summary by number": [() => wrongly((x: never) => fit.summary(x), 5), /A filter is a name, .* not 5/],
  "summary by function": [
    () =>
      wrongly(
        (x: never) => fit.summary(x),
        () => true,
      ),
    /A filter is .* not a function/,
  ],
  "summary of a fit": [() => wrongly(summary, fit), /summary: takes draws, .* write \.draws/],
  "fit.loo of options": [
    () => wrongly((x: never) => fit.loo(x), { relativeEfficiency: 1 }),
    /loo: takes the name .* fit\.loo\(undefined, \{ relativeEfficiency: 1 \}\)/,
  ],
  "fit.loo, an unknown option": [
    () => wrongly((x: never, y: never) => fit.loo(x, y), undefined, { reff: 1 }),
    /loo: there is no option "reff"; the only one is relativeEfficiency/,
  ],
  "loo with no efficiency": [
    () => loo({ values: [1, 2], chains: 1, draws: 2 }, { relativeEfficiency: Number.NaN }),
    /loo: relativeEfficiency is NaN; it is a positive number/,
  ],
  "loo of nothing": [() => wrongly(loo, null), /loo: takes log-likelihoods, .* not null/],
  "loo of a fit": [() => wrongly(loo, fit), /loo: takes log-likelihoods, .* not a Fit; of a fit, await fit\.loo\(\)/],
  "compare of nothing": [() => wrongly(compare, null), /compare: takes results of loo by name, .* models is null/],
  "compare of fits": [() => wrongly(compare, { a: fit }), /compare: takes results of loo .* a is a Fit/],
  "compare of promises": [() => wrongly(compare, { a: fit.loo() }), /compare: .* a is a Promise/],
  save: [() => wrongly((x: never) => fit.save(x)), /save: the path is a string, not undefined/],
  resume: [() => wrongly((x: never) => posterior.resume(x)), /resume: the path is a string, not undefined/],
};

for (const [title, [call, message]] of Object.entries(mistakes)) {
  test(title, async () => {
    await assert.rejects(
      async () => await call(),
      (error: Error) => {
        assert.ok(error instanceof ArgumentError, `${error.name}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test("a fit is saved for ArviZ with what belongs to it", async () => {
  const logLikelihood = await fit.logLikelihood();
  await fit.saveArviz(path, { logLikelihood });
  const back = await loadArviz(path);
  assert.deepEqual(back.posterior.values("mu"), fit.draws.values("mu"));
  assert.deepEqual(back.logLikelihood?.values("y"), logLikelihood.values("y"));
});

test("distributions and given refuse an argument too many", () => {
  for (const name of distributionNames) {
    const nine = Array.from({ length: 9 }, () => 1);
    assert.throws(() => makerOf(name)(...nine), { name: "ArgumentError", message: new RegExp(`^${name}: takes `) });
  }
  const given = model(() => ({ mu: normal(0, 1) })).given as (...args: unknown[]) => unknown;
  assert.throws(() => given({}, {}, { normalized: false }), /^ArgumentError: given: takes 2 arguments at most/);
});

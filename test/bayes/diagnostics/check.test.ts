/** check() says what is wrong, of what, and what to try; and says so when nothing is. The summary prints as a table. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { check, type ProblemKind, shownBeyond } from "../../../src/bayes/diagnostics/check.js";
import { summary } from "../../../src/bayes/diagnostics/summary.js";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { autoregressive, independent, nested } from "../chains.js";

const [chains, length] = [4, 400];
const flat = (value: number) => Array.from({ length: chains }, () => Array<number>(length).fill(value));
const calm = {
  energy: nested(independent(chains, length, 100)),
  divergent: flat(0),
  treeDepth: flat(4),
};
const good = nested(independent(chains, length, 1));

function problemsOf(draws: Draws) {
  const found = check(draws);
  return { text: inspect(found), kinds: found.problems.map(({ kind }) => kind), ...found, ok: found.ok };
}

test("all is well where nothing is wrong, and what was looked at is named", () => {
  const { ok, text } = problemsOf(Draws.from({ mu: good }, { stats: calm, maxTreeDepth: 10 }));
  assert.ok(ok);
  assert.match(
    text,
    /^All is well: no divergences, no trajectory cut short, energies well explored, R-hat at most 1\.00\d, at/,
  );
  assert.match(problemsOf(Draws.from({ mu: good })).text, /^All is well: R-hat at most/);
});

describe("what is wrong is found", () => {
  const found = (kind: ProblemKind, message: RegExp, draws: Draws, names: string[] = []) =>
    test(kind, () => {
      const { problems } = problemsOf(draws);
      const problem = problems.find((candidate) => candidate.kind === kind);
      assert.ok(problem, `found only ${problems.map((candidate) => candidate.kind).join() || "nothing"}`);
      assert.match(problem.message, message);
      assert.ok(problem.remedy.length > 10);
      assert.deepEqual(
        problem.variables.map(({ name }) => name),
        names,
      );
    });

  found("too-few", /5 draws per chain, too few/, Draws.from({ mu: [[1, 2, 3, 4, 5]] }));

  const holed = good.map((chain, c) => chain.map((value, i) => (c === 1 && i < 3 ? Number.NaN : value)));
  found("non-finite", /mu \(3 draws\)/, Draws.from({ mu: holed, tau: good }), ["mu"]);

  const stuck = good.map((chain, c) => (c === 2 ? chain.map(() => 2) : chain));
  const zeros = flat(0);
  found("stuck", /1 chain of 4 never moved \(2\): mu/, Draws.from({ mu: stuck, zero: zeros }), ["mu"]);

  const divergent = good.map((chain) => chain.map((value) => (value < -2 ? 1 : 0)));
  const diverged = Draws.from(
    { mu: nested(independent(chains, length, 2)), tau: good },
    { stats: { ...calm, divergent } },
  );
  found("divergences", /\d+ transitions of 1600 diverged \(\d\.\d%\), mostly at small tau/, diverged, ["tau"]);

  const deep = calm.treeDepth.map((chain) => chain.map((depth, i) => (i < 2 ? 10 : depth)));
  found(
    "tree-depth",
    /8 transitions of 1600 \(0\.5%\) stopped at the maximum tree depth of 10/,
    Draws.from({ mu: good }, { stats: { ...calm, treeDepth: deep }, maxTreeDepth: 10 }),
  );

  const energy = nested(autoregressive(chains, length, 0.97, 3));
  found("energy", /below 0\.3 in 4 chains of 4/, Draws.from({ mu: good }, { stats: { ...calm, energy } }));

  const apart = good.map((chain, c) => chain.map((value) => value + c));
  found("r-hat", /R-hat is above 1\.01 for mu \(1\.\d+\)/, Draws.from({ tau: good, mu: apart }), ["mu"]);

  const slow = nested(autoregressive(chains, length, 0.9, 4));
  found("ess", /fewer than 400 effective draws, in the bulk or the tails, of mu \(\d+\)/, Draws.from({ mu: slow }), [
    "mu",
  ]);

  // Tails of 0 and 1 have no effective sample size.
  const coin = nested(independent(chains, 60, 6)).map((chain) => chain.map((value) => (value > 0 ? 1 : 0)));
  found("ess", /fewer than 400 effective draws, .* of coin \(\d+\)/, Draws.from({ coin }), ["coin"]);

  const drift = nested(independent(1, 1000, 7)).map((chain) => chain.map((value, i) => value + i / 500));
  found("r-hat", /^The halves of the chain disagree: R-hat is above 1\.01 for mu/, Draws.from({ mu: drift }), ["mu"]);

  found("one-chain", /one chain/, Draws.from({ mu: nested(independent(1, 1000, 5)) }));
});

test("the worst comes first, and a long list is cut", () => {
  const theta = good.map((chain, c) =>
    chain.map((value, i) => [...Array(8).keys()].map((k) => value + (c * k) / 8 + i / 1e9)),
  );
  const { problems } = problemsOf(Draws.from({ theta }));
  const problem = problems.find(({ kind }) => kind === "r-hat");
  assert.match(problem!.message, /theta\[7\] \(\d\.\d+\), theta\[6\] .* and 2 more\./);
  assert.equal(problem!.severity, "error");
});

test("divergences are told of by degree", () => {
  const said = (share: number) => {
    const divergent = good.map((chain, c) => chain.map((_, i) => (c * length + i < share * chains * length ? 1 : 0)));
    return check(Draws.from({ mu: good }, { stats: { ...calm, divergent } })).problems.find(
      ({ kind }) => kind === "divergences",
    )!;
  };
  assert.match(said(0.063).message, /\(6\.3%\).*, so the estimates are biased\.$/);
  assert.match(said(0.005).message, /, so the estimates may be biased\.$/);
  // One of 1600.
  assert.match(said(0.0006).message, /^1 transition of 1600 diverged .* so few bias the estimates little/);
  assert.deepEqual(
    [0.063, 0.005, 0.0006].map((share) => said(share).severity),
    ["error", "error", "warning"],
  );
});

test("a constant of the model is nothing to complain of", () => {
  const lower = good.map((chain) =>
    chain.map((value) => [
      [1, 0],
      [Math.tanh(value), 1 / Math.cosh(value)],
    ]),
  );
  assert.ok(check(Draws.from({ L: lower })).ok);
});

test("what never varies is told of, and is an error where it was to be sampled or nothing else varies", () => {
  const draws = Draws.from({ mu: good, theta: flat(3).map((chain) => chain.map((value) => [value, value])) });
  const unknown = check(draws);
  assert.ok(unknown.ok);
  assert.match(unknown.toString(), /^All is well: .*theta is the same in every draw/);
  const [problem, ...more] = check(draws, undefined, ["mu", "theta"]).problems;
  assert.deepEqual([problem!.kind, problem!.severity, more.length], ["stuck", "error", 0]);
  assert.match(problem!.message, /theta never moved: .* the same in every draw of every chain/);
  assert.ok(check(draws, undefined, ["mu"]).ok);
  const still = check(Draws.from({ mu: flat(1), tau: flat(2) })).problems;
  assert.match(still[0]!.message, /^Nothing moved: .* the same in every draw of every chain/);
});

test("what is beyond a limit is shown beyond it", () => {
  assert.equal(shownBeyond(1.0104, 1.01, 3), "1.0104");
  assert.equal(shownBeyond(1.01000001, 1.01, 3), "1.01000001");
  assert.equal(shownBeyond(1.02, 1.01, 3), "1.020");
  assert.equal(shownBeyond(399.7, 400, 0), "399.7");
  assert.equal(shownBeyond(0.2999, 0.3, 2), "0.2999");
  // Of a thousand spreads of four means, the R-hat just above the limit.
  const near = Array.from({ length: 1000 }, (_, k) =>
    good.map((chain, c) => chain.map((value) => value + (c * k) / 2000)),
  ).find((x) => {
    const [row] = summary(Draws.from({ x })).rows;
    return row!.rHat > 1.01 && row!.rHat < 1.0105;
  });
  assert.match(check(Draws.from({ x: near! })).toString(), /above 1\.01 for x \(1\.010[1-9]/);
});

test("nested R-hat decides where superchains are known", () => {
  const x = nested(autoregressive(256, 30, 0.6, 7));
  const [plain, grouped] = [check(Draws.from({ x })), check(Draws.from({ x }, { superchains: 8 }))];
  assert.deepEqual(
    plain.problems.map(({ kind }) => kind),
    ["r-hat"],
  );
  assert.match(plain.toString(), /superchains/);
  assert.ok(grouped.ok);
  assert.match(grouped.toString(), /nested R-hat at most/);
});

describe("the summary", () => {
  const draws = Draws.from({ mu: good, theta: good.map((chain) => chain.map((value) => [value * 1e5, 0])) });

  test("prints as a table with a row per scalar", () => {
    const lines = inspect(summary(draws)).split("\n");
    assert.match(lines[0]!, /^ +mean +sd +mcse_mean +q5 +median +q95 +ess_bulk +ess_tail +rhat$/);
    assert.deepEqual(
      lines.slice(1, 4).map((line) => line.split(/\s+/)[0]),
      ["mu", "theta[0]", "theta[1]"],
    );
    assert.match(lines[3]!, /^theta\[1\] +0 +0 +– +0 +0 +0 +– +– +–$/);
    assert.equal(lines[4], "4 chains × 400 draws");
    assert.equal(new Set(lines.slice(0, 4).map((line) => line.length)).size, 1, "columns are aligned");
  });

  test("stops printing somewhere", () => {
    const many = good.map((chain) => chain.slice(0, 8).map((value) => [...Array(300).keys()].map((k) => value + k)));
    const lines = inspect(summary(Draws.from({ x: many }))).split("\n");
    assert.equal(lines.length, 203);
    assert.equal(lines[201], "… and 100 more; name the variables to see them");
  });

  test("is filtered by name, and gives plain numbers", () => {
    const table = summary(draws, "theta");
    assert.deepEqual(
      [...table].map(({ name }) => name),
      ["theta[0]", "theta[1]"],
    );
    assert.equal(table.column("mean")[0], table.get("theta[0]")!.mean);
    assert.equal(table.get("mu"), undefined);
    assert.ok(table.column("nestedRHat").every(Number.isNaN));
  });
});

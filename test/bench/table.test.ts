/** What a row's samples, limit, peers and targets come to, and how it is printed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PeerFigure } from "../../bench/peers.js";
import { CLOSE, type Outcome, resultOf } from "../../bench/results.js";
import { describeTarget, isMet, type Row, ratioTo, shareOf, type Target } from "../../bench/row.js";
import { formatNumber, formatRemarks, formatTable } from "../../bench/table.js";

const row = (more: Partial<Row> = {}): Row => ({
  name: "a-row",
  title: "a row",
  unit: "µs",
  better: "lower",
  run: async () => [],
  ...more,
});

const outcome = (of: Row, samples: readonly number[], more: Partial<Outcome> = {}): Outcome => ({
  row: of,
  samples,
  share: null,
  notes: [],
  values: [],
  closeness: CLOSE,
  error: null,
  seconds: 1,
  ...more,
});

const figures = (...list: PeerFigure[]) => new Map(list.map((figure) => [figure.row, figure]));

test("a ratio above 1 means that ours is faster, whichever way the unit points", () => {
  assert.equal(ratioTo("lower", 2, 6), 3);
  assert.equal(ratioTo("higher", 6, 2), 3);
});

test("a peer that computed something else gets no figure, and the remarks say what differs", () => {
  const of = row({ peers: { torch: "torch/sum", jax: "jax/sum" } });
  const answer = (name: string, values: number[]) => ({ row: name, unit: "µs", samples: [4, 4, 4], values });
  const seen = figures(answer("torch/sum", [1.00001, -2]), answer("jax/sum", [1, 2]));
  const { peers } = resultOf(outcome(of, [2, 2, 2], { values: [1, -2] }), seen, true);
  assert.deepEqual(
    peers.map(({ ratio }) => ratio),
    [2, null],
  );
  assert.match(peers[1]!.missing!, /2 where ours is -2/);
});

test("the share of a limit comes from a rate, or from a time and the work done in it", () => {
  assert.equal(shareOf(4e12, "GB/s", 3000), 0.75);
  assert.equal(shareOf(50e12, "TFLOP/s", 25), 0.5);
  assert.ok(Math.abs(shareOf(4e12, "µs", 500, 1e9) - 0.5) < 1e-12);
  assert.throws(() => shareOf(1, "µs", 1), /needs a row in a unit of rate/);
  assert.throws(() => shareOf(1, "ESS/s", 1, 1), /ESS\/s/);
});

test("targets: bounds, ratios to the best of the peers, shares of the limit; unknown without the figure they need", () => {
  const known = { value: 2, share: 0.9, ratios: new Map(Object.entries({ torch: 1.2, jax: 3 })) };
  const verdicts: [Target, boolean | null, string][] = [
    [{ atMost: 2 }, true, "≤ 2 µs"],
    [{ atMost: 1.9 }, false, "≤ 1.9 µs"],
    [{ atLeast: 2 }, true, "≥ 2 µs"],
    [{ share: 0.85 }, true, "≥ 85 % of limit"],
    [{ ratio: 1, to: ["torch", "jax"] }, true, "≥ 1× torch and jax"],
    [{ ratio: 2, to: ["torch", "jax"] }, false, "≥ 2× torch and jax"],
    [{ ratio: 2, to: ["numpyro"] }, null, "≥ 2× numpyro"],
    [{ ratio: 1 / 3, to: ["torch"] }, true, "≥ 0.33× torch"],
  ];
  for (const [target, met, text] of verdicts) {
    assert.equal(isMet(target, known), met, text);
    assert.equal(describeTarget(target, "µs"), text);
  }
  assert.equal(isMet({ share: 0.5 }, { ...known, share: null }), null);
});

test("a peer is compared by medians; one that is absent, failed or measured something else has no ratio", () => {
  const peers = { torch: "torch/a", "torch graph": "torch/b", jax: "jax/a", numpyro: "numpyro/a", other: "other/a" };
  const result = resultOf(
    outcome(row({ peers, targets: [{ ratio: 2, to: ["torch"] }] }), [1, 2, 3]),
    figures(
      { row: "torch/a", unit: "µs", samples: [5, 6, 7] },
      { row: "torch/b", error: "out of memory" },
      { row: "jax/a", absent: "No module named 'jax'" },
      { row: "numpyro/a", unit: "ms", samples: [1] },
    ),
    true,
  );
  assert.equal(result.summary?.median, 2);
  assert.deepEqual(
    result.peers.map(({ label, ratio, missing }) => [label, ratio, missing]),
    [
      ["torch", 3, null],
      ["torch graph", null, "out of memory"],
      ["jax", null, "absent: No module named 'jax'"],
      ["numpyro", null, "measured in ms, the row is in µs"],
      ["other", null, "not asked"],
    ],
  );
  assert.deepEqual(result.targets, [{ text: "≥ 2× torch", met: true }]);
});

test("targets are left open where they are not judged, and for a row that failed", () => {
  const of = row({ targets: [{ atMost: 1 }] });
  assert.equal(resultOf(outcome(of, [5]), undefined, false).targets[0]?.met, null);
  assert.equal(resultOf(outcome(of, [], { error: "broken" }), undefined, true).targets[0]?.met, null);
  assert.equal(resultOf(outcome(of, [5]), undefined, true).targets[0]?.met, false);
});

test("numbers have three significant digits, never fewer than those before the point", () => {
  const shown = [0, 0.00123, 0.0999, 0.9996, 1, 9.999, 12.34, 99.96, 123.4, 999.7, 4310.2, 1e8, 1e-6].map(formatNumber);
  assert.deepEqual(shown, [
    ...["0", "0.00123", "0.0999", "1.00", "1.00", "10.0", "12.3", "100", "123", "1000", "4310"],
    ...["1.00e+8", "1.00e-6"],
  ]);
});

test("the table: a line per row and one more per further peer, columns aligned", () => {
  const peers = { torch: "torch/a", jax: "jax/a" };
  const found = figures({ row: "torch/a", unit: "µs", samples: [6] }, { row: "jax/a", absent: "no jax" });
  const results = [
    resultOf(outcome(row({ peers, targets: [{ atMost: 3 }] }), [2, 2, 2], { share: 0.5 }), found, true),
    resultOf(outcome(row({ name: "slow", targets: [{ atMost: 3 }] }), [4, 4, 5]), found, true),
    resultOf(outcome(row({ name: "broken" }), [], { error: "it broke", notes: ["a remark"] }), found, true),
  ];
  assert.deepEqual(formatTable(results).split("\n"), [
    "row                    ours  limit  peer                theirs  ratio  target",
    "─".repeat(85),
    "a-row   2.00 µs (2.00–2.00)   50 %  torch  6.00 µs (6.00–6.00)  3.00×  ≤ 3 µs  met",
    "                                    jax                 absent",
    "slow    4.00 µs (4.00–4.80)                                            ≤ 3 µs  MISSED",
    "broken               failed",
  ]);
  assert.equal(
    formatRemarks(results),
    "broken: failed: it broke\nbroken: a remark\nno figure from jax/a: absent: no jax",
  );
});

test("a peer's elements may differ from ours by what the row allows, and no more", () => {
  const of = row({ peers: { near: "p/near", far: "p/far" } });
  const answer = (name: string, value: number) => ({ row: name, unit: "µs", samples: [4, 4, 4], values: [value] });
  const seen = figures(answer("p/near", 1.015), answer("p/far", 1.03));
  const narrow = { values: [1], closeness: { relative: 0.02, floor: 1 } };
  const { peers } = resultOf(outcome(of, [2, 2, 2], narrow), seen, true);
  assert.deepEqual(
    peers.map(({ ratio }) => ratio),
    [2, null],
  );
  assert.match(peers[1]!.missing!, /differs from ours: 1\.03/);
});

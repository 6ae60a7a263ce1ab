/** The report: one page without a network, well-formed pictures without NaN, whatever the draws are. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Script } from "node:vm";
import type { Statistic } from "../../../src/bayes/draws/draws.js";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { model, normal } from "../../../src/bayes/index.js";
import { reportPage } from "../../../src/bayes/report/page.js";
import { report } from "../../../src/bayes/report/report.js";
import { autoregressive, independent, nested } from "../chains.js";
import { pathNumbers, readXml } from "./xml.js";

const good = nested(independent(4, 200, 1));
const stats: Partial<Record<Statistic, number[][]>> = {
  energy: nested(independent(4, 200, 2)),
  treeDepth: good.map((chain) => chain.map((_, i) => 2 + (i % 3))),
  divergent: good.map((chain) => chain.map((value) => (value > 2 ? 1 : 0))),
};

function picturesOf(page: string): string[] {
  return [...page.matchAll(/<svg.*?<\/svg>/gs)].map(([picture]) => picture);
}

/** What must hold of every report. */
function expectSound(page: string): void {
  assert.ok(page.startsWith("<!doctype html>"));
  // The words of check() may speak of NaN; nothing else may.
  assert.doesNotMatch(page.replace(/<section id="verdict">.*?<\/section>/s, ""), /NaN|undefined|>\s*Infinity/);
  // Nothing is fetched: the only address is the name of SVG.
  assert.deepEqual(
    [...new Set(page.match(/https?:[^"' )]*/g))].filter((url) => url !== "http://www.w3.org/2000/svg"),
    [],
  );
  assert.doesNotMatch(page, /<(?:link|img|iframe|object)|\bsrc=|url\(|@import/);
  for (const picture of picturesOf(page)) {
    for (const { name, attributes } of readXml(picture)) {
      if (name === "path") {
        const numbers = pathNumbers(attributes.get("d")!);
        assert.ok(
          numbers.every((value) => Number.isFinite(value) && Math.abs(value) < 3000),
          attributes.get("d"),
        );
      }
    }
  }
}

describe("a report", () => {
  const theta = good.map((chain) => chain.map((value) => [value, value ** 2, 7]));
  const draws = Draws.from({ mu: good, theta }, { stats, maxTreeDepth: 10 });
  const page = reportPage(draws, { title: "Schools <8>" });

  test("is one sound page with its title", () => {
    expectSound(page);
    assert.match(page, /<h1>Schools &lt;8&gt;<\/h1>/);
    assert.match(page, /4 chains × 200 draws, 4 variables/);
  });

  test("has a panel with four pictures for every variable that varies, and a button that picks it", () => {
    for (const name of ["mu", "theta[0]", "theta[1]"]) {
      for (const kind of ["Trace", "Rank histograms", "Density", "Autocorrelation"]) {
        assert.ok(page.includes(`<title>${kind} of ${name}</title>`), `${kind} of ${name}`);
      }
    }
    const panels = [...page.matchAll(/<article class="panel" id="(\w+)"/g)].map(([, id]) => id);
    const buttons = [...page.matchAll(/<button[^>]*data-panel="(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(panels, ["v0", "v1", "v2"]);
    assert.deepEqual(buttons, panels);
  });

  test("has every variable in its table, constants too", () => {
    assert.equal(page.match(/<tr data-position/g)?.length, 4);
    assert.match(page, /<td>theta\[2\]<\/td><td data-value="7">7.000<\/td>/);
  });

  test("has what check() says, the pairs with their divergences, and the sampler's pictures", () => {
    assert.match(page, /<div class="finding error"><p>\d+ transitions of 800 diverged/);
    assert.match(page, /<title>Pairs of mu, theta\[0\], theta\[1\]<\/title>/);
    assert.match(page, /class="dots diverged" d="M/);
    assert.match(page, /class="divergence" d="M/);
    assert.match(page, /<title>Energies visited and steps between them<\/title>/);
    assert.match(page, /<title>Tree depths<\/title>/);
  });

  test("draws what it is told to", () => {
    const some = reportPage(draws, { variables: "theta", pairs: ["mu", "theta[1]"] });
    expectSound(some);
    assert.ok(
      !some.includes("Trace of mu") && some.includes("Trace of theta[2]"),
      "also a constant that was asked for",
    );
    assert.ok(some.includes("Pairs of mu, theta[1]<"));
    assert.match(some, /1 more are not drawn/);
  });

  test("has a script that is one", () => {
    const [, script] = /<script>(.*)<\/script>/s.exec(page)!;
    assert.doesNotThrow(() => new Script(script!));
  });

  test("is written to a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-report-"));
    try {
      const path = join(folder, "out.html");
      await report(draws, path, { title: "Schools <8>" });
      assert.equal(readFileSync(path, "utf8"), page);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("a report refuses what it has no use for", async () => {
  const small = Draws.from({ mu: [[1, 2, 4, 3]], tau: [[3, 1, 2, 5]] });
  for (const [options, message] of [
    [{ titel: "x" }, /report: there is no option "titel"; there are title, variables, pairs/],
    [{ title: 5 }, /report: the option title is a string, not 5/],
    [{ pairs: 5 }, /A filter is a name, a pattern or a list of these, .* not 5/],
    [{ pairs: ["mu", 3] }, /A filter is .* not \["mu", 3\]/],
    [{ pairs: "mu" }, /report: pairs lets only mu through; a pair plot takes two/],
    [{ pairs: [] }, /report: pairs lets nothing through/],
    [{ variables: () => {} }, /A filter is .* not a function/],
    ["x", /report: "x" stands where options do.* \{ title: "x" \}/],
  ] as const) {
    assert.throws(() => reportPage(small, options as never), { name: "ArgumentError", message });
  }
  await assert.rejects(report(small, 5 as never), {
    name: "ArgumentError",
    message: /report: the path is a string, not 5/,
  });
  await assert.rejects(report("x" as never, small as never), { name: "ArgumentError" });
  assert.throws(() => reportPage({ draws: small } as never), /report: takes draws, .* not an object; write .draws/);
});

describe("a report is sound", () => {
  const cases: Record<string, () => Draws> = {
    "with names that look like markup": () =>
      Draws.from({ '<script>alert("&")</script>': good, "a'b": good.map((chain) => chain.map((value) => -value)) }),
    "of one chain": () => Draws.from({ mu: nested(independent(1, 50, 1)) }),
    "of one draw": () => Draws.from({ mu: [[1], [2]], tau: [[3], [4]] }, { stats: { energy: [[1], [2]] } }),
    "of no draws": () => new Draws({ chains: 2, variables: { mu: [], tau: [] } }),
    "of no variables": () => new Draws({ chains: 2, variables: {} }),
    "with NaN and infinities": () =>
      Draws.from({
        mu: good.map((chain) => chain.map((value, i) => (i % 7 === 0 ? Number.NaN : i % 11 === 0 ? Infinity : value))),
        all: good.map((chain) => chain.map(() => Number.NaN)),
      }),
    "of chains that never moved": () => Draws.from({ mu: good.map((chain, c) => chain.map(() => c)) }),
    "of numbers that are huge or tiny": () =>
      Draws.from({
        huge: good.map((chain) => chain.map((value) => 1e300 * value)),
        tiny: good.map((chain) => chain.map((value) => 1e-300 * value)),
        offset: good.map((chain) => chain.map((value) => 1e9 + 1e-6 * value)),
      }),
    "of heavy tails": () => Draws.from({ x: good.map((chain) => chain.map((value) => Math.sinh(9 * value))) }),
    "of a long run": () => Draws.from({ x: nested(autoregressive(2, 20_000, 0.9, 3)) }),
    "with statistics that say nothing": () =>
      Draws.from(
        { mu: good },
        {
          stats: {
            energy: good.map((chain) => chain.map(() => 1)),
            treeDepth: good.map((chain) => chain.map(() => 0)),
          },
        },
      ),
  };
  for (const [what, make] of Object.entries(cases)) test(what, () => expectSound(reportPage(make())));
});

test("thousands of chains make a page no larger than a few do", () => {
  const x = autoregressive(2000, 20, 0.5, 4);
  const draws = new Draws({ chains: 2000, variables: { x: [] } });
  draws.append({ values: { x: x.values } });
  const page = reportPage(draws);
  expectSound(page);
  assert.match(page, /chains 0 to 249.*chains 1750 to 1999/s);
  assert.match(page, /class="band light"/);
  assert.ok(page.length < 120_000, `${page.length} characters`);
});

test("of more variables than fit, the doubtful ones are drawn, and the rest is said to be missing", () => {
  const x = good.map((chain, c) =>
    chain.map((value, i) => [...Array(100).keys()].map((k) => value * (1 + k) + (k === 90 ? c : 0) * 90 + i / 1e6)),
  );
  const page = reportPage(Draws.from({ x }));
  expectSound(page);
  assert.equal(page.match(/<article class="panel"/g)?.length, 60);
  assert.ok(page.includes("Trace of x[90]<") && page.includes("Trace of x[0]<") && !page.includes("Trace of x[70]<"));
  assert.match(page, /40 more are not drawn/);
  assert.equal(page.match(/<tr data-position/g)?.length, 100);
});

test("a fit writes its own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pumice-report-"));
  try {
    const fit = await model(() => ({ mu: normal(0, 1), theta: normal(0, 1).shape(2) }))
      .given({})
      .sample({ chains: 2, draws: 50, warmup: 60, seed: 1, device: "cpu" });
    await fit.report(join(folder, "fit.html"), { title: "Of a fit" });
    const page = readFileSync(join(folder, "fit.html"), "utf8");
    expectSound(page);
    assert.match(page, /<h1>Of a fit<\/h1>/);
    assert.match(page, /2 chains × 50 draws, 3 variables/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

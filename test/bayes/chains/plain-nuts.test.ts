/**
 * The kernel against plain code, draw by draw, from the same random words: trees, selection, what is noted, step sizes,
 * metrics, starting points. Mistakes that a statistic sees in millions of draws only show here in the first few.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { factor, model, mvNormal, normal } from "../../../src/bayes/index.js";
import { backendFor, setDefaultDevice, type Tensor, tensor } from "../../../src/tensor/index.js";
import { testDevices } from "../../support/tensors.js";
import { type PlainDraw, PlainNuts, type PlainSettings, type TargetDensity } from "./plain-nuts.js";

before(() => setDefaultDevice("cpu"));

/** Not round: both words of it matter. */
const SEED = 2 ** 40 + 12345;

const PRECISION = [
  [4, 1.5, 0.3],
  [1.5, 1, -0.1],
  [0.3, -0.1, 0.2],
];
const CENTRE = [1, -2, 0.5];
const ellipse = (device = "cpu") =>
  model(({ precision }: { precision: Tensor }) => ({ q: mvNormal(CENTRE, { precision }) })).given(
    {},
    { precision: tensor(PRECISION, { dtype: "f64", device }) },
  );
/** Without constants, as all of them here are. */
const ellipseAt: TargetDensity = (q) => {
  const off = q.map((x, d) => x - CENTRE[d]!);
  const slope = PRECISION.map((row) => -row.reduce((sum, x, d) => sum + x * off[d]!, 0));
  return { logp: off.reduce((sum, x, d) => sum + 0.5 * x * slope[d]!, 0), slope };
};

/** x e^(-x²/2) beyond ½: not a number elsewhere, where points to start from are refused and trajectories diverge. */
const edge = () =>
  model(() => {
    const q = normal(0, 1).shape(1);
    factor(q.sub(0.5).log().sum());
    return { q };
  }).given({});
const edgeAt: TargetDensity = ([x]) => ({
  logp: -0.5 * x! * x! + Math.log(x! - 0.5),
  slope: [-x! + 1 / (x! - 0.5)],
});

const line = () => model(() => ({ q: normal(0, 1).shape(1) })).given({});
const lineAt: TargetDensity = ([x]) => ({ logp: -0.5 * x! * x!, slope: [-x!] });

const base = { chains: 4, draws: 30, warmup: 0, stepSize: 0.3, seed: SEED, dtype: "f64", device: "cpu" } as const;

interface Case extends SampleOptions {
  readonly windows?: readonly number[];
}

/**
 * The step size is fed back to itself by the draws it makes, and rounding errors with it; less so the higher the acceptance
 * that is asked for.
 */
const warm: Case = { warmup: 300, windows: [75, 100, 150, 250], targetAcceptance: 0.95 };

/** Draws the same with both, and compares; returns what the plain sampler has drawn, and its words. */
async function compare(
  posterior: ReturnType<typeof ellipse>,
  target: TargetDensity,
  dim: number,
  { windows = [], ...more }: Case,
): Promise<{ readonly noted: PlainDraw[]; readonly words: string[]; readonly nuts: PlainNuts[] }> {
  const options = { ...base, ...more };
  const { draws } = await posterior.sample(options);
  const nuts = Array.from({ length: options.chains }, (_, chain) => {
    const settings: PlainSettings = {
      ...{ target, dim, chain, windows, isDense: options.metric === "dense", seed: options.seed },
      ...{ stepSize: options.stepSize, warmup: options.warmup, draws: options.draws },
      ...{ maxTreeDepth: options.maxTreeDepth ?? 10, targetAcceptance: options.targetAcceptance ?? 0.8 },
      start: options.inits ? (options.inits as number[][])[chain]! : null,
    };
    return new PlainNuts(settings);
  });
  const noted = nuts.flatMap((each) => each.run());
  const near = (found: number, wanted: number, what: string) =>
    assert.ok(Math.abs(found - wanted) <= 1e-6 * (1 + Math.abs(wanted)), `${what}: ${found}, not ${wanted}`);
  noted.forEach((wanted, at) => {
    const where = `draw ${at % options.draws} of chain ${Math.floor(at / options.draws)}`;
    wanted.q.forEach((x, d) => {
      near(draws.scalar(`q[${d}]`).values[at]!, x, `q[${d}], ${where}`);
    });
    for (const name of ["lp", "energy", "acceptance", "stepSize", "treeDepth", "leapfrogs", "divergent"] as const) {
      near(draws.stat(name)!.values[at]!, wanted[name], `${name}, ${where}`);
    }
  });
  return { noted, words: nuts.flatMap(({ used }) => [...used]), nuts };
}

describe("draws are those of plain code", () => {
  test("with fine steps: trees of many depths", async () => {
    const { noted } = await compare(ellipse(), ellipseAt, 3, { stepSize: 0.15 });
    const depths = new Set(noted.map(({ treeDepth }) => treeDepth));
    assert.ok(depths.size >= 3 && Math.max(...depths) >= 5, `depths ${[...depths]}`);
  });

  test("with coarse steps", async () => {
    await compare(ellipse(), ellipseAt, 3, { stepSize: 0.8 });
  });

  test("from given points, another for each chain", async () => {
    const inits = Array.from({ length: base.chains }, (_, c) => [0.3 * c, 1 - 0.2 * c, -0.5 + 0.1 * c]);
    await compare(ellipse(), ellipseAt, 3, { stepSize: 0.4, inits });
  });

  test("with trees that are cut short", async () => {
    const { noted } = await compare(ellipse(), ellipseAt, 3, { stepSize: 0.02, maxTreeDepth: 3 });
    assert.ok(noted.every(({ treeDepth, leapfrogs }) => treeDepth === 3 && leapfrogs === 7));
  });

  test("through a warmup of three windows, with a diagonal metric", async () => {
    const { nuts } = await compare(ellipse(), ellipseAt, 3, warm);
    for (const { searched } of nuts) assert.equal(searched.length, 4);
  });

  test("through a warmup of three windows, with a dense metric", async () => {
    await compare(ellipse(), ellipseAt, 3, { ...warm, metric: "dense" });
  });

  test("from points where the density is a number, and past ones where it is not", async () => {
    const { noted } = await compare(edge(), edgeAt, 1, { chains: 16, stepSize: 1 });
    assert.ok(noted.some(({ divergent }) => divergent === 1) && noted.some(({ divergent }) => divergent === 0));
  });

  test("where the energy is off by about 1000: a divergence beyond that", async () => {
    const inits = Array.from({ length: 64 }, (_, c) => [0.5 + c / 16]);
    const { noted } = await compare(line(), lineAt, 1, { chains: 64, draws: 2, stepSize: 4, inits });
    const diverged = noted.filter(({ divergent }) => divergent === 1).length;
    assert.ok(diverged > 20 && diverged < 108, `${diverged} of 128 diverged`);
  });
});

describe("on Vulkan, draws are those of plain code", () => {
  for (const [title, more] of Object.entries({
    "a thread of a chain": { lanes: 1 },
    "a thread of a chain, with a dense metric": { lanes: 1, metric: "dense" },
    "32 lanes of a chain": { lanes: 32 },
  } as Readonly<Record<string, Case>>)) {
    test(title, async (t) => {
      if (!testDevices().includes("vulkan")) return t.skip("missing: a Vulkan device");
      if (!backendFor("vulkan").hasDoubles) return t.skip("the device has no doubles");
      const short: Case = { warmup: 25, windows: [3, 23], targetAcceptance: 0.95, draws: 15 };
      await compare(ellipse("vulkan"), ellipseAt, 3, { ...short, ...more, device: "vulkan" });
    });
  }
});

test("no random word is used twice, within a draw or across draws and chains", async () => {
  // The plain sampler refuses to use one twice, and uses what the kernel does.
  const { words } = await compare(ellipse(), ellipseAt, 3, { ...warm, warmup: 150, windows: [75, 100] });
  assert.equal(new Set(words).size, words.length);
  for (const purpose of ["init", "momentum", "direction", "leaf", "merge"]) {
    assert.ok(words.some((word) => word.includes(purpose)));
  }
});

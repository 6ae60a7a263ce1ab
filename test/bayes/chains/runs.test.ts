/** The life of a run: ended early, extended, watched, saved, killed and resumed; and options that are refused. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate, setTimeout as wait } from "node:timers/promises";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { Sampler } from "../../../src/bayes/chains/sampler.js";
import { samplingOf } from "../../../src/bayes/chains/sampling.js";
import {
  essBulk,
  essTail,
  type Fit,
  factor,
  halfNormal,
  lkjCholesky,
  loadArviz,
  loadStanCsv,
  model,
  normal,
  uniform,
} from "../../../src/bayes/index.js";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { key } from "../../../src/random/key.js";
import { setDefaultDevice, type Tensor, tensor, where } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, f64, testDevices } from "../../support/tensors.js";
import { sampled } from "./support.js";

before(() => setDefaultDevice("cpu"));
const spread = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
const samplerOf = (settings: SampleOptions): Sampler => new Sampler(samplingOf(spread, settings));
const options: SampleOptions = { chains: 3, draws: 60, warmup: 60, seed: 2, dtype: "f64", device: "cpu" };

/** A run that is ended after so many dispatches. */
async function endedAfter(dispatches: number, posterior: typeof spread, settings: SampleOptions): Promise<Fit> {
  const controller = new AbortController();
  const run = posterior.sample({ ...settings, signal: controller.signal });
  let seen = 0;
  for await (const _ of run) if (++seen === dispatches) controller.abort();
  return await run;
}

/** The fit, extended to as many draws as the whole one, is the whole one. */
async function expectGoesOnLike(whole: Fit, part: Fit): Promise<void> {
  assert.ok(part.draws.length < whole.draws.length, "nothing is left to draw");
  await part.extend(whole.draws.length - part.draws.length);
  for (const name of whole.draws.names) assert.deepEqual(part.draws.scalar(name), whole.draws.scalar(name), name);
  for (const name of whole.draws.stats) assert.deepEqual(part.draws.stat(name), whole.draws.stat(name), name);
}

describeOnTensorDevices("a run that is ended early and extended has the draws of one that was not", (device) => {
  const dtype = device === "cpu" ? "f64" : "f32";
  const settings: SampleOptions = { ...options, device, dtype };
  for (const [title, more] of Object.entries({
    "each chain for itself": {},
    "all together": { pooled: true },
    chees: { kernel: "chees" },
    "a dense metric": { metric: "dense" },
    "chees with a dense metric": { kernel: "chees", metric: "dense" },
  } as Readonly<Record<string, SampleOptions>>)) {
    test(title, async () => {
      const whole = await sampled(spread, { ...settings, ...more });
      // In the warmup, at its end, and among the draws.
      for (const dispatches of [1, 2, 3, 4, 12, 30]) {
        const part = await endedAfter(dispatches, spread, { ...settings, ...more, draws: 100000 });
        if (part.draws.length < whole.draws.length) await expectGoesOnLike(whole, part);
      }
    });
  }
});

describe("chains that are ahead of others when a run is ended", () => {
  const uneven = async () => {
    // The second chain starts far out and needs many steps; its draws come later than those of the first.
    const inits = [[0], [3000], [0]];
    const one = model(() => ({ x: normal(0, 1) })).given({});
    const settings: SampleOptions = { ...options, warmup: 0, stepSize: 0.05, inits, draws: 100000 };
    const controller = new AbortController();
    const run = one.sample({ ...settings, signal: controller.signal });
    for await (const { draws } of run) if (Math.max(...draws) - Math.min(...draws) > 5) controller.abort();
    return { part: await run, one, settings };
  };

  test("keep what they have drawn", async () => {
    const { part, one, settings } = await uneven();
    const { length } = part.draws;
    const whole = await sampled(one, { ...settings, draws: length + 40 });
    // In pieces smaller than what the first has ahead.
    for (let i = 0; i < 10; i++) await part.extend(4);
    assert.equal(part.draws.length, length + 40);
    assert.deepEqual(part.draws.values("x"), whole.draws.values("x"));
    assert.deepEqual(part.draws.stat("energy"), whole.draws.stat("energy"));
  });

  test("are saved with it", async () => {
    const { part, one, settings } = await uneven();
    const whole = await sampled(one, { ...settings, draws: part.draws.length + 20 });
    const path = join(folder, "uneven");
    await part.save(path);
    await expectGoesOnLike(whole, await one.resume(path));
  });
});

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "pumice-runs-"));
});
after(() => rm(folder, { recursive: true }));

describe("extend", () => {
  test("takes whole numbers only", async () => {
    const fit = await sampled(spread, { ...options, draws: 5 });
    for (const count of [2.5, -5, Number.NaN]) await assert.rejects(fit.extend(count), /extend: .* whole number/);
    assert.equal((await fit.extend(0)).draws.length, 5);
  });

  test("waits for its turn", async () => {
    const [fit, whole] = [await sampled(spread, { ...options, draws: 20 }), await sampled(spread, options)];
    await Promise.all([fit.extend(15), fit.save(join(folder, "between")), fit.extend(25)]);
    assert.deepEqual(fit.draws.values("tau"), whole.draws.values("tau"));
    assert.equal((await spread.resume(join(folder, "between"))).draws.length, 35);
  });

  test("ends early when a signal says so", async () => {
    const fit = await sampled(spread, { ...options, draws: 20 });
    const extended = await fit.extend(1e6, { signal: AbortSignal.timeout(150) });
    assert.ok(extended.draws.length >= 20 && extended.draws.length < 1e6);
    const controller = new AbortController();
    const own = await sampled(spread, { ...options, draws: 20, signal: controller.signal });
    setTimeout(() => controller.abort(), 150);
    assert.ok((await own.extend(1e6)).draws.length < 1e6);
    // A signal that has been used ends nothing more.
    const { length } = own.draws;
    assert.equal((await own.extend(10)).draws.length, length + 10);
  });
});

test("a signal that was given before the start ends the run there, on a kernel that is warm, too", async () => {
  await sampled(spread, { ...options, draws: 200 });
  const fit = await spread.sample({ ...options, signal: AbortSignal.abort() });
  assert.equal(fit.draws.length, 0);
  await fit.extend(10, { signal: AbortSignal.abort() });
  assert.equal(fit.draws.length, 0);
  await expectGoesOnLike(await sampled(spread, options), fit);
});

describe("an extension is a run like the first", () => {
  test("that can be watched", async () => {
    const whole = await sampled(spread, { ...options, draws: 400 });
    const fit = await sampled(spread, { ...options, draws: 100 });
    const seen: number[] = [];
    for await (const { draws } of fit.extend(300)) seen.push(Math.min(...draws));
    assert.ok(seen.length > 1 && seen.every((n, i) => n >= 100 && n >= (seen[i - 1] ?? 0)), `${seen}`);
    assert.equal(seen.at(-1), 400);
    assert.deepEqual(fit.draws.values("tau"), whole.draws.values("tau"));
  });

  test("that goes on when whoever watched turns away, since others wait for their turn", async () => {
    const fit = await sampled(spread, { ...options, draws: 10 });
    for await (const _ of fit.extend(50)) break;
    await fit.save(join(folder, "turned away"));
    assert.equal(fit.draws.length, 60);
  });

  describe("that ends first for whoever wants the fit while watching it:", () => {
    const observed = model(() => {
      const mu = normal(0, 1);
      return { mu, y: normal(mu, 1) };
    }).given({ y: f64([1, 2]) });
    type ObservedFit = Awaited<ReturnType<typeof observed.sample>>;
    const wishes: Readonly<Record<string, (fit: ObservedFit) => Promise<unknown>>> = {
      save: (fit) => fit.save(join(folder, "while watching")),
      saveStanCsv: (fit) => fit.saveStanCsv(join(folder, "while watching")),
      extend: async (fit) => await fit.extend(5),
      "watched extend": async (fit) => {
        for await (const _ of fit.extend(5));
      },
      logLikelihood: (fit) => fit.logLikelihood(),
      loo: (fit) => fit.loo(),
      predictive: (fit) => fit.predictive(key(1, { device: "cpu" })),
    };
    for (const [title, wish] of Object.entries(wishes)) {
      test(title, async () => {
        const fit = await observed.sample({ ...options, draws: 10 });
        let asked = false;
        for await (const _ of fit.extend(100)) {
          if (asked) continue;
          asked = true;
          await wish(fit);
          assert.equal(fit.draws.length, title.endsWith("extend") ? 115 : 110);
        }
        assert.ok(asked);
      });
    }

    test("another extension that was asked for before", async () => {
      const fit = await observed.sample({ ...options, draws: 10 });
      const [first, second] = [fit.extend(50), fit.extend(40)];
      for await (const _ of first) await second;
      assert.equal(fit.draws.length, 100);
    });
  });

  test("that ends at an effective sample size, of the draws before it too", async () => {
    const fit = await sampled(spread, { ...options, draws: 100 });
    await fit.extend(20000, { until: { essBulk: 400 } });
    const { length } = fit.draws;
    assert.ok(length > 100 && length < 5000, `${length} draws`);
    assert.ok(Math.min(...fit.summary().column("essBulk")) >= 400);
    await fit.extend(20000, { until: { essBulk: 400 } });
    assert.equal(fit.draws.length, length);
  });

  test("that has checkpoints, of its own or those of the run before", async () => {
    for (const before of [true, false]) {
      const kept = { checkpoint: join(folder, `extended ${before}`), checkpointSeconds: 1e-6 };
      const fit = await sampled(spread, { ...options, draws: 10, ...(before && kept) });
      await rm(kept.checkpoint, { force: true });
      await fit.extend(50, before ? {} : kept);
      const resumed = await spread.resume(kept.checkpoint);
      assert.ok(resumed.draws.length > 10 || before, `${resumed.draws.length} draws`);
      assert.equal((await resumed.extend(60 - resumed.draws.length)).draws.length, 60);
      assert.deepEqual(resumed.draws.values("mu"), fit.draws.values("mu"));
    }
  });

  test("that is a promise", async () => {
    const fit = await sampled(spread, { ...options, draws: 10 });
    const failed = await fit.extend(-1).catch((error: unknown) => error);
    assert.ok(failed instanceof ArgumentError);
    let ended = 0;
    await fit.extend(1).finally(() => ended++);
    assert.equal(ended, 1);
    // The turn of what failed is over.
    assert.equal((await fit.extend(1)).draws.length, 12);
  });

  test("that refuses what means nothing", async () => {
    const fit = await sampled(spread, { ...options, draws: 10 });
    for (const [more, message] of [
      [{ until: 400 }, /extend: until is 400/],
      [{ checkpointSeconds: 0 }, /extend: checkpointSeconds is 0/],
      [{ checkpoint: join(folder, "no", "fit") }, /extend: checkpoint cannot be written/],
      [{ draws: 5 }, /extend: there is no option "draws"/],
      [{ checkpointSeconds: 5 }, /extend: checkpointSeconds says how often/],
    ] as const) {
      await assert.rejects(fit.extend(5, more as never), message);
    }
    const path = join(folder, "refused");
    await fit.save(path);
    await assert.rejects(spread.resume(path, { until: { essBulk: 1 } } as never), /resume: there is no option "until"/);
    await assert.rejects(spread.resume(path, 5 as never), /resume: 5 stands where options do/);
  });
});

test("what resume is told holds for the runs to come", async () => {
  const path = join(folder, "told");
  await (await sampled(spread, { ...options, draws: 10 })).save(path);
  const controller = new AbortController();
  const checkpoint = join(folder, "told more");
  const fit = await spread.resume(path, { checkpoint, checkpointSeconds: 1e-6, signal: controller.signal });
  assert.deepEqual([fit.options.draws, fit.options.checkpoint], [10, checkpoint]);
  setTimeout(() => controller.abort(), 150);
  await fit.extend(1e6);
  assert.ok(fit.draws.length > 10 && fit.draws.length < 1e6);
  assert.ok((await spread.resume(checkpoint)).draws.length > 10);
});

describe("watching", () => {
  test("may stop before the run does", async () => {
    const run = spread.sample(options);
    for await (const _ of run) break;
    assert.equal((await run).draws.length, 60);
    const again = spread.sample(options);
    const waiting = again.then(({ draws }) => draws.length);
    for await (const _ of again) break;
    assert.equal(await waiting, 60);
    const twice = spread.sample(options);
    for await (const _ of twice) break;
    let seen = 0;
    for await (const _ of twice) seen++;
    assert.ok(seen > 0);
    assert.equal((await twice).draws.length, 60);
  });

  test("may wait for the fit between two steps, and others may watch the same steps", async () => {
    const run = spread.sample(options);
    const lengths: number[] = [];
    for await (const _ of run) lengths.push((await run).draws.length);
    assert.deepEqual(new Set(lengths), new Set([60]));
    const shared = spread.sample(options);
    const watched = async () => {
      const seen: number[] = [];
      for await (const { draws, warmup } of shared) seen.push(draws[0]! + warmup[0]!);
      return seen;
    };
    const [one, other, fit] = await Promise.all([watched(), watched(), shared]);
    assert.ok(one.length > 2, `${one}`);
    assert.deepEqual(one, other);
    assert.equal(fit.draws.length, 60);
    // Somebody who looked once and forgot about it.
    const begun = spread.sample(options);
    await begun[Symbol.asyncIterator]().next();
    assert.equal((await begun).draws.length, 60);
  });

  test("counts the divergences of draws that are kept, as check does, and all leapfrogs", async () => {
    const funnel = model(() => {
      const v = normal(0, 3);
      return { v, x: normal(0, v.mul(0.5).exp()).shape(4) };
    }).given({});
    const run = funnel.sample({ ...options, warmup: 150, draws: 300, targetAcceptance: 0.6 });
    let [diverged, leapfrogs] = [0, 0];
    for await (const progress of run) {
      diverged = progress.divergences.reduce((a, b) => a + b, 0);
      leapfrogs = progress.leapfrogs.reduce((a, b) => a + b, 0);
      if (progress.draws.every((n) => n === 0)) assert.equal(diverged, 0);
    }
    const { draws } = await run;
    const sum = (stat: "divergent" | "leapfrogs") => draws.stat(stat)!.values.reduce((a, b) => a + b, 0);
    assert.ok(sum("divergent") > 0);
    assert.equal(diverged, sum("divergent"));
    assert.ok(leapfrogs > sum("leapfrogs"));
  });

  test("hears at last of the effective sample size of all draws", async () => {
    const run = spread.sample({ ...options, draws: 500 });
    let last = Number.NaN;
    for await (const { ess } of run) last = ess;
    const { draws } = await run;
    assert.equal(last, Math.min(...draws.names.map((name) => essBulk(draws.scalar(name)))));
  });

  test("hears of failures, as does waiting", async () => {
    const impossible = model(() => {
      const mu = normal(0, 1);
      return { mu, y: normal(mu.mul(0).sub(1).log(), 1) };
    }).given({ y: f64([1]) });
    const run = impossible.sample(options);
    await assert.rejects(async () => {
      for await (const _ of run);
    }, ArgumentError);
    await assert.rejects(async () => await run, ArgumentError);
  });

  test("is told whether a chain never began, or was lost in the warmup", async () => {
    const never = model(() => {
      const mu = normal(0, 1);
      factor(mu.mul(0).sub(1).log());
      return { mu };
    }).given({});
    await assert.rejects(async () => await never.sample(options), /chain 0 found no point to start from in 100 tries/);
    // Finite where it starts, and nowhere else.
    const alone = model(() => {
      const mu = normal(0, 1);
      factor(where(mu.equal(0.5), 0, Number.NaN));
      return { mu };
    }).given({});
    const inits = Array.from({ length: options.chains! }, () => [0.5]);
    await assert.rejects(
      async () => await alone.sample({ ...options, inits }),
      /chain 0 was lost in the warmup, after 0 draws: at mu = 0.5 .* where its steps lead, .* the log density is NaN/,
    );
  });

  test("blocks that arrive late are in their place all the same", async () => {
    const settings = { ...options, draws: 400 };
    const sampler = samplerOf(settings) as unknown as {
      takeBlock(count: number, isEnded: boolean): Promise<unknown>;
    };
    const take = sampler.takeBlock.bind(sampler);
    let blocks = 0;
    sampler.takeBlock = async (...block) => {
      const taking = take(...block);
      if (blocks++ === 0) await wait(100);
      return await taking;
    };
    const run = (sampler as unknown as Sampler).run(true);
    let step = await run.next();
    while (!step.done) step = await run.next();
    assert.ok(blocks > 3, `${blocks} blocks`);
    const whole = await spread.sample(settings);
    for (const name of whole.draws.names)
      assert.deepEqual(step.value.draws.scalar(name), whole.draws.scalar(name), name);
  });

  test("a chain starts where it is told to, or not at all", async () => {
    const inside = model(() => {
      const width = uniform(0, 10);
      return { width, y: uniform(0, width) };
    }).given({ y: [3] });
    const settings = { ...options, draws: 1, warmup: 0, stepSize: 1e-9, maxTreeDepth: 1 };
    const widths = [4, 9, 5];
    const inits = widths.map((width) => [Math.log(width / (10 - width))]);
    const fit = await inside.sample({ ...settings, inits });
    fit.draws.values("width").forEach((width, chain) => {
      assert.ok(Math.abs(width - widths[chain]!) < 1e-6, `chain ${chain} at ${width}`);
    });
    await assert.rejects(
      async () => await inside.sample({ ...settings, inits: [inits[0]!, [-3], inits[2]!] }),
      /chain 1 cannot start where inits\[1\] is: the log density is -Infinity: y/,
    );
  });

  test("a density that is too wide is said to be so, and a narrow one is sampled", async () => {
    const of = (sd: number) => model(() => ({ x: normal(0, sd) })).given({});
    await assert.rejects(async () => await of(1e12).sample(options), /does not fall off within millions/);
    const { draws } = await of(1e-60).sample({ ...options, draws: 1000, warmup: 500 });
    // Of 3000 draws of x², at an effective size of at least 300: within four standard errors.
    const squares = Array.from(draws.values("x"), (x) => (x / 1e-60) ** 2);
    const mean = squares.reduce((sum, square) => sum + square, 0) / squares.length;
    assert.ok(Math.abs(mean - 1) < 4 * Math.sqrt(2 / 300), `mean square ${mean}`);
  });
});

describe("an effective sample size to reach", () => {
  const settings: SampleOptions = { ...options, draws: 4000, until: { essBulk: 300 } };

  test("is that of what varies: not of the corner of a correlation matrix, nor of a constant", async () => {
    const posterior = model(() => {
      const L = lkjCholesky(2, 2);
      return { L, half: L.at(0, 0).mul(0.5) };
    }).given({});
    const run = posterior.sample(settings);
    let last = Number.NaN;
    for await (const { ess } of run) last = ess;
    const { draws } = await run;
    assert.ok(draws.length < 4000, `${draws.length} draws`);
    assert.ok(last > 0, `an effective sample size of ${last} so far`);
    assert.ok(essBulk(draws.scalar("L[1,0]")) >= 300);
  });

  test("may be that of the tails, or both", async () => {
    const least = (fit: Fit, of: typeof essBulk) =>
      Math.min(...fit.draws.names.map((name) => of(fit.draws.scalar(name))));
    const tails = await spread.sample({ ...settings, until: { essTail: 300 } });
    assert.ok(tails.draws.length < 4000 && least(tails, essTail) >= 300);
    const both = await spread.sample({ ...settings, until: { essBulk: 50, essTail: 500 } });
    assert.ok(both.draws.length < 4000 && least(both, essTail) >= 500 && least(both, essBulk) >= 50);
    assert.ok(both.draws.length > tails.draws.length);
  });

  test("of the tails is that of the bulk for what is 0 or 1", async () => {
    const coin = model(() => {
      const x = normal(0, 1);
      return { x, isPositive: x.greater(0).cast("f64") };
    }).given({});
    const { draws } = await coin.sample({ ...settings, draws: 20000, until: { essTail: 400 } });
    assert.ok(draws.length < 5000, `${draws.length} draws`);
    assert.ok(essTail(draws.scalar("x")) >= 400 && essBulk(draws.scalar("isPositive")) >= 400);
  });

  test("is never reached by what is not finite, nor where nothing moves", async () => {
    const infinite = model(() => {
      const x = normal(0, 1);
      return { x, none: x.mul(0).add(1).div(0), odd: x.sqrt() };
    }).given({});
    assert.equal((await infinite.sample({ ...settings, draws: 500 })).draws.length, 500);
    const only = model(() => {
      const x = normal(0, 1);
      return { x, none: x.mul(0).add(1).div(0) };
    }).given({});
    assert.equal((await only.sample({ ...settings, draws: 500 })).draws.length, 500);
    // Steps so long that all are rejected.
    const still = {
      ...settings,
      draws: 500,
      warmup: 0,
      stepSize: 1e9,
      inits: [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
    };
    assert.equal((await spread.sample(still)).draws.length, 500);
  });
});

describe("the line of progress", () => {
  /** What a run writes to a terminal. */
  async function written(run: () => Promise<unknown>): Promise<string> {
    const { stderr } = process;
    const [isTTY, write] = [stderr.isTTY, stderr.write];
    let text = "";
    stderr.isTTY = true;
    stderr.write = (part: string | Uint8Array) => {
      text += part;
      return true;
    };
    try {
      await run();
    } finally {
      Object.assign(stderr, { isTTY, write });
    }
    return text;
  }

  test("ends with the run, also where that fails", async () => {
    const whole = await written(async () => await spread.sample({ ...options, progress: true }));
    assert.match(whole, /sampling █+ 100 % [^\n]*\n$/);
    // A function of the model's that fails when it runs again, for the first block.
    let breaks = false;
    const failing = model(() => {
      if (breaks) throw new Error("no more");
      return { mu: normal(0, 1) };
    }).given({});
    const run = failing.sample({ ...options, progress: true });
    breaks = true;
    assert.match(await written(() => assert.rejects(async () => await run, /no more/)), / s\n$/);
    const impossible = model(() => {
      const mu = normal(0, 1);
      return { mu, y: normal(mu.mul(0).sub(1).log(), 1) };
    }).given({ y: f64([1]) });
    const never = impossible.sample({ ...options, progress: true });
    assert.match(await written(() => assert.rejects(async () => await never)), /^$|\n$/);
  });
});

test("room is made for draws as they come, not for all that may be wanted", async () => {
  const fit = await spread.sample({ ...options, draws: 2 ** 31 - 1, until: { essBulk: 100 } });
  assert.ok(fit.draws.length < 2000, `${fit.draws.length} draws`);
});

describe("a saved fit", () => {
  const line = model(({ x }: { x: Tensor }) => {
    const b = normal(0, 1);
    return { b, y: normal(x.mul(b), 1) };
  });
  const ofLine = (y: number[], x = [1, 2, 3]) => line.given({ y: f64(y) }, { x: f64(x) });

  test("keeps how long the trajectories of chees are", async () => {
    const settings: SampleOptions = { ...options, chains: 8, kernel: "chees" };
    const [whole, part] = [await sampled(spread, settings), await sampled(spread, { ...settings, draws: 20 })];
    await part.save(join(folder, "chees"));
    await expectGoesOnLike(whole, await spread.resume(join(folder, "chees")));
  });

  test("of a pooled warmup that was not finished finishes it", async () => {
    const settings: SampleOptions = { ...options, pooled: true };
    const part = await endedAfter(2, spread, settings);
    assert.equal(part.draws.length, 0);
    await part.save(join(folder, "pooled"));
    await expectGoesOnLike(await sampled(spread, settings), await spread.resume(join(folder, "pooled")));
  });

  test("may have been given starting points as a tensor", async () => {
    const inits = f64([
      [0.1, 0.2],
      [0.3, 0.4],
      [0.5, 0.6],
    ]);
    const settings = { ...options, inits };
    const [whole, part] = [await sampled(spread, settings), await sampled(spread, { ...settings, draws: 20 })];
    await part.save(join(folder, "inits"));
    await expectGoesOnLike(whole, await spread.resume(join(folder, "inits")));
  });

  test("may have been given them in arrays of doubles, or as points of their own", async () => {
    const rows = [Float64Array.of(0.1, 0.2), f64([0.3, 0.4]), [0.5, 0.6]];
    const same = await sampled(spread, { ...options, inits: rows });
    const plain = await sampled(spread, {
      ...options,
      inits: f64([
        [0.1, 0.2],
        [0.3, 0.4],
        [0.5, 0.6],
      ]),
    });
    assert.deepEqual(same.draws.values("tau"), plain.draws.values("tau"));
  });

  test("goes on with its own data and model only", async () => {
    const path = join(folder, "line");
    await (await sampled(ofLine([1, 2, 3]), { ...options, draws: 10 })).save(path);
    assert.equal((await ofLine([1, 2, 3]).resume(path)).draws.length, 10);
    await assert.rejects(ofLine([1, 2, 4]).resume(path), /other data/);
    await assert.rejects(ofLine([1, 2, 3], [1, 2, 5]).resume(path), /other data/);
    const slope = model(({ x }: { x: Tensor }) => {
      const slope = normal(0, 1);
      return { slope, y: normal(x.mul(slope), 1) };
    }).given({ y: f64([1, 2, 3]) }, { x: f64([1, 2, 3]) });
    await assert.rejects(slope.resume(path), /fit is of b; this posterior has slope/);
    const wider = model(({ x }: { x: Tensor }) => {
      const b = normal(0, 2);
      return { b, y: normal(x.mul(b), 1) };
    }).given({ y: f64([1, 2, 3]) }, { x: f64([1, 2, 3]) });
    await assert.rejects(wider.resume(path), /another kernel/);
  });

  test("that was cut short, changed or never one is refused as such", async () => {
    const path = join(folder, "whole");
    await (await sampled(spread, { ...options, draws: 10 })).save(path);
    const whole = await readFile(path);
    const broken = join(folder, "broken");
    const flipped = Buffer.from(whole);
    flipped[whole.length - 100]! ^= 1;
    for (const contents of [
      whole.subarray(0, whole.length - 1),
      flipped,
      whole.subarray(0, 40),
      Buffer.from("{}"),
      Buffer.from(""),
    ]) {
      await writeFile(broken, contents);
      await assert.rejects(spread.resume(broken), FormatError);
    }
    await assert.rejects(spread.resume(join(folder, "absent")), FormatError);
  });

  test("or another that cannot be written or read is named as it was given", async () => {
    const fit = await sampled(spread, { ...options, draws: 10 });
    const nowhere = join(folder, "none", "x");
    const writers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
      "save: the fit": (path) => fit.save(path),
      "report: the page": (path) => fit.report(path),
      "saveArviz: the draws": (path) => fit.saveArviz(path),
      "saveStanCsv: the draws": (path) => fit.saveStanCsv(path),
    };
    const said = (operation: () => Promise<unknown>): Promise<Error> =>
      operation().then(
        () => assert.fail("it is written"),
        (error) => error,
      );
    for (const [what, write] of Object.entries(writers)) {
      const isCsv = what.startsWith("saveStanCsv");
      const error = await said(() => write(nowhere));
      assert.ok(error instanceof ArgumentError, `${error}`);
      const named = isCsv ? `${nowhere}_1.csv` : nowhere;
      assert.equal(error.message, `${what} cannot be written to ${named}: there is no folder ${join(folder, "none")}.`);
      // Prefixes that end in a slash, or nothing, are names of files as well.
      if (isCsv) continue;
      assert.equal(
        (await said(() => write(folder))).message,
        `${what} cannot be written to ${folder}: it is a folder.`,
      );
      assert.equal((await said(() => write(""))).message, `${what} cannot be written to : it is an empty name.`);
    }
    const readers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
      loadArviz: (path) => loadArviz(path),
      loadStanCsv: (path) => loadStanCsv([path]),
    };
    for (const [what, read] of Object.entries(readers)) {
      const error = await said(() => read(nowhere));
      assert.ok(error instanceof FormatError, `${error}`);
      assert.equal(error.message, `${what}: ${nowhere} cannot be read: there is no folder ${join(folder, "none")}.`);
      const absent = join(folder, "absent");
      assert.equal(
        (await said(() => read(absent))).message,
        `${what}: ${absent} cannot be read: there is no such file.`,
      );
      assert.equal((await said(() => read(folder))).message, `${what}: ${folder} cannot be read: it is a folder.`);
    }
    const missing = await said(() => spread.resume(nowhere));
    assert.equal(missing.message, `resume: ${nowhere} cannot be resumed: there is no folder ${join(folder, "none")}.`);
  });

  test("replaces the one before at once, and leaves nothing beside it", async () => {
    const own = await mkdtemp(join(folder, "own-"));
    const fit = await sampled(spread, { ...options, draws: 10 });
    await fit.save(join(own, "fit"));
    await fit.save(join(own, "fit"));
    assert.deepEqual(await readdir(own), ["fit"]);
    await assert.rejects(fit.save(join(own, "no", "such", "folder")));
    // What a process that was killed while it wrote has left goes, what one that lives is writing stays.
    const { pid } = spawnSync(process.execPath, ["--version"]);
    for (const part of [`fit.${pid}.part`, `fit.${process.ppid}.part`, `other.${pid}.part`])
      await writeFile(join(own, part), "");
    await fit.save(join(own, "fit"));
    assert.deepEqual((await readdir(own)).sort(), ["fit", `fit.${process.ppid}.part`, `other.${pid}.part`].sort());
  });
});

describeOnTensorDevices("a run that is killed goes on from its last checkpoint", (device) => {
  const own: SampleOptions = { ...options, device, dtype: device === "cpu" ? "f64" : "f32" };
  const kinds = { "each chain for itself": {}, chees: { kernel: "chees" } };
  for (const [title, more] of Object.entries(kinds as Readonly<Record<string, SampleOptions>>)) {
    test(title, async () => {
      const settings: SampleOptions = { ...own, ...more };
      const whole = await sampled(spread, settings);
      const checkpoint = join(folder, `checkpoint ${device} ${title}`);
      let resumptions = 0;
      for (const dispatches of [2, 10, 20]) {
        // A run that nobody drives any further is as good as killed.
        const run = samplerOf({ ...settings, checkpoint, checkpointSeconds: 1e-6 }).run(true);
        for (let i = 0; i < dispatches; i++) if ((await run.next()).done) break;
        const resumed = await spread.resume(checkpoint);
        if (resumed.draws.length === whole.draws.length) continue;
        resumptions++;
        await expectGoesOnLike(whole, resumed);
      }
      assert.ok(resumptions > 0);
    });
  }
});

describe("a checkpoint that cannot be written", () => {
  const warnings = (): { readonly seen: Error[]; stop(): void } => {
    const seen: Error[] = [];
    const note = (warning: Error) => seen.push(warning);
    process.on("warning", note);
    return { seen, stop: () => process.off("warning", note) };
  };

  test("is refused before anything runs, where that can be known", async () => {
    const own = await mkdtemp(join(folder, "own-"));
    const told = (path: string) => () => spread.sample({ ...options, checkpoint: path });
    assert.throws(told(join(own, "no", "fit")), (error: Error) => {
      assert.ok(error instanceof ArgumentError);
      assert.match(error.message, /^sample: checkpoint cannot be written to [^:]*fit: there is no folder .*no\.$/);
      return true;
    });
    assert.throws(told(own), /sample: checkpoint cannot be written to .*: it is a folder/);
    assert.throws(told(""), ArgumentError);
    assert.doesNotThrow(told(join(own, "fit")));
    assert.deepEqual(await readdir(own), []);
  });

  test("later, is warned of once, and the run goes on", async () => {
    const own = await mkdtemp(join(folder, "own-"));
    const warned = warnings();
    const run = spread.sample({ ...options, checkpoint: join(own, "fit"), checkpointSeconds: 1e-6 });
    await rm(own, { recursive: true });
    const fit = await run;
    await setImmediate();
    warned.stop();
    assert.deepEqual(fit.draws.values("mu"), (await sampled(spread, options)).draws.values("mu"));
    assert.equal(warned.seen.length, 1);
    assert.match(
      warned.seen[0]!.message,
      /^sample: a checkpoint cannot be written to [^:]*fit: there is no folder .* The run goes on without/,
    );
  });
});

test("a run that is killed in the middle of a block has kept what every chain had", async () => {
  const checkpoint = join(folder, "in the middle");
  const settings: SampleOptions = { ...options, draws: 100000 };
  const run = samplerOf({ ...settings, checkpoint, checkpointSeconds: 1e-6 }).run(false);
  let kept = 0;
  while (kept < 20) kept = Math.min(...((await run.next()).value as { draws: Int32Array }).draws);
  const resumed = await spread.resume(checkpoint);
  assert.ok(resumed.draws.length >= kept, `${resumed.draws.length} draws of ${kept}`);
  await expectGoesOnLike(await sampled(spread, { ...settings, draws: resumed.draws.length + 30 }), resumed);
});

test("options that mean nothing are refused before anything runs", () => {
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ stepSize: Number.NaN }, /stepSize is NaN; it is a positive number/],
    [{ stepSize: -1, warmup: 0 }, /stepSize is -1/],
    [{ stepSize: 0 }, /stepSize is 0/],
    [{ metric: "dens" }, /metric is "dens"; it is "diagonal" or "dense"/],
    [{ kernel: "gibbs" }, /kernel is "gibbs"/],
    [{ dtype: "f16" }, /dtype is "f16"/],
    [{ energies: "f16" }, /energies is "f16"/],
    [{ draw: 100 }, /no option "draw"; there are chains, draws/],
    [{ seed: 1.5 }, /seed is 1.5/],
    [{ seed: Number.NaN }, /seed is NaN/],
    [{ seed: 2 ** 60 }, /seed is 1152921504606847000; it is a whole number between -2\^53 and 2\^53/],
    [
      { chains: 3e8 },
      /sample: 300000000 chains of 2 free numbers take a buffer of \d+\.\d GiB, and one has \d\.\d GiB/,
    ],
    [{ chains: 3e7, metric: "dense" }, /or use a diagonal metric/],
    [{ until: { essBulk: Number.NaN } }, /until.essBulk is NaN/],
    [{ until: {} }, /until says nothing; write \{ essBulk: 400 \}/],
    [{ until: { ess: 400 } }, /sample, until: there is no option "ess"; there are essBulk, essTail/],
    [{ until: { essTail: -1 } }, /until.essTail is -1/],
    [{ until: { essBulk: "400" } }, /sample, until: the option essBulk is a number, not "400"/],
    [{ draws: 2.5 }, /draws is 2.5/],
    [
      {
        inits: [
          [0, 0],
          [0, Number.NaN],
          [0, 0],
        ],
      },
      /inits\[1\]\[1\] is NaN/,
    ],
    [{ inits: [[0], [0, 0, 0], [0, 0]] }, /inits are 3 chains × 2 free numbers/],
    [{ inits: [{ mu: 0, tau: 1 }] }, /inits are 3 chains × 2 free numbers.*posterior\.unconstrain\(values\)/],
    [{ superchains: 2 }, /superchains is 2/],
    [{ checkpointSeconds: 0 }, /checkpointSeconds is 0/],
    [{ checkpointSeconds: 5 }, /sample: checkpointSeconds says how often, and checkpoint not where/],
    [[], /sample: \[\] stands where options do/],
    [{ targetAcceptance: 1 }, /targetAcceptance is 1/],
    [{ signal: 3 }, /the option signal is an AbortSignal, not 3/],
    [{ progress: "yes" }, /the option progress is true or false, not "yes"/],
    [{ pooled: 1 }, /the option pooled is true or false, not 1/],
    [{ device: 0 }, /the option device is a string, not 0/],
    [{ checkpoint: 7 }, /the option checkpoint is a string, not 7/],
    [{ steps: 8 }, /steps is 8; it is for \{ kernel: "hmc" \}.* nuts/],
    [{ steps: 8, kernel: "chees" }, /steps is 8; it is for \{ kernel: "hmc" \}.* chees/],
    [{ pooled: false, kernel: "chees" }, /pooled is false; it is true with chees, whose trajectories/],
    [{ chains: 1, kernel: "chees" }, /chains is 1; it is 2 or more with chees/],
    [{ maxTreeDepth: 8, kernel: "chees" }, /maxTreeDepth is 8; it is for \{ kernel: "nuts" \}.* chees/],
    [{ maxTreeDepth: 8, kernel: "hmc" }, /maxTreeDepth is 8; it is for \{ kernel: "nuts" \}.* hmc/],
    [{ until: 400 }, /until is 400; it is \{ essBulk: … \}, \{ essTail: … \} or both/],
    [{ lanes: 3 }, /lanes is 3; it is a power of two/],
    [{ lanes: 2 }, /lanes is 2; on the CPU a chain has one thread\. Leave lanes out, or give a Vulkan device\./],
    [{ lanes: 4 }, /lanes is 4; on the CPU a chain has one thread/],
    [{ lanes: 4, metric: "dense" }, /lanes is 4; on the CPU/],
  ];
  for (const [more, message] of refused) {
    assert.throws(
      () => spread.sample((Array.isArray(more) ? more : { ...options, ...more }) as SampleOptions),
      (error: Error) => {
        assert.ok(error instanceof ArgumentError, error.message);
        assert.match(error.message, message);
        return true;
      },
    );
  }
});

test("a chain with a dense metric has one thread on a GPU, too", {
  skip: testDevices().includes("vulkan") ? false : "missing: a Vulkan device",
}, () => {
  assert.throws(
    () => spread.sample({ ...options, dtype: "f32", device: "vulkan", lanes: 32, metric: "dense" }),
    /sample: lanes is 32; with a dense metric a chain has one thread/,
  );
});

test("what stands where options do, and is none, is said so", async () => {
  assert.throws(() => spread.sample(100 as never), /sample: 100 stands where options do/);
  const fit = await sampled(spread, { ...options, draws: 5 });
  await assert.rejects(fit.extend(5, { signal: 3 } as never), /extend: the option signal is an AbortSignal, not 3/);
  await assert.rejects(fit.extend(5, { signals: 3 } as never), /extend: there is no option "signals"/);
});

describeOnTensorDevices("data go where a run is told to be", (device) => {
  test("from there to the CPU, and in another dtype", async () => {
    const here = (values: number[]) => tensor(values, { device });
    const posterior = model(({ x }: { x: Tensor }) => {
      const b = normal(0, 1);
      return { b, y: normal(x.mul(b), 1) };
    }).given({ y: here([1, 2, 3]) }, { x: here([1, 2, 3]) });
    const fit = await posterior.sample({ ...options, device: "cpu", dtype: "f64", draws: 400 });
    assert.ok(Math.abs(fit.summary("b").rows[0]!.mean - 14 / 15) < 0.1);
  });
});

test("trajectories of hmc have one length on average, and do not return to where they began", async () => {
  const fit = await model(() => ({ x: normal(0, 1).shape(3) }))
    .given({})
    .sample({ ...options, chains: 4, draws: 1000, warmup: 300, kernel: "hmc" });
  const lengths = fit.draws.stat("leapfrogs")!.values;
  const mean = lengths.reduce((sum, n) => sum + n, 0) / lengths.length;
  // The lengths are the same for all chains: 1000 numbers from 1 to 31, whose standard deviation is 8.9.
  assert.ok(Math.abs(mean - 16) < (4 * 8.95) / Math.sqrt(1000), `${mean} steps`);
  for (const { essBulk } of fit.summary()) assert.ok(essBulk > 1000, `an effective sample size of ${essBulk}`);
});

/**
 * Models whose steps take more rounds of loops than a software driver lets a thread go, against closed forms: what it would
 * cut off is written so that it does not, or refused.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { factor, model, normal } from "../../../src/bayes/index.js";
import { UnsupportedError } from "../../../src/core/errors.js";
import { backendFor, setDefaultDevice, type Tensor, tensor, zeros } from "../../../src/tensor/index.js";
import { scan } from "../../../src/transforms/control.js";
import { devicesWithDoubles } from "../../support/tensors.js";
import { expectExact, sampled } from "./support.js";

before(() => setDefaultDevice("cpu"));

const given = (device: string) => ({ dtype: "f64", device }) as const;
const observed = (n: number): number[] => Array.from({ length: n }, (_, i) => 2 * Math.sin(i * 12.9898) + 1);
const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);

/** Observations of spread 1 around a mean. */
const mean = (y: readonly number[], device: string) =>
  model(() => {
    const mu = normal(0, 10);
    return { mu, y: normal(mu, 1).shape(y.length) };
  }).given({ y: tensor([...y], given(device)) });

for (const device of devicesWithDoubles()) {
  describe(`steps of many rounds, ${device}`, () => {
    const close = (found: number, expected: number, what: string) =>
      assert.ok(Math.abs(found - expected) <= 1e-10 * Math.abs(expected), `${what}: ${found}, not ${expected}`);

    for (const n of [70_000, 300_000]) {
      const y = observed(n);

      test(`leapfrog over ${n} observations ends where arithmetic does`, async () => {
        const eps = 1e-4;
        const steps = 12;
        const at = given(device);
        const chains = mean(y, device).leapfrog(tensor([0.9], at), tensor([0.1], at), { eps, steps });
        const slope = (mu: number) => sum(y) - n * mu - mu / 100;
        let [q, p] = [0.9, 0.1];
        const [qs, grads] = [await chains.q.array(), await chains.grad.array()] as [number[][], number[][]];
        const logps = (await chains.logp.array()) as number[];
        assert.equal(qs.length, steps);
        for (let step = 0; step < steps; step++) {
          p += (eps / 2) * slope(q);
          q += eps * p;
          p += (eps / 2) * slope(q);
          close(qs[step]![0]!, q, `q ${step}`);
          assert.ok(Math.abs(grads[step]![0]! - slope(q)) < 1e-6, `slope ${step}`);
          const squares = sum(y.map((each) => (each - q) ** 2));
          const density = -(n + 1) * 0.5 * Math.log(2 * Math.PI) - Math.log(10) - q ** 2 / 200 - squares / 2;
          close(logps[step]!, density, `log density ${step}`);
        }
      });

      test(`the mean of ${n} observations has its posterior`, async () => {
        const fit = await sampled(mean(y, device), { chains: 4, draws: 100, warmup: 100, seed: 3 });
        const precision = n + 0.01;
        expectExact(fit, "mu", sum(y) / precision, 1 / precision);
      });
    }

    test("several lanes share what is too much for one", async () => {
      const n = 1_000_000;
      const y = observed(n);
      const fit = await sampled(mean(y, device), { chains: 2, draws: 30, warmup: 40, seed: 3, ...fewLanes(device) });
      expectExact(fit, "mu", sum(y) / (n + 0.01), 1 / (n + 0.01));
    });

    for (const [what, write] of Object.entries({
      cumsum: (y: Tensor, mu: Tensor) => y.sub(mu).cumsum(),
      scan: (y: Tensor, mu: Tensor) =>
        scan(
          (before: Tensor, x: Tensor) => {
            const next = before.add(x.sub(mu));
            return [next, next];
          },
          zeros([], given(device)),
          y,
        )[1],
    })) {
      test(`${what} over 70,000 goes to its end`, async () => {
        const y = observed(70_000);
        // The last total is Σy - nμ, which is to be 0.
        const posterior = model(({ y }: { y: Tensor }) => {
          const mu = normal(0, 10);
          factor(write(y, mu).at(-1).div(y.shape[0]).square().mul(-0.5));
          return { mu };
        }).given({}, { y: tensor(y, given(device)) });
        const { grad } = posterior.leapfrog(tensor([0.3], given(device)), zeros([1], given(device)), {
          eps: 0,
          steps: 1,
        });
        close(((await grad.array()) as number[][])[0]![0]!, sum(y) / y.length - 0.3 - 0.3 / 100, "slope");
      });
    }

    for (const dim of [20, 50]) {
      test(`a dense metric of ${dim} dimensions is found and used`, async () => {
        const options: SampleOptions = { chains: 8, draws: 60, warmup: 250, seed: 1, metric: "dense", maxTreeDepth: 6 };
        const posterior = model(({ zero }: { zero: Tensor }) => ({ x: normal(zero, 1).shape(dim) })).given(
          {},
          { zero: zeros([], given(device)) },
        );
        const fit = await sampled(posterior, options);
        const all = fit.draws.names.flatMap((name) => Array.from(fit.draws.scalar(name).values));
        const variance = sum(all.map((x) => x * x)) / all.length;
        // Draws of eight chains are hardly dependent: the spread of the estimate, with a fifth of them as good as new.
        const error = Math.sqrt((2 * 5) / all.length);
        assert.ok(Math.abs(variance - 1) < 4 * error, `${variance}, known to ${error}`);
      });
    }

    test("what no way of writing makes short enough is refused before it runs", (t) => {
      if (backendFor(device).maxLoopRounds === Infinity) return t.skip("this device lets loops go to their end");
      const wide = model(({ zero }: { zero: Tensor }) => ({ x: normal(zero, 1).shape(300) })).given(
        {},
        { zero: zeros([], given(device)) },
      );
      assert.throws(
        () => wide.sample({ metric: "dense" }),
        (error: Error) => {
          assert.ok(error instanceof UnsupportedError);
          assert.match(error.message, /rounds of loops .*wrong\. Give \{ device: "cpu" \}/);
          return true;
        },
      );
    });
  });
}

/** The CPU has no lanes to share with; elsewhere they are chosen by themselves, or where nothing limits them given here. */
function fewLanes(device: string): SampleOptions {
  return device === "cpu" || backendFor(device).maxLoopRounds < Infinity ? {} : { lanes: 32 };
}

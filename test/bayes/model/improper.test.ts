/** Models without a posterior, and densities that are not finite: samplers say which part of the model is to blame. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  above,
  advi,
  ar,
  custom,
  factor,
  flat,
  gaussianRandomWalk,
  halfNormal,
  interval,
  mixture,
  model,
  normal,
  ordered,
  positive,
  simplex,
  smc,
  uniform,
} from "../../../src/bayes/index.js";
import { setDefaultDevice, type Tensor, where, zeros } from "../../../src/tensor/index.js";
import { f64, numbersOf } from "../../support/tensors.js";

// Models below make tensors of their own, which go to the default device.
before(() => setDefaultDevice("cpu"));
const short = { chains: 1, draws: 5, warmup: 5 } as const;

describe("a flat variable that nothing pins down", () => {
  const improper = {
    "by itself": () => ({ x: flat() }),
    "with a boundary": () => ({ x: flat(positive) }),
    "of ordered numbers": () => ({ x: flat(ordered).shape(3) }),
    "beside a proper one": () => ({ x: flat(), z: normal(0, 1) }),
    "by a density of one's own": () => ({ x: custom({ logDensity: (x) => zeros(x.shape) }) }),
    "by a density of others": () => {
      const z = normal(0, 1);
      return { z, x: custom({ logDensity: (x) => z.square().neg().broadcastTo(x.shape) }) };
    },
    "in a mixture": () => ({ x: mixture([0.5, 0.5], [flat(), flat()]) }),
    "above one that data do not reach": () => {
      const x = flat();
      return { x, z: normal(normal(x, 1), 1) };
    },
    "as the start of a walk": () => ({ x: gaussianRandomWalk(1, { steps: 3, start: flat() }) }),
    "as the start of an autoregression": () => ({ x: ar([0.5], 1, { steps: 3, start: flat() }) }),
    "as components of a mixture": () => ({ x: mixture([0.5, 0.5], [flat(), flat()]) }),
    "as one of them": () => ({ x: mixture([0.5, 0.5], [normal(0, 1), flat()]) }),
    "as a mixture at the start of a walk": () => ({
      x: gaussianRandomWalk(1, { steps: 3, start: mixture([0.5, 0.5], [normal(0, 1), flat()]) }),
    }),
  };
  for (const [title, fn] of Object.entries(improper)) {
    test(title, async () => {
      const posterior = model(fn as () => Record<string, Tensor>).given({});
      assert.throws(
        () => posterior.sample(short),
        /^ArgumentError: x: (flat|custom|mixture|ar|gaussianRandomWalk)\(…\) is flat, wholly or in part, and no data depend on x/,
      );
      await assert.rejects(smc(posterior), /x: (flat|custom|mixture|ar|gaussianRandomWalk)/);
      await assert.rejects(advi(posterior), /x: (flat|custom|mixture|ar|gaussianRandomWalk)/);
      // Densities are there all the same.
      assert.ok(Number.isFinite(posterior.logDensity(f64(new Array(posterior.dim).fill(0.5))).itemSync()));
    });
  }

  const y = f64([1, 2]);
  const proper = {
    "data of its own": () => {
      const x = flat();
      return { x, y: normal(x, 1) };
    },
    "data further down": () => {
      const x = flat();
      const theta = normal(x, 1).shape(2).noncentered();
      return { x, theta, y: normal(theta, 1) };
    },
    "data that share a parameter": () => {
      const x = flat();
      const tau = halfNormal(1);
      return { x, tau, z: normal(x, tau), y: normal(0, tau) };
    },
    "data of a walk that starts anywhere": () => {
      const x = gaussianRandomWalk(1, { steps: 2, start: flat() });
      return { x, y: normal(x, 1) };
    },
    "a mixture of bounded ones": () => ({
      x: mixture([0.5, 0.5], [flat(interval(0, 1)), flat(interval(2, 3))]),
      y: normal(normal(0, 1), 1),
    }),
    "a bound of data": () => {
      const x = flat(above(2));
      return { x, y: uniform(0, x) };
    },
    "a factor": () => {
      const x = flat();
      factor(x.square().neg());
      return { x, y: normal(0, 1) };
    },
    "a density of one's own": () => {
      const x = flat();
      return { x, z: custom({ logDensity: (z) => z.square().neg().sub(x.square()) }), y: normal(0, 1) };
    },
    "a variable that is cut off there": () => {
      const x = flat(positive);
      return { x, z: normal(0, 1).constrained(above(x)), y: normal(0, 1) };
    },
    "a finite volume": () => ({ x: flat(interval(0, 1)), z: flat(simplex).shape(3), y: normal(0, 1) }),
  };
  for (const [title, fn] of Object.entries(proper)) {
    test(`is no matter with ${title}`, () => {
      model(fn as () => { y: ReturnType<typeof normal> })
        .given({ y })
        .checkProper();
    });
  }
});

describe("where no chain finds a point to start from, the message names", () => {
  const fails = async (fn: () => Record<string, Tensor>, message: RegExp) => {
    await assert.rejects(async () => await model(fn).given({}).sample(short), message);
  };
  test("a factor", async () => {
    await fails(() => {
      const x = normal(0, 1);
      factor(0);
      factor(where(x.greater(10), x, -Infinity));
      return { x };
    }, /the log density is -Infinity: factor 2 has log density -Infinity/);
  });
  test("a variable that is not observed", async () => {
    await fails(() => {
      const x = normal(0, 1);
      return { x, z: normal(0, x.square().neg()).shape(2) };
    }, /the log density is -Infinity: z\[0\], z\[1\] have log density -Infinity, because scale is not a positive number/);
  });
  test("and the parts add up to the density", () => {
    const posterior = model(() => {
      const x = normal(1, 2);
      factor(x.mul(3));
      return { x, s: halfNormal(1), y: normal(x, 1) };
    }).given({ y: f64([1, 3]) });
    const u = f64([0.5, 0.25]);
    const parts = posterior.breakdown(u);
    const logN = (z: number) => -0.5 * z * z - 0.5 * Math.log(2 * Math.PI);
    const expected = {
      x: [logN(0.25) - Math.log(2)],
      s: [logN(Math.exp(0.25)) + Math.log(2)],
      "Jacobian of s": [0.25],
      y: [logN(0.5), logN(2.5)],
      "factor 1": [1.5],
    };
    assert.deepEqual(Object.keys(parts), Object.keys(expected));
    for (const [name, values] of Object.entries(expected)) {
      numbersOf(parts[name]!).forEach((value, i) => {
        assert.ok(Math.abs(value - values[i]!) < 1e-12, name);
      });
    }
    const total = Object.values(expected)
      .flat()
      .reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(numbersOf(posterior.logDensity(u))[0]! - total) < 1e-12);
  });
});

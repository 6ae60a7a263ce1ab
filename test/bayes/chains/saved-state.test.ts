/** The state of chains in a saved fit that somebody has changed: what no run leaves is refused before a kernel sees it. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SampleOptions } from "../../../src/bayes/chains/options.js";
import { model, normal } from "../../../src/bayes/index.js";
import { INTS, POOLED_INTS, REALS, VECTORS } from "../../../src/bayes/kernels/layout.js";
import { FormatError } from "../../../src/core/errors.js";
import { type FitFile, partOf, putTogether, takeApart } from "../../support/forged-fit.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { sampled } from "./support.js";

const CHAINS = 2;
const WARMUP = 20;
const DRAWS = 12;
const DIM = 3;
const newFolder = temporaryFolders();
const posterior = model(() => ({ x: normal(0, 1).shape(DIM) })).given({});
const options: SampleOptions = {
  ...{ chains: CHAINS, draws: DRAWS, warmup: WARMUP, seed: 3, dtype: "f64", energies: "f64", device: "cpu" },
  maxTreeDepth: 6,
};

async function savedWith(more: SampleOptions): Promise<Uint8Array> {
  const path = join(newFolder(), "fit");
  await (await sampled(posterior, { ...options, ...more })).save(path);
  return readFileSync(path);
}

const intsOf = (file: FitFile, name = "ints") => new Int32Array(partOf(file, name).buffer);
const floatsOf = (file: FitFile, name: string) => new Float64Array(partOf(file, name).buffer);

interface Kind {
  readonly whole: Promise<Uint8Array>;
  resumed(change: (file: FitFile) => void): Promise<{ extend(count: number): PromiseLike<unknown> }>;
  refused(change: (file: FitFile) => void, why: RegExp): Promise<void>;
}

function kindOf(more: SampleOptions): Kind {
  let saved: Promise<Uint8Array> | undefined;
  const whole = () => {
    saved ??= savedWith(more);
    return saved;
  };
  const resumed = async (change: (file: FitFile) => void) => {
    const file = takeApart(await whole());
    change(file);
    const path = join(newFolder(), "forged");
    writeFileSync(path, putTogether(file));
    return posterior.resume(path);
  };
  return {
    get whole() {
      return whole();
    },
    resumed,
    refused: (change, why) =>
      assert.rejects(resumed(change), (error) => {
        assert.ok(error instanceof FormatError, `${error}`);
        assert.match(
          error.message,
          /^resume: the state of the chains is none that a run leaves: .* The file was changed\.$/,
        );
        assert.match(error.message, why);
        return true;
      }),
  };
}

const setInt =
  (name: (typeof INTS)[number], value: number, chain = 1) =>
  (file: FitFile) => {
    intsOf(file)[INTS.indexOf(name) * CHAINS + chain] = value;
  };
const setReal = (name: (typeof REALS)[number], value: number) => (file: FitFile) => {
  floatsOf(file, "reals")[REALS.indexOf(name) * CHAINS + 1] = value;
};

describe("of NUTS", () => {
  const { resumed, refused } = kindOf({});

  test("as it was saved, the state goes on", async () => {
    await (await resumed(() => {})).extend(5);
  });

  test("a draw is a place to write to: none that was not made, or that lies ahead of what is there", async () => {
    for (const draw of [-1, 0, WARMUP, WARMUP + DRAWS - 1, -(2 ** 31)])
      await refused(setInt("draw", draw), /draw of chain 1/);
    for (const draw of [WARMUP + DRAWS + 1, 2 ** 31 - 1]) await refused(setInt("draw", draw), /draws has 0 bytes/);
  });

  test("a phase, a depth or a leaf of the tree outside what there is", async () => {
    for (const phase of [-1, 5, 6, 2 ** 31 - 1]) await refused(setInt("phase", phase), /phase of chain 1/);
    for (const depth of [-1, 7, 31]) await refused(setInt("depth", depth), /depth of chain 1/);
    for (const leaf of [-2, 65, -(2 ** 31)]) await refused(setInt("leaf", leaf), /leaf of chain 1/);
    const inTree = (depth: number, leaf: number) => (file: FitFile) => {
      for (const [name, value] of Object.entries({ phase: 3, depth, leaf })) {
        setInt(name as (typeof INTS)[number], value)(file);
      }
    };
    await refused(inTree(6, 0), /depth of chain 1 is 6, and it is from 0 to 5/);
    await refused(inTree(2, 4), /leaf of chain 1 is 4, and it is from -1 to 3/);
  });

  test("counters that would let a chain try or go on for ever", async () => {
    for (const name of ["attempts", "leapfrogs", "adapted", "counted", "length"] as const) {
      await refused(setInt(name, -1), new RegExp(`${name} of chain 1 is -1`));
    }
    for (const name of ["leapfrogs", "adapted", "counted", "length"] as const) {
      await refused(setInt(name, 2 ** 31 - 1), new RegExp(`${name} of chain 1`));
    }
    await refused((file) => {
      setInt("phase", 0)(file);
      setInt("attempts", 101)(file);
    }, /attempts of chain 1 is 101/);
    for (const name of ["isSearching", "isDivergent", "searchSide", "direction"] as const) {
      await refused(setInt(name, 2), new RegExp(`${name} of chain 1 is 2`));
    }
  });

  test("step sizes, positions and metrics that are no numbers, or garbage", async () => {
    for (const value of [Number.NaN, 0, -1, Infinity])
      await refused(setReal("stepSize", value), /step size of chain 1/);
    for (const name of ["mu", "sBar", "xBar"] as const) await refused(setReal(name, Number.NaN), new RegExp(name));
    await refused(setReal("logp", Number.NaN), /log density of chain 1/);
    await refused((file) => {
      floatsOf(file, "vectors")[(VECTORS.indexOf("qSample") * DIM + 2) * CHAINS] = Number.NaN;
    }, /the position of chain 0 has the number NaN/);
    for (const value of [Number.NaN, 0, -1, Infinity]) {
      await refused((file) => {
        floatsOf(file, "metric")[3] = value;
      }, /the metric of chain 1/);
    }
    await refused((file) => floatsOf(file, "vectors").fill(Number.NaN), /the position/);
  });

  test("wishes that the run was not told", async () => {
    for (const at of [0, 1, 2]) {
      await refused((file) => {
        floatsOf(file, "wishes")[at] = 1e300;
      }, /and the run was told/);
    }
  });

  test("draws ahead that no chain has made", async () => {
    await refused(
      (file) => file.parts.push({ group: "buffers", name: "draws", bytes: new Uint8Array(48) }),
      /draws has 48 bytes/,
    );
    await refused(
      (file) => file.parts.push({ group: "buffers", name: "noted", bytes: new Uint8Array(1) }),
      /noted has 1 bytes/,
    );
  });

  test("whatever the numbers of a chain, a run is refused or comes to its end", async () => {
    // Of numbers in their ranges, none lets a kernel run on: the deepest tree has 2^6 steps.
    for (const phase of [0, 1, 2, 3]) {
      for (const leaf of [-1, 0]) {
        const fit = await resumed((file) => {
          setInt("phase", phase)(file);
          setInt("leaf", leaf)(file);
          setInt("depth", 0)(file);
        });
        await fit.extend(3);
      }
    }
  });
});

describe("of HMC", () => {
  const { resumed, refused } = kindOf({ kernel: "hmc", steps: 600, maxTreeDepth: undefined });

  test("a length beyond what the run was told", async () => {
    await (await resumed(() => {})).extend(2);
    await refused(setInt("length", 1201), /length of chain 1 is 1201, and it is from 0 to 1200/);
    await refused(setInt("leapfrogs", -5), /leapfrogs of chain 1/);
    await refused(setInt("depth", 1), /depth of chain 1/);
  });
});

describe("of a dense metric", () => {
  const { resumed, refused } = kindOf({ metric: "dense" });

  test("a column that is factored outside the metric, and numbers that are none", async () => {
    await (await resumed(() => {})).extend(2);
    const factoring = (column: number) => (file: FitFile) => {
      setInt("phase", 5)(file);
      setInt("leaf", column)(file);
    };
    for (const column of [-1, DIM, 60]) await refused(factoring(column), /column of chain 1|leaf of chain 1/);
    await refused((file) => {
      floatsOf(file, "factor")[2] = Number.NaN;
    }, /the metric's factor/);
    await refused((file) => {
      floatsOf(file, "metric")[2] = Number.NaN;
    }, /the metric of chain 0/);
    await refused((file) => {
      floatsOf(file, "metric")[0] = -1;
    }, /the metric of chain 0/);
  });
});

describe("of chains adapted together", () => {
  const { resumed, refused } = kindOf({ kernel: "chees", maxTreeDepth: undefined });

  test("counts of the warmup outside it, and a time of trajectories that is none", async () => {
    await (await resumed(() => {})).extend(2);
    for (const [n, name] of POOLED_INTS.entries()) {
      for (const value of [-1, WARMUP + 1]) {
        await refused(
          (file) => {
            intsOf(file, "pooledInts")[n] = value;
          },
          new RegExp(`${name} of the warmup is ${value}`),
        );
      }
    }
    await refused((file) => {
      floatsOf(file, "pooledReals")[3] = Number.NaN;
    }, /logTime of the warmup is NaN/);
    for (const time of [0, -1, Number.NaN, Infinity]) {
      await refused((file) => {
        floatsOf(file, "wishes")[3] = time;
      }, /the time of trajectories/);
    }
  });
});

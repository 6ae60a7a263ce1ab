/** Saved fits with numbers that are numbers, but not those of a run: each is refused by name, and fits as they were saved are not. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beta, dirichlet, halfNormal, model, normal, uniform } from "../../../src/bayes/index.js";
import { REALS, VECTORS } from "../../../src/bayes/kernels/layout.js";
import { FormatError } from "../../../src/core/errors.js";
import { type FitFile, partOf, putTogether, takeApart } from "../../support/forged-fit.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { sampled } from "./support.js";

const CHAINS = 2;
const DRAWS = 12;
const newFolder = temporaryFolders();
const posterior = model(() => {
  const mu = normal(0, 1),
    tau = halfNormal(2),
    share = beta(2, 2),
    parts = dirichlet([1, 2, 3]),
    angle = uniform(-1, 2);
  return { mu, tau, share, parts, angle, twice: mu.mul(2), y: normal(mu, tau.add(0.1)) };
}).given({ y: [0.3, -1.2, 0.8] });
const options = { chains: CHAINS, draws: DRAWS, warmup: 30, seed: 3, device: "cpu", energies: "f64" } as const;

for (const dtype of ["f64", "f32"] as const) {
  const saved = (async () => {
    const path = join(newFolder(), "fit");
    await (await sampled(posterior, { ...options, dtype })).save(path);
    return readFileSync(path);
  })();
  const floatsOf = (file: FitFile, name: string): Float32Array | Float64Array => {
    const { buffer } = partOf(file, name);
    return dtype === "f64" ? new Float64Array(buffer) : new Float32Array(buffer);
  };
  const resumed = async (change: (file: FitFile) => void) => {
    const file = takeApart(await saved);
    change(file);
    const path = join(newFolder(), "forged");
    writeFileSync(path, putTogether(file));
    return posterior.resume(path);
  };
  const refused = (change: (file: FitFile) => void, why: RegExp) =>
    assert.rejects(resumed(change), (error) => error instanceof FormatError && why.test(error.message));

  describe(`a saved fit in ${dtype}`, () => {
    test("as it was saved goes on", async () => {
      assert.equal((await (await resumed(() => {})).extend(3)).draws.length, DRAWS + 3);
    });

    // Draws and statistics are doubles in the file.
    for (const [name, value, range] of [
      ["tau", -0.5, "0 to Infinity"],
      ["tau", Number.NaN, "0 to Infinity"],
      ["share", 1.5, "0 to 1"],
      ["parts", -1e-3, "0 to 1"],
      ["angle", 2.5, "-1 to 2"],
      ["mu", Number.NaN, "-Infinity to Infinity"],
    ] as const) {
      test(`with a draw of ${name} that is ${value}`, () =>
        refused(
          (file) => {
            new Float64Array(partOf(file, name).buffer)[3] = value;
          },
          new RegExp(`^resume: a draw of "${name}" is ${value}, and it lies from ${range}\\. The file was changed\\.$`),
        ));
    }

    for (const [name, value] of [
      ["lp", Number.NaN],
      ["acceptance", 7],
      ["stepSize", 0],
      ["divergent", -1],
      ["treeDepth", -1],
    ] as const) {
      test(`with the statistic ${name} that is ${value}`, () =>
        refused(
          (file) => {
            new Float64Array(partOf(file, name).buffer)[3] = value;
          },
          new RegExp(`^resume: the statistic ${name} is ${value}`),
        ));
    }

    test("with a log density that is not that of the position", async () => {
      await refused((file) => {
        new Float64Array(partOf(file, "reals").buffer)[REALS.indexOf("logp") * CHAINS + 1] = 1e6;
      }, /^resume: the log density of chain 1 is 1000000, and that of its position is -/);
      await refused((file) => {
        const dim = posterior.dim;
        floatsOf(file, "vectors")[VECTORS.indexOf("qSample") * dim * CHAINS] = 40;
      }, /^resume: the log density of chain 0 is -?[\d.]+, and that of its position is -/);
    });
  });
}

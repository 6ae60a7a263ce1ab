/** ArviZ's JSON, both ways: what ArviZ wrote is read, what is written here comes back, and ArviZ reads it where it is. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Draws } from "../../../src/bayes/draws/draws.js";
import { arvizJson, saveArviz } from "../../../src/bayes/export/arviz.js";
import { loadArviz, parseArviz } from "../../../src/bayes/export/arviz-reader.js";
import type { InferenceData } from "../../../src/bayes/export/inference-data.js";
import { FormatError } from "../../../src/core/errors.js";

const posterior = Draws.from(
  {
    mu: [
      [0.1, -0, 1e-300],
      [Number.NaN, Infinity, -Infinity],
    ],
    L: [
      [
        [[1], [2]],
        [[3], [4]],
        [[5], [6]],
      ],
      [
        [[7], [8]],
        [[9], [10]],
        [[11], [12]],
      ],
    ],
    'a "quoted" NaN': [
      [1, 2, 3],
      [4, 5, 6],
    ],
  },
  {
    maxTreeDepth: 9,
    superchains: 2,
    stats: {
      divergent: [
        [0, 1, 0],
        [0, 0, 1],
      ],
      lp: [
        [-1, -2, -3],
        [-4, -5, -6],
      ],
    },
  },
);
const logLikelihood = Draws.from({ y: [[[-1, -2]], [[-3, -4]]] });
const data: InferenceData = {
  posterior,
  logLikelihood,
  observedData: { y: { shape: [2], values: [1, 2] }, n: { shape: [], values: [7] } },
  dims: { L: ["row", "column"] },
  coords: { row: ["a", "b"] },
};

describe("ArviZ's JSON", () => {
  test("has a group for everything, of chains × draws × shape", () => {
    const plain = { posterior: logLikelihood, logLikelihood, observedData: data.observedData };
    assert.deepEqual(JSON.parse([...arvizJson(plain)].join("")), {
      attrs: { inference_library: "pumice" },
      posterior_attrs: { inference_library: "pumice" },
      posterior: { y: [[[-1, -2]], [[-3, -4]]] },
      log_likelihood: { y: [[[-1, -2]], [[-3, -4]]] },
      observed_data: { y: [1, 2], n: 7 },
    });
  });

  test("comes back as it was, with NaN, infinities and -0", () => {
    const back = parseArviz([...arvizJson(data)].join(""));
    assert.deepEqual([...back.posterior.variables], [...posterior.variables]);
    for (const name of posterior.variables.keys())
      assert.deepEqual(back.posterior.values(name), posterior.values(name));
    assert.deepEqual(back.posterior.stats, ["lp", "divergent"]);
    for (const name of posterior.stats) assert.deepEqual(back.posterior.stat(name), posterior.stat(name));
    assert.deepEqual([back.posterior.maxTreeDepth, back.posterior.superchains], [9, 2]);
    assert.deepEqual(back.logLikelihood?.values("y"), logLikelihood.values("y"));
    assert.deepEqual(back.observedData?.n, { shape: [], values: Float64Array.of(7) });
    assert.deepEqual(back.observedData?.y, { shape: [2], values: Float64Array.of(1, 2) });
    assert.deepEqual([back.dims, back.coords, back.prior], [data.dims, data.coords, undefined]);
  });

  test("as ArviZ writes it is read", () => {
    const path = new URL("../../../../test/bayes/export/fixtures/arviz-written.txt", import.meta.url);
    const read = parseArviz(readFileSync(path, "utf8"));
    assert.deepEqual(
      [...read.posterior.scalar("mu").values],
      [0, 1, 2, 3, 4, 5].map((value) => value / 4),
    );
    assert.deepEqual([...read.posterior.scalar("theta[1,0]").values], [2, 6, 10, 14, 18, 22]);
    assert.deepEqual([...read.posterior.stat("divergent")!.values], [0, 1, 0, 0, 0, 0]);
    assert.deepEqual(read.posterior.stats, ["divergent", "energy"]);
    assert.deepEqual([...read.logLikelihood!.values("y").subarray(0, 4)], [-1, -Infinity, -2, Number.NaN]);
    assert.deepEqual(read.coords?.school, ["a", "b"]);
    assert.deepEqual(read.observedData?.y?.values, Float64Array.of(3, 4));
  });

  test("that is none is refused, with the file named", () => {
    assert.throws(() => parseArviz("{", "fit.json"), /^FormatError: fit\.json: no JSON/);
    assert.throws(() => parseArviz("[1]"), /no group "posterior"/);
    assert.throws(() => parseArviz('{"posterior":{"mu":[[1,2],[3]]}}'), FormatError);
    assert.throws(() => parseArviz('{"posterior":{"mu":[[1]]},"sample_stats":{"lp":[[1,2]]}}'), FormatError);
  });
});

test("ArviZ reads the file", { skip: pythonLacksArviz() }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "pumice-arviz-"));
  try {
    const path = join(folder, "fit.json");
    await saveArviz(path, data);
    assert.deepEqual((await loadArviz(path)).posterior.values("L"), posterior.values("L"));
    const script = `
import arviz, sys
data = arviz.from_json(sys.argv[1])
print(data.posterior.L.dims, data.posterior.L.values.ravel().tolist(), data.posterior.mu.values.ravel().tolist())
print(data.posterior.L.coords["row"].values.tolist(), data.sample_stats.diverging.values.tolist())
print(data.log_likelihood.y.shape, data.observed_data.y.values.tolist(), data.sample_stats.attrs["max_tree_depth"])`;
    const { stdout, stderr, status } = spawnSync("python3", ["-W", "ignore", "-c", script, path], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    assert.equal(
      stdout,
      "('chain', 'draw', 'row', 'column') [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] [0.1, -0.0, 1e-300, nan, inf, -inf]\n" +
        "['a', 'b'] [[False, True, False], [False, False, True]]\n" +
        "(2, 1, 2) [1, 2] 9\n",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function pythonLacksArviz(): string | false {
  const { status } = spawnSync("python3", ["-W", "ignore", "-c", "import arviz"]);
  return status === 0 ? false : "Python has no ArviZ";
}

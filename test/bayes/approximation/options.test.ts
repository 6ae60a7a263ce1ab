/** What approximations are told wrongly is named, with what it should be; and the variable that makes all impossible. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { advi, beta, halfNormal, model, normal, pathfinder, smc, uniform } from "../../../src/bayes/index.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { setDefaultDevice } from "../../../src/tensor/index.js";
import { makeIn } from "../models/reference-model.js";

before(() => setDefaultDevice("cpu"));
const f64 = makeIn("f64", "cpu");
const posterior = model(() => ({ mu: normal(0, 1), tau: halfNormal(1) })).given({});
const methods = { advi, pathfinder, smc } as unknown as Readonly<
  Record<string, (target: typeof posterior, options: object) => Promise<unknown>>
>;

const refuses = (method: string, options: object, message: RegExp): Promise<void> =>
  assert.rejects(methods[method]!(posterior, options), (error: Error) => {
    assert.ok(error instanceof ArgumentError, String(error));
    assert.match(error.message, message);
    return true;
  });

test("options that do not exist, or are of the wrong kind", async () => {
  for (const method of Object.keys(methods)) {
    await refuses(method, { sede: 1 }, new RegExp(`${method}: there is no option "sede"; there are .*seed`));
    await refuses(method, { signal: 3 }, new RegExp(`${method}: the option signal is an AbortSignal, not 3`));
    await refuses(method, { onProgress: true }, new RegExp(`${method}: the option onProgress is a function, not true`));
    await refuses(method, { dtype: "f16" }, new RegExp(`${method}: dtype is "f16"; it is "f32" or "f64"`));
    await refuses(method, 5 as unknown as object, new RegExp(`${method}: 5 stands where options do`));
  }
  await refuses("advi", { family: "full_rank" }, /advi: family is "full_rank"; it is "mean-field" or "full-rank"/);
  await refuses("advi", { stepSize: 0 }, /advi: stepSize is 0; it is a positive number/);
  await refuses("advi", { tolerance: Number.NaN }, /advi: tolerance is NaN; it is a number from 0 on/);
  await refuses("smc", { move: "hmc" }, /smc: move is "hmc"; it is "hamiltonian" or "random-walk"/);
  await refuses("pathfinder", { resample: "no" }, /pathfinder: the option resample is true or false, not "no"/);
});

test("a signal that fired before leaves what the first steps found", async () => {
  const signal = AbortSignal.abort();
  const short = await pathfinder(posterior, { seed: 1, signal });
  assert.equal(short.draws.length, 1000);
  assert.ok(short.paths.every(({ iterations }) => iterations <= 10));
  const quick = await advi(posterior, { seed: 1, signal });
  assert.deepEqual([quick.draws.length, quick.trace.length], [1000, 0]);
  assert.match(String(quick.check()), /stopped/);
  await assert.rejects(smc(posterior, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

test("free numbers to start at are tensors or lists", async () => {
  const means = async (options: object) => [
    ...(await pathfinder(posterior, { seed: 1, ...options })).draws.values("mu"),
  ];
  const rows = [
    [0.1, 0.2],
    [0.3, -0.4],
  ];
  const expected = await means({ paths: 2, starts: f64(rows) });
  assert.deepEqual(await means({ paths: 2, starts: rows }), expected);
  assert.deepEqual(await means({ paths: 2, starts: [Float64Array.from(rows[0]!), f64(rows[1]!)] }), expected);
  const [first] = await Promise.all(
    [f64([0.1, 0.2]), [0.1, 0.2], Float64Array.of(0.1, 0.2)].map((start) =>
      advi(posterior, { start, maxIterations: 200 }),
    ),
  );
  assert.ok(Number.isFinite(first!.elbo));
  for (const starts of [
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
    [[1, 2]],
    [1, 2],
    { mu: 1 },
    f64([1, 2]),
  ]) {
    await assert.rejects(
      pathfinder(posterior, { paths: 2, starts } as never),
      /pathfinder: starts: free numbers of shape \[2, 2\]/,
    );
  }
  await assert.rejects(
    advi(posterior, { start: { mu: 1 } } as never),
    /advi: start: free numbers .*unconstrain\(values\)/,
  );
  await assert.rejects(advi(posterior, { start: [[1, 2]] } as never), /advi: start: free numbers/);
  await assert.rejects(advi(posterior, { start: [1, Number.NaN] }), /advi: start: free numbers/);
});

test("a likelihood that is impossible everywhere names the variable", async () => {
  const impossible = model(() => {
    const reach = beta(1, 1);
    return { reach, y: uniform(0, reach) };
  }).given({ y: f64([0, 3]) });
  for (const method of Object.keys(methods)) {
    await assert.rejects(methods[method]!(impossible as never, {}), {
      name: "ArgumentError",
      message: /y\[1\] ha(s|ve) log density -Infinity/,
    });
  }
});

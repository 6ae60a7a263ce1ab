/**
 * Measures JavaScript peers, by the protocol that bench/peers.ts describes: a JSON list of "js:package/row" names on
 * standard input, a JSON object per line on standard output. Their packages are this folder's own dependencies, which
 * `npm run bench -- --js-peers` installs here. By hand, to try one row:
 *
 *     echo '["js:jax-js/chain"]' | node bench/peers/peers.mjs [--quick] [--budget seconds] [--halvings n]
 *
 * `--list` prints the rows there are with their units and measures nothing.
 */
import { readFileSync } from "node:fs";
import { paceOf, sample } from "./timing.mjs";
import { ADDITIONS, probe, STEPS, WORKS } from "./works.mjs";

/** By package: how it is loaded. One that is not installed is absent, and not fatal. */
const PACKAGES = {
  "js:onnxruntime": async (threads) => (await import("./onnxruntime.mjs")).open(threads),
  "js:jax-js": async (threads) => (await import("./jax-js.mjs")).open(threads),
  "js:tfjs": async () => (await import("./tfjs.mjs")).open(),
  "js:tfjs-threads": async (threads) => (await import("./tfjs.mjs")).openThreaded(threads),
};

const tell = (news) => console.log(JSON.stringify(news));
const args = process.argv.slice(2);
const pace = paceOf(args);
const opened = new Map();

if (args.includes("--list")) {
  const rows = Object.keys(PACKAGES).flatMap((name) =>
    Object.entries(WORKS).map(([row, { unit }]) => [`${name}/${row}`, unit]),
  );
  tell(Object.fromEntries(rows));
} else {
  for (const row of JSON.parse(readFileSync(0, "utf8"))) tell({ row, ...(await measure(row)) });
  // Threads of a peer must not keep the process; what was told must leave it.
  process.stdout.write("", () => process.exit());
}

async function measure(row) {
  const [name, rest] = row.split("/");
  const work = WORKS[rest];
  if (!work || !(name in PACKAGES)) return { error: `bench/peers has no row ${row}` };
  try {
    return { unit: work.unit, ...(await (work.training ? train : run)(await the(name), work)) };
  } catch (error) {
    if (["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(error.code)) return { absent: error.message.split("\n")[0] };
    return { error: error.message };
  }
}

/** A package, loaded once and announced. */
async function the(name) {
  if (!opened.has(name)) {
    const library = await PACKAGES[name](Number(process.env.PUMICE_THREADS || 2));
    opened.set(name, library);
    tell({ package: name.slice("js:".length), version: library.version, device: library.device });
  }
  return opened.get(name);
}

async function run(library, { unit, compute, inputs }) {
  const given = [];
  for (const input of inputs(pace)) given.push(await library.put(input));
  const samples = await sample(pace, async () => {
    const start = performance.now();
    const result = await library.compute(compute, given);
    const ms = performance.now() - start;
    library.free(result);
    return unit === "µs" ? (1000 * ms) / ADDITIONS : ms;
  });
  const result = await library.compute(compute, given);
  const values = probe(await library.values(result));
  for (const tensor of [result, ...given]) library.free(tensor);
  return { samples, values };
}

/** Steps of a training, each waited for; the losses of the first are shown. */
async function train(library, { training }) {
  const step = await library.training(training(pace));
  const values = [];
  for (let i = 0; i < STEPS; i++) values.push((await library.values(await step()))[0]);
  const samples = await sample(pace, async () => {
    const start = performance.now();
    const loss = await step();
    const ms = performance.now() - start;
    library.free(loss);
    return ms;
  });
  return { samples, values };
}

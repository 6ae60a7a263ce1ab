/**
 * `npm run test:accuracy`: backward errors of every factorisation of `linalg`, in units of n·ε, for matrices of every kind, of 1 to
 * 70, 127, 128, 129 and 512 rows, in f32, f64, c64 and c128. All of it takes hours, so that parts can be named:
 *
 *     npm run test:accuracy -- --device vulkan --only svd,eigh --dtypes f32,c64 --sizes 1-70,512
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { ensureBuild, ensureDependencies, root } from "./prepare.mjs";

/** "1-3,7" as 1, 2, 3, 7. @param {string} text */
function sizesOf(text) {
  return text.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    if (!Number.isInteger(first) || !Number.isInteger(last) || first < 1) {
      throw new Error(`--sizes takes numbers of rows from 1 and ranges of them, as in 1-70,127; got ${part}.`);
    }
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cpu" },
    only: { type: "string" },
    dtypes: { type: "string", default: "f32,f64,c64,c128" },
    sizes: { type: "string", default: "1-70,127,128,129,512" },
  },
});
ensureDependencies();
const build = ensureBuild();
if (!build.ok) {
  console.error(build.output);
  process.exit(1);
}
process.env.PUMICE_CACHE ??= "off";
const load = (/** @type {string} */ path) => import(pathToFileURL(join(root, "dist", path)).href);
const { setDefaultDevice } = await load("src/index.js");
const { errorsByKind, FACTORISATIONS, MOST } = await load("test/linalg/factorisation-errors.js");
setDefaultDevice(values.device);

const known = Object.keys(FACTORISATIONS);
const names = values.only ? values.only.split(",") : known;
const strange = names.find((name) => !known.includes(name));
if (strange !== undefined) throw new Error(`--only takes names of ${known.join(", ")}; got ${strange}.`);
const sizes = sizesOf(values.sizes);
let failed = 0;
for (const name of names) {
  for (const dtype of values.dtypes.split(",")) {
    const began = performance.now();
    let worst = { error: -1, of: "" };
    for (const n of sizes) {
      for (const [kind, error] of errorsByKind(name, n, dtype)) {
        // A NaN is the worst of all.
        if (!(error < MOST)) {
          failed++;
          console.log(`  FAILED ${name} ${dtype}: ${kind}, ${n} rows: ${error.toPrecision(3)} n·ε`);
        }
        if (!(error <= worst.error)) worst = { error, of: `${kind}, ${n} rows` };
      }
    }
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(
      `${name} ${dtype} on ${values.device}: at most ${worst.error.toPrecision(3)} n·ε (${worst.of}); ${seconds} s`,
    );
  }
}
console.log(failed === 0 ? "All within the bound." : `${failed} beyond the bound of ${MOST} n·ε.`);
process.exit(failed === 0 ? 0 : 1);

/**
 * `npm run test:posteriors`: the long statistical tests. Every reference posterior is sampled and compared with reference
 * draws in f64 and f32 on the CPU and Vulkan; Stein's identities hold under those draws, too, four models are calibrated by
 * simulation, and the approximations are as good as their table in docs/ says. The reference data are read from
 * ../shared/data; without them this says so, and does what needs none. Where PUMICE_REFERENCE names a folder, all of them
 * must be there. PUMICE_POSTERIORS chooses fewer of the four: "cpu f64,vulkan f32".
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuild, ensureDependencies, filesUnder, root } from "./prepare.mjs";

/** Files of the reference data that are not there, and what to say of them. */
async function absence() {
  const named = process.env.PUMICE_REFERENCE;
  const data = resolve(root, named || "../shared/data");
  const { referenceModels } = await import(pathToFileURL(join(root, "dist/test/bayes/models/index.js")).href);
  /** @type {string[]} */
  const wanted = referenceModels
    .map((/** @type {{ name: string }} */ { name }) => `posteriordb/${name}`)
    .filter((/** @type {string} */ folder) => folder !== "posteriordb/regime_returns")
    .flatMap((/** @type {string} */ folder) =>
      ["data.json", "draws.json.gz", "reference.json"].map((file) => `${folder}/${file}`),
    );
  const absent = wanted.filter((file) => !existsSync(join(data, file)));
  if (absent.length === 0) return null;
  const what =
    absent.length === wanted.length
      ? `The reference data are absent: there is no posterior in ${join(data, "posteriordb")}, and none is compared.`
      : `The reference data are incomplete: ${data} lacks ${absent.join(", ")}.`;
  const remedy = named ? "PUMICE_REFERENCE names that folder." : "Set PUMICE_REFERENCE to their folder.";
  return { isNamed: Boolean(named), message: `${what} ${remedy}` };
}

ensureDependencies();
const build = ensureBuild();
if (!build.ok) {
  console.error(build.output);
  process.exit(1);
}
const missing = await absence();
if (missing) console.log(missing.message);
if (missing?.isNamed) process.exit(1);
const files = filesUnder("dist/test/bayes/posteriors").filter((file) => file.endsWith(".long.js"));
const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", "--test-concurrency=1", ...files], {
  cwd: root,
  stdio: "inherit",
});
// Once more, where it is seen.
if (missing) console.log(missing.message);
process.exit(status ?? 1);

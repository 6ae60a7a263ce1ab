/**
 * `npm run test:posteriors`: the long statistical tests. Every reference posterior is sampled and compared with reference
 * draws in f64 and f32 on the CPU and Vulkan; Stein's identities hold under those draws, too, four models are
 * calibrated by simulation, and the approximations are as good as their table in docs/ says. The reference data are read from ../shared/data, or from the folder PUMICE_REFERENCE names;
 * without them this says so. PUMICE_POSTERIORS chooses fewer of the four: "cpu f64,vulkan f32".
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureBuild, ensureDependencies, filesUnder, root } from "./prepare.mjs";

ensureDependencies();
const build = ensureBuild();
if (!build.ok) {
  console.error(build.output);
  process.exit(1);
}
const data = resolve(root, process.env.PUMICE_REFERENCE || "../shared/data");
if (!existsSync(join(data, "posteriordb"))) {
  console.log(
    `The reference data are absent: there is no ${join(data, "posteriordb")}. Set PUMICE_REFERENCE to their folder.`,
  );
}
const files = filesUnder("dist/test/bayes/posteriors").filter((file) => file.endsWith(".long.js"));
const { status } = spawnSync(process.execPath, ["--test", "--test-reporter=spec", "--test-concurrency=1", ...files], {
  cwd: root,
  env: { ...process.env, PUMICE_REFERENCE: data },
  stdio: "inherit",
});
process.exit(status ?? 1);

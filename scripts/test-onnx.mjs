/**
 * `npm run test:onnx`: ONNX's operator tests, by the public functions of the library. They are read from the folder that
 * PUMICE_ONNX names, or from where Debian's package libonnx-testdata puts them; without them this says so and fails.
 * PUMICE_DEVICE chooses the device.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuild, ensureDependencies, root } from "./prepare.mjs";

ensureDependencies();
const build = ensureBuild();
if (!build.ok) {
  console.error(build.output);
  process.exit(1);
}
const folder = process.env.PUMICE_ONNX || "/usr/share/libonnx-testdata/data/node";
if (!existsSync(folder)) {
  console.error(
    `There are no operator tests in ${folder}: install libonnx-testdata, or set PUMICE_ONNX to their folder.`,
  );
  process.exit(1);
}
const { runAll } = await import(pathToFileURL(join(root, "dist/test/onnx/run.js")).href);
process.exit(runAll(folder));

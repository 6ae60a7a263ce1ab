/**
 * `npm run test:kill -- 50`: trainings that are killed with SIGKILL at random moments and go on from their checkpoints, until there
 * were so many kills. Each must end with the bits of one that was never killed. PUMICE_DEVICE chooses the device.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureBuild, ensureDependencies, root } from "./prepare.mjs";

ensureDependencies();
const build = ensureBuild();
if (!build.ok) {
  console.error(build.output);
  process.exit(1);
}
const wanted = Number(process.argv[2] ?? 50);
const device = process.env.PUMICE_DEVICE || "cpu";
const { killedOften } = await import(pathToFileURL(join(root, "dist/test/nn/training/kill.js")).href);
const whole = await killedOften(device, 0, 0);
console.log(`never killed: ${whole.hash}`);
let [kills, whileTraining, trainings, different] = [0, 0, 0, 0];
while (kills < wanted) {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const found = await killedOften(device, wanted - kills, seed);
  kills += found.kills;
  whileTraining += found.whileTraining;
  trainings++;
  const isSame = found.hash === whole.hash;
  if (!isSame) different++;
  console.log(`${found.kills} kills (seed ${seed}): ${isSame ? "the same bits" : `OTHER BITS ${found.hash}`}`);
}
console.log(
  `${kills} kills in ${trainings} trainings, ${whileTraining} of them between steps; ${different} ended with other bits.`,
);
process.exit(different === 0 ? 0 : 1);

/** `npm start`: prepares the tree and gives the tour (`pumice tour`, src/cli/tour.ts). Arguments after `--` reach it. */
import { prepareAndRun } from "./prepare.mjs";

prepareAndRun("src/cli/main.ts", ["tour", ...process.argv.slice(2)]);

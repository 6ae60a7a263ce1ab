/** `npm run bench`: prepares the tree and runs the benchmarks (bench/main.ts). Arguments after `--` reach them. */
import { prepareAndRun } from "./prepare.mjs";

prepareAndRun("bench/main.ts", process.argv.slice(2));

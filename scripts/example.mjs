/** `npm run example -- mnist`: prepares the tree and runs a program of examples/. Arguments after its name reach it. */
import { prepareAndRun } from "./prepare.mjs";

const [name = "mnist", ...args] = process.argv.slice(2);
prepareAndRun(`examples/${name}.ts`, args);

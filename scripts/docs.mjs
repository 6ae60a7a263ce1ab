/** `npm run docs`: writes those parts of the documentation that are made from the code. So far: the table of distributions. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PrepareError, prepare, root } from "./prepare.mjs";

try {
  prepare();
  const table = join(root, "dist/test/bayes/distributions/doc-table.js");
  const { writeTable } = await import(pathToFileURL(table).href);
  writeTable();
} catch (error) {
  if (!(error instanceof PrepareError)) throw error;
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

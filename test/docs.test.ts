/**
 * Runs every example of the documentation (the build has type-checked them: scripts/doc-examples.mjs). An example says
 * what it prints in comments, `// prints 1 2 3`; those lines must come out in that order, "…" standing for anything.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runnableBlocks } from "../scripts/doc-examples.mjs";
import { probeVulkan } from "../scripts/vulkan-setup.mjs";
import * as pumice from "../src/index.js";

const sources = new URL("../../examples/docs/", import.meta.url);
// The examples open the default device; where there is only a software one, it has to be named.
const env = { PUMICE_DEVICE: "vulkan", ...process.env };
const programs = new URL("../examples/docs/", import.meta.url);

for (const name of readdirSync(sources)) {
  const text = readFileSync(new URL(name, sources), "utf8");
  const [, place, needs] = /^\/\/ (.+?)(?:, needs (\w+))?\n/.exec(text) ?? [];
  const skip = needs === "vulkan" && probeVulkan().devices.length === 0 && "missing: a Vulkan device";

  test(`the example at ${place} does what it says`, { skip }, () => {
    const program = fileURLToPath(new URL(name.replace(/\.ts$/, ".js"), programs));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: "utf8", env });
    assert.equal(status, 0, stderr);
    const printed = stdout.split("\n");
    for (const [, expected] of text.matchAll(/\/\/ prints (.+)$/gm)) {
      const at = printed.findIndex((line) => matches(line.trim(), expected.trim()));
      assert.ok(at >= 0, `"${expected}" is not in what is left of the output:\n${printed.join("\n")}`);
      printed.splice(0, at + 1);
    }
  });
}

function matches(line: string, expected: string): boolean {
  const pattern = expected.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`).test(line);
}

test("what users can import for tensors is named in the documentation of tensors", () => {
  const pages = ["tensors", "dtypes", "transforms", "array-api", "fft"].map((page) =>
    readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), "utf8"),
  );
  const words = new Set(pages.join("\n").match(/\w+/g));
  const namespaces = [pumice, pumice.random, pumice.linalg, pumice.fft, pumice.signal, pumice.io, pumice.tree];
  const missing = namespaces.flatMap((names) => Object.keys(names)).filter((name) => !words.has(name));
  assert.deepEqual(missing, []);
});

test("runnable blocks are found with their line and their need", () => {
  const page = ["# Page", "```ts", "no;", "```", "```ts run", "one;", "```", "", "```ts run vulkan", "two;", "```"];
  assert.deepEqual(runnableBlocks(page.join("\n")), [
    { code: "one;\n", line: 6, needs: "" },
    { code: "two;\n", line: 10, needs: "vulkan" },
  ]);
});

test("… stands for anything in what an example prints", () => {
  assert.ok(matches("took 12 ms (fast)", "took … ms (fast)"));
  assert.ok(!matches("took 12 ms", "took 12 s"));
});

/**
 * Runs every example of the documentation (the build has type-checked them: scripts/doc-examples.mjs). An example says
 * what it prints in comments, `// prints 1 2 3`; those lines must come out in that order, "…" standing for anything.
 *
 * The examples run one after another in one process, which spares most of their time: modules and kernels are compiled
 * once. It is not the process of the tests, because an example may end it; those after that one then run in a new one.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { runnableBlocks } from "../scripts/doc-examples.mjs";
import { probeVulkan } from "../scripts/vulkan-setup.mjs";
import * as pumice from "../src/index.js";
import { runNode } from "./support/subprocess.js";
import { temporaryFolders } from "./support/temporary-folder.js";

const sources = new URL("../../examples/docs/", import.meta.url);
const programs = new URL("../examples/docs/", import.meta.url);
const newFolder = temporaryFolders();

/** What an example printed, and why it failed where it did. */
interface Outcome {
  readonly printed: string;
  readonly error?: string;
}

/** Imports each program, and adds a line with its outcome to a file. */
const runner = (addresses: readonly string[], file: string): string => `
  import { appendFileSync } from "node:fs";
  const { stdout } = process;
  const write = stdout.write;
  for (const address of ${JSON.stringify(addresses)}) {
    let printed = "", error;
    stdout.write = (chunk) => {
      printed += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      return true;
    };
    try {
      await import(address);
      if (process.exitCode) error = "it set the exit code " + process.exitCode;
    } catch (thrown) {
      error = String(thrown?.stack ?? thrown);
    }
    process.exitCode = undefined;
    stdout.write = write;
    appendFileSync(${JSON.stringify(file)}, JSON.stringify({ printed, error }) + "\\n");
  }`;

/** The outcome of each program, and what the process said where it did not end well by itself after the last one. */
async function runAll(addresses: readonly string[]): Promise<{ outcomes: readonly Outcome[]; ending: string }> {
  const outcomes: Outcome[] = [];
  let ending = "";
  while (outcomes.length < addresses.length) {
    const file = join(newFolder(), "outcomes");
    const { code, output } = await runNode(runner(addresses.slice(outcomes.length), file), {
      args: ["--enable-source-maps"],
      // The examples open the default device; where there is only a software one, it has to be named.
      env: { PUMICE_DEVICE: "vulkan", ...process.env },
      timeoutMs: 400_000,
    });
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    outcomes.push(...lines.map((line): Outcome => JSON.parse(line)));
    const end = `the process ended with ${code}\n${output}`;
    if (outcomes.length < addresses.length) outcomes.push({ printed: "", error: end });
    else if (code !== 0) ending = end;
  }
  return { outcomes, ending };
}

const examples = readdirSync(sources).map((name) => {
  const text = readFileSync(new URL(name, sources), "utf8");
  const [, place, needs] = /^\/\/ (.+?)(?:, needs (\w+))?\n/.exec(text) ?? [];
  const skip = needs === "vulkan" && probeVulkan().devices.length === 0 && "missing: a Vulkan device";
  return { text, place, skip, address: new URL(name.replace(/\.ts$/, ".js"), programs).href };
});

describe("the examples", () => {
  const run = examples.filter(({ skip }) => !skip);
  let done: Awaited<ReturnType<typeof runAll>>;
  before(async () => {
    done = await runAll(run.map(({ address }) => address));
  });

  for (const example of examples) {
    test(`the example at ${example.place} does what it says`, { skip: example.skip }, () => {
      const { printed: text, error } = done.outcomes[run.indexOf(example)] ?? assert.fail("it has not run");
      assert.ok(error === undefined, error);
      const printed = text.split("\n");
      for (const [, expected = ""] of example.text.matchAll(/\/\/ prints (.+)$/gm)) {
        const at = printed.findIndex((line) => matches(line.trim(), expected.trim()));
        assert.ok(at >= 0, `"${expected}" is not in what is left of the output:\n${printed.join("\n")}`);
        printed.splice(0, at + 1);
      }
    });
  }

  test("their process ends by itself", () => assert.equal(done.ending, ""));
});

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

/** `PUMICE_DEBUG` as users of tensors see it: graphs, kernels, loops and code of what is compiled, on standard error. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runNode } from "../support/subprocess.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const program = `
  import { jit, tensor } from "SRC/index.js";
  const x = tensor([[1, 2], [3, 4]]);
  console.log(x.mul(3).sum({ axis: 1 }).arraySync().join());
  console.log(jit((x) => x.tanh())(x.neg()).sum().itemSync() < 0);
`;

/** What a word prints, by a pattern that only its text has. */
const patterns: Readonly<Record<string, RegExp>> = {
  graph:
    /pumice: graph of program 1 on \S+\n +%0 = memory : f32\[2, 2\]\n[\s\S]*%\d+ = sum %\d+ \{axes=\[1\]\} : f32\[2\]\n +return %\d+\n/,
  kernels: /pumice: kernels of program 1 on \S+\n1\. sum\[2\]: [\s\S]*out\[i\] = sum over j < 2 of a\[i, j\] \* 3\n/,
  loops: /pumice: loops of sum\[2\]\nkernel sum\[2\]: 2 rows × 1 lanes\n[\s\S]*store b1\[row\] = %\d+/,
  spirv: /pumice: spirv of sum\[2\]\n; SPIR-V\n[\s\S]*OpEntryPoint GLCompute %main "main"[\s\S]*OpFMul/,
  wasm: /pumice: wasm of sum\[2\]\n\(module\n[\s\S]*f32\.mul/,
};

describeOnTensorDevices("PUMICE_DEBUG", (device) => {
  const other = device === "cpu" ? "spirv" : "wasm";
  const run = (words: string) => runNode(program, { env: { PUMICE_DEVICE: device, PUMICE_DEBUG: words } });

  test("prints what each word asks for, and nothing that is not asked for", async () => {
    for (const [word, pattern] of Object.entries(patterns)) {
      const { code, output } = await run(word);
      assert.equal(code, 0, output);
      if (word === other) assert.doesNotMatch(output, /pumice: /);
      else assert.match(output, pattern);
      for (const [name, foreign] of Object.entries(patterns)) if (name !== word) assert.doesNotMatch(output, foreign);
      assert.match(output, /^9,21$/m);
    }
  });

  test("prints a program in the order of reading: graph, kernels, loops, code", async () => {
    const { output } = await run("wasm,spirv,loops,kernels,graph");
    const topics = [...output.matchAll(/^pumice: (\w+) of /gm)].map(([, topic]) => topic);
    const code = device === "cpu" ? "wasm" : "spirv";
    const second = topics.indexOf("graph", 1);
    assert.deepEqual(topics.slice(0, second), ["graph", "kernels", "loops", code]);
    assert.deepEqual([...new Set(topics.slice(second))].slice(0, 4), ["graph", "kernels", "loops", code]);
  });

  test("takes several words, and shows programs of jit, too", async () => {
    const { output } = await run(" graph, 1,kernels");
    assert.match(output, /pumice: opened /);
    assert.match(output, /%\d+ = placeholder : f32\[2, 2\]\n +%\d+ = tanh %\d+ : f32\[2, 2\]/);
    assert.match(output, /out\[i, j\] = tanh\(a\[i, j\]\)/);
  });

  test("shows programs that are on disk, too, by compiling them again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pumice-debug-"));
    const long = `
      import { jit, tensor } from "SRC/index.js";
      const f = jit((x) => x.matmul(x).softmax().tanh().lgamma().cumsum({ axis: 0 }).sort());
      f(tensor([[1, 2], [3, 4]])).dataSync();`;
    try {
      const runs = [];
      for (const words of ["", "kernels"]) {
        const env = { PUMICE_DEVICE: device, PUMICE_DEBUG: words, PUMICE_CACHE: folder };
        runs.push(await runNode(long, { env }));
      }
      assert.ok(readdirSync(join(folder, "programs")).length > 0, "the first run keeps its program");
      assert.equal(runs[0]!.output, "");
      assert.match(runs[1]!.output, /pumice: kernels of program 1[\s\S]*lgamma\(/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("says which words there are when it does not know one", async () => {
    const { code, output } = await run("shaders");
    assert.equal(code, 0);
    assert.match(output, /there is no "shaders"; it takes 1, 2 or 3 and the words graph, kernels, loops, spirv, wasm/);
  });

  test("prints nothing by default", async () => {
    assert.deepEqual(await run(""), { code: 0, output: "9,21\ntrue\n" });
    assert.deepEqual(await run("0"), { code: 0, output: "9,21\ntrue\n" });
  });
});

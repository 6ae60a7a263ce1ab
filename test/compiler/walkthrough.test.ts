/**
 * docs/compiler.md walks one expression through every stage. What each stage produces there is made here, so that the page
 * cannot go stale: `PUMICE_WRITE_DOCS=1 npm test -- walkthrough` writes it anew.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { compile, rewrite } from "../../src/compiler/compile.js";
import { spirvTarget } from "../../src/compiler/emit/spirv/target.js";
import { wasmTarget } from "../../src/compiler/emit/wasm/target.js";
import { printKernel } from "../../src/compiler/print/print-kernel.js";
import { planMemory } from "../../src/compiler/program/memory-plan.js";
import { kernelsOf } from "../../src/compiler/program/program.js";
import { removeComplex } from "../../src/compiler/rewrite/complex.js";
import { expandComposites } from "../../src/compiler/rewrite/expand.js";
import { chooseImplementations } from "../../src/compiler/rewrite/implementations.js";
import { copyLeaves } from "../../src/compiler/rewrite/leaves.js";
import { mergeEqual } from "../../src/compiler/rewrite/merge-equal.js";
import { splitReductions } from "../../src/compiler/rewrite/split-reductions.js";
import { schedule } from "../../src/compiler/schedule/schedule.js";
import type { Target } from "../../src/compiler/target/target.js";
import type { EncodedKernel } from "../../src/core/encoded-kernel.js";
import { makePlaceholder } from "../../src/graph/function.js";
import type { Node } from "../../src/graph/node.js";
import { printGraph } from "../../src/graph/print.js";
import { commonGpu } from "../support/targets.js";
import "../../src/index.js";
import { printProgram } from "../../src/runtime/print-program.js";
import { backendFor, Tensor } from "../../src/tensor/index.js";

const page = new URL("../../../docs/compiler.md", import.meta.url);

/** The expression of the page, over memory that nobody fills. */
function expression(): { readonly root: Node; readonly leaf: Node } {
  const leaf = makePlaceholder({ shape: [512, 300], dtype: "f32", device: backendFor("cpu") });
  const x = new Tensor(leaf);
  return { root: x.mean({ axis: 1 }).add(x.variance({ axis: 1 })).node, leaf };
}

interface Code extends EncodedKernel {
  readonly loops: string;
}

function programFor(target: Target) {
  const { root, leaf } = expression();
  return compile([root], [leaf], target, (encoded, kernel): Code => ({ ...encoded, loops: printKernel(kernel) }));
}

const firstLines = (text: string, count: number): string => {
  const lines = text.split("\n");
  return lines.length <= count ? text : [...lines.slice(0, count), `… ${lines.length - count} more lines`].join("\n");
};

/** Each block of the page by its name. */
function blocks(): Record<string, string> {
  const cpu = wasmTarget(2);
  const gpu = spirvTarget(commonGpu);
  const { root, leaf } = expression();
  const { tiles } = cpu.profile;
  const expanded = expandComposites([root], copyLeaves([leaf]).copies, tiles);
  const merged = mergeEqual(removeComplex(expanded));
  const chosen = chooseImplementations(merged.roots, tiles);
  // The page shows the passes one by one; their list is compile.ts, which must come to the same.
  const rewritten = rewrite([root], [leaf], tiles);
  assert.equal(printGraph(rewritten.roots), printGraph(mergeEqual(chosen.roots).roots));
  splitReductions(rewritten.roots, cpu.profile.split);
  const tasks = schedule(rewritten.roots, cpu.profile, rewritten.stored).map((task) => {
    if (task.kind === "routine") return `routine ${task.node.primitive.name}`;
    const { results, tiling } = task.group;
    const names = results.map(
      ({ node, rowAxes }) => `${node.primitive.name} [${node.shape}], rows along axes [${rowAxes}]`,
    );
    return `group of ${names.join(" and ")}; ${tiling.lanes} lane(s) to a row`;
  });
  const onCpu = programFor(cpu);
  const onGpu = programFor(gpu);
  const codeOf = (program: typeof onCpu) => kernelsOf(program.steps)[0]!.code;
  const plan = planMemory(onCpu);
  return {
    graph: printGraph([root]),
    merged: printGraph(merged.roots),
    tasks: tasks.join("\n"),
    loops: codeOf(onCpu).loops,
    "loops of a GPU": firstLines(codeOf(onGpu).loops, 30),
    wasm: firstLines(cpu.disassemble(codeOf(onCpu).bytes), 30),
    spirv: firstLines(gpu.disassemble(codeOf(onGpu).bytes), 30),
    program: [
      printProgram(onCpu, ({ kernel, code }) => cpu.mappingOf(kernel, code.numbers)),
      `memory between kernels: ${plan.arenaBytes} bytes`,
    ].join("\n"),
  };
}

test("the page that walks an expression through the compiler shows what the stages produce", () => {
  const text = readFileSync(page, "utf8");
  const made = blocks();
  const seen = new Set<string>();
  const renewed = text.replace(/(<!-- made: (.*?) -->\n```\w*\n)[\s\S]*?(\n```)/g, (_, before, name, after) => {
    assert.ok(name in made, `docs/compiler.md asks for "${name}", which nothing makes`);
    seen.add(name);
    return `${before}${made[name]}${after}`;
  });
  assert.deepEqual([...seen].sort(), Object.keys(made).sort(), "every block is on the page");
  if (process.env.PUMICE_WRITE_DOCS) writeFileSync(page, renewed);
  else assert.equal(text, renewed, "PUMICE_WRITE_DOCS=1 npm test -- walkthrough writes the page anew");
});

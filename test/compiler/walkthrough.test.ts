/**
 * docs/compiler.md walks two expressions through the stages: one that becomes a single kernel, with every stage, and one that
 * becomes several, with their order and memory. What the stages produce there is made here, so that the page cannot go stale:
 * `PUMICE_WRITE_DOCS=1 npm test -- walkthrough` writes it again.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { compile, planProgram, rewrite } from "../../src/compiler/compile.js";
import { spirvTarget } from "../../src/compiler/emit/spirv/target.js";
import { wasmTarget } from "../../src/compiler/emit/wasm/target.js";
import { printKernel } from "../../src/compiler/print/print-kernel.js";
import { type MemoryPlan, planMemory } from "../../src/compiler/program/memory-plan.js";
import { kernelsOf, type Program, type Slot } from "../../src/compiler/program/program.js";
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

interface Expression {
  readonly roots: readonly Node[];
  readonly leaves: readonly Node[];
}

/** A function of tensors, over memory that nobody fills. */
function expressionOf(f: (...tensors: Tensor[]) => Tensor, ...shapes: readonly (readonly number[])[]): Expression {
  const leaves = shapes.map((shape) => makePlaceholder({ shape, dtype: "f32", device: backendFor("cpu") }));
  return { roots: [f(...leaves.map((leaf) => new Tensor(leaf))).node], leaves };
}

const spread = (): Expression =>
  expressionOf((x) => x.mean({ axis: 1 }).add(x.variance({ axis: 1 })) as Tensor, [512, 300]);

const layers = (): Expression =>
  expressionOf(
    (x, w, v, u) => {
      const h = x.matmul(w).tanh();
      const unit = h.div(h.norm({ axis: 1, keepDims: true }));
      return unit.matmul(v).add(x.matmul(u).tanh()) as Tensor;
    },
    [128, 64],
    [64, 128],
    [128, 64],
    [64, 64],
  );

interface Code extends EncodedKernel {
  readonly loops: string;
}

const compiled = ({ roots, leaves }: Expression, target: Target): Program<Code> =>
  compile(roots, leaves, target, (encoded, kernel) => ({ ...encoded, loops: printKernel(kernel) }));

/** The tasks that a graph is cut into. */
function tasksOf({ roots, leaves }: Expression, { profile }: Target): string {
  const rewritten = rewrite(roots, leaves, profile.tiles);
  const split = splitReductions(rewritten.roots, rewritten.stored, profile.split);
  const tasks = schedule(split.roots, profile, split.stored).map((task) => {
    if (task.kind === "routine") return `routine ${task.node.primitive.name}`;
    const { results, tiling, product } = task.group;
    const names = results.map(
      ({ node, rowAxes }) => `${node.primitive.name} [${node.shape}], rows along axes [${rowAxes}]`,
    );
    const how = product ? "a tiled product" : `${tiling.lanes} lane(s) to a row`;
    return `group of ${names.join(" and ")}; ${how}`;
  });
  return tasks.map((task, i) => `${i + 1}. ${task}`).join("\n");
}

/** The kernels of a program without loops, in order, with the memory that each touches. `plan`: where values lie. */
function orderOf({ steps, made }: Program<Code>, { offsets, arenaBytes, sumOfBytes }: MemoryPlan): string {
  const placeOf = ({ from, index }: Slot): string => {
    if (from === "leaf") return `argument ${index}`;
    const { byteLength, root } = made[index]!;
    return root >= 0 ? `result ${root}` : `arena ${offsets[index]} to ${offsets[index]! + byteLength}`;
  };
  const lines = kernelsOf(steps).map(({ kernel, slots }, i) => {
    const places = (isWritten: boolean) =>
      slots.filter((_, at) => kernel.buffers[at]!.isWritten === isWritten).map(placeOf);
    return `${i + 1}. ${kernel.name}: ${places(false).join(", ")} → ${places(true).join(", ")}`;
  });
  return [...lines, `an arena of ${arenaBytes} bytes; ${sumOfBytes} without sharing`].join("\n");
}

const firstLines = (text: string, count: number): string => {
  const lines = text.split("\n");
  return lines.length <= count ? text : [...lines.slice(0, count), `… ${lines.length - count} more lines`].join("\n");
};

/** Each block of the page by its name. */
function blocks(): Record<string, string> {
  const cpu = wasmTarget(2);
  const gpu = spirvTarget(commonGpu);
  const { roots, leaves } = spread();
  const { tiles } = cpu.profile;
  const expanded = expandComposites(roots, copyLeaves(leaves).copies, tiles);
  const merged = mergeEqual(removeComplex(expanded));
  const chosen = chooseImplementations(merged.roots, tiles);
  // The page shows the passes one by one; their list is compile.ts, which must come to the same.
  assert.equal(printGraph(rewrite(roots, leaves, tiles).roots), printGraph(mergeEqual(chosen.roots).roots));
  const [onCpu, onGpu] = [compiled(spread(), cpu), compiled(spread(), gpu)];
  const codeOf = (program: Program<Code>) => kernelsOf(program.steps)[0]!.code;
  const several = compiled(layers(), gpu);
  const planned = planProgram(several, gpu, [-1, -1, -1, -1]);
  return {
    graph: printGraph(roots),
    merged: printGraph(merged.roots),
    tasks: tasksOf(spread(), cpu),
    loops: codeOf(onCpu).loops,
    "loops of a GPU": firstLines(codeOf(onGpu).loops, 30),
    wasm: firstLines(cpu.disassemble(codeOf(onCpu).bytes), 30),
    spirv: firstLines(gpu.disassemble(codeOf(onGpu).bytes), 30),
    program: printProgram(onCpu, ({ kernel, code }) => cpu.mappingOf(kernel, code.numbers)),
    "graph of several kernels": printGraph(layers().roots),
    "tasks of several kernels": tasksOf(layers(), gpu),
    "formulas of several kernels": kernelsOf(several.steps)
      .map(({ kernel, formula }, i) => `${i + 1}. ${kernel.name}\n${formula.text.replace(/^/gm, "   ")}`)
      .join("\n"),
    "order of several kernels": orderOf(several, planMemory(several)),
    "order by levels": orderOf(planned.program, planned.plan),
  };
}

test("the page that walks two expressions through the compiler shows what the stages produce", () => {
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
  else assert.equal(text, renewed, "PUMICE_WRITE_DOCS=1 npm test -- walkthrough writes the page again");
});

test("the page lists every pass of rewrite, in its order", () => {
  const source = readFileSync(new URL("../../../src/compiler/compile.ts", import.meta.url), "utf8");
  const passes = [...source.matchAll(/import \{ (\w+) \} from "\.\/rewrite\//g)].map(([, name]) => name as string);
  const body = source.slice(source.indexOf("export function rewrite("));
  const called = [...body.slice(0, body.indexOf("\n}\n")).matchAll(/\b(\w+)\(/g)].map(([, name]) => name as string);
  const expected = [...new Set(called.filter((name) => passes.includes(name)))];
  const text = readFileSync(page, "utf8");
  const table = text.slice(text.indexOf("| pass |"), text.indexOf("After them `splitReductions`"));
  const listed = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) =>
    [...(cell as string).matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  assert.deepEqual(listed, expected);
});

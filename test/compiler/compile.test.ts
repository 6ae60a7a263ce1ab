/** The passes as a whole: what the rewritten graph is, which kernels a program has, and how its steps are ordered at last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, planProgram, rewrite } from "../../src/compiler/compile.js";
import { type KernelStep, kernelsOf, type Program, rootsOf } from "../../src/compiler/program/program.js";
import { cpuProfile, gpuProfile } from "../../src/compiler/target/profile.js";
import { scalarNode } from "../../src/graph/build.js";
import { GraphFunction, makePlaceholder } from "../../src/graph/function.js";
import { inputsFirst, type Node } from "../../src/graph/node.js";
import { scanNode } from "../../src/graph/primitives/control/scan.js";
import { cumulate } from "../../src/graph/primitives/cumulate.js";
import { recompute, slice, stored as storedPrimitive } from "../../src/graph/primitives/movement.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, nowhere, stored, storedAs } from "../support/nodes.js";
import { asKernel, codelessTarget } from "../support/targets.js";

const { tiles } = gpuProfile;
const compiled = (roots: readonly Node[], leaves: readonly Node[], profile = gpuProfile) =>
  compile(roots, leaves, codelessTarget(profile), asKernel);
const namesOf = ({ steps }: Program<unknown>) => kernelsOf(steps).map(({ kernel: { name } }) => name);
const all = (roots: readonly Node[]) => inputsFirst(roots, ({ inputs }) => inputs);

test("the rewritten graph shares no node with the caller's, and its leaves stand in the order given", () => {
  const [x, y] = [stored(4), storedAs("i32", 3)];
  const root = g.add(g.exp(x), g.sin(x));
  const before = all([root]).map(({ inputs }) => [...inputs]);
  const { roots, leaves } = rewrite([root, g.neg(y)], [y, x], tiles);
  assert.deepEqual(
    leaves.map(({ dtype, shape }) => [dtype, shape]),
    [
      ["i32", [3]],
      ["f32", [4]],
    ],
  );
  const own = new Set(all([root]));
  assert.ok(all(roots).every((node) => !own.has(node)));
  assert.ok(all([root]).every(({ inputs }, i) => inputs.every((input, k) => input === before[i]![k])));
});

test("equal nodes become one, recomputing marks go, and no complex number is left", () => {
  const [x, z] = [stored(4), storedAs("c64", 4)];
  const twice = g.add(g.exp(x), make(recompute, [g.exp(x)]));
  const { roots } = rewrite([twice, g.mul(z, z)], [x, z], tiles);
  const nodes = all(roots);
  assert.equal(nodes.filter(({ primitive }) => primitive.name === "exp").length, 1);
  assert.ok(nodes.every(({ primitive }) => primitive !== recompute));
  const computed = nodes.filter(({ inputs }) => inputs.length > 0);
  assert.ok(computed.filter(({ dtype }) => dtype === "c64" || dtype === "c128").length <= 1);
});

test("results that are one node are computed into memory of their own", () => {
  const x = stored(4);
  const y = g.exp(x);
  const program = compiled([y, y], [x]);
  const roots = rootsOf(program);
  assert.equal(new Set(roots).size, 2);
  const written = kernelsOf(program.steps).flatMap(({ kernel, slots }) =>
    slots.filter((_, i) => kernel.buffers[i]!.isWritten).map(({ index }) => index),
  );
  assert.deepEqual(new Set(written), new Set(roots));
});

test("a kernel is named for its results, of many for the first two", () => {
  const x = stored(4, 5);
  assert.deepEqual(namesOf(compiled([g.exp(x)], [x])), ["exp[4×5]"]);
  const many = [g.exp, g.sin, g.cos, g.neg].map((f) => f(x));
  assert.deepEqual(namesOf(compiled(many.slice(0, 3), [x])), ["exp[4×5] + sin[4×5] + cos[4×5]"]);
  assert.deepEqual(namesOf(compiled(many, [x])), ["exp[4×5] + sin[4×5] + 2 more"]);
});

test("groups that compute the same share one kernel, on buffers of their own", () => {
  // Running sums stand between the groups, so that they cannot fuse.
  const rounds = (x: Node, count: number): Node => {
    let y = x;
    for (let i = 0; i < count; i++) {
      y = make(cumulate, [g.exp(y)], { op: "sum", axis: 1, isReverse: false, isExclusive: false });
    }
    return y;
  };
  const x = stored(3, 8);
  const emitted = (count: number) => {
    let loads = 0;
    const program = compile([rounds(x, count)], [x], codelessTarget(), () => ++loads);
    return { loads, steps: kernelsOf(program.steps) };
  };
  const [two, four] = [emitted(2), emitted(4)];
  assert.equal(four.loads, two.loads);
  assert.ok(four.steps.length > two.steps.length);
  const exps = four.steps.filter(({ kernel: { name } }) => name.startsWith("exp"));
  assert.ok(exps.length >= 3);
  assert.equal(new Set(exps.map(({ slots }) => JSON.stringify(slots))).size, exps.length);
});

test("a slice between vectors is marked, and one shorter than a vector is not", () => {
  const x = stored(64);
  const part = (start: number, length: number) => make(slice, [x], { start: [start], step: [1], shape: [length] });
  const isMarked = (start: number, length: number) => {
    const given = part(start, length);
    const [step] = compiled([g.exp(given)], [given]).steps as [KernelStep<unknown>];
    return step.slots.some(({ isUnaligned }) => isUnaligned === true);
  };
  assert.deepEqual([isMarked(4, 16), isMarked(5, 16), isMarked(5, 3)], [false, true, false]);
});

test("numbers that are data come in as one more leaf for each dtype", () => {
  const x = stored(4);
  const numbers = [scalarNode(2, "f32", nowhere, [4]), scalarNode(3, "f32", nowhere, [4])];
  const root = g.add(g.mul(x, numbers[0]!), numbers[1]!);
  const { leaves } = compiled([root], [x, ...numbers]);
  assert.deepEqual(
    leaves.map(({ shape }) => shape),
    [[4], [2]],
  );
  assert.equal(compiled([root], [x]).leaves.length, 1);
});

test("a loop's body goes through the same passes", () => {
  const parameters = [makePlaceholder({ shape: [6], dtype: "f32", device: nowhere })];
  const turned = g.flip(parameters[0]!, [0]);
  const body = new GraphFunction(parameters, [g.add(g.exp(turned), make(recompute, [g.exp(turned)]))]);
  const x = stored(6);
  const parts = scanNode([x], { body, constants: 0, carries: 1, length: 3, isReverse: false });
  const { steps } = compiled([parts[0]!], [x]);
  const loop = steps.find(({ kind }) => kind === "loop");
  assert.ok(loop?.kind === "loop" && loop.count === 3);
  assert.deepEqual(
    loop.steps.map((step) => (step.kind === "kernel" ? step.kernel.name : step.kind)),
    ["add[6]"],
  );
});

test("steps are ordered by levels where kernels run side by side, and one branch after another where not", () => {
  const leaves = [stored(300, 200), stored(300, 200)];
  const deep = (x: Node) => make(storedPrimitive, [g.permute(g.exp(x), [1, 0])]);
  const program = compiled(
    leaves.map((x) => deep(deep(x))),
    leaves,
  );
  assert.equal(program.steps.length, 4);
  const onCpu = planProgram(program, codelessTarget(cpuProfile), [-1, -1]);
  assert.deepEqual(onCpu.program.steps, program.steps);
  const onGpu = planProgram(program, codelessTarget(gpuProfile), [-1, -1]);
  assert.notDeepEqual(onGpu.program.steps, program.steps);
  assert.deepEqual(new Set(onGpu.program.steps), new Set(program.steps));
});

test("a result takes the place of an argument of its size that is given away", () => {
  const x = stored(16);
  const program = compiled([g.exp(x)], [x]);
  assert.deepEqual(planProgram(program, codelessTarget(), [64]).inPlace, [0]);
  assert.deepEqual(planProgram(program, codelessTarget(), [-1]).inPlace, [-1]);
});

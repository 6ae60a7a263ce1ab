/** Composites as what they are made of. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { expandComposites } from "../../../src/compiler/rewrite/expand.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { checkpointNode } from "../../../src/graph/primitives/checkpoint.js";
import { branching, choiceNode } from "../../../src/graph/primitives/control/choice.js";
import { stopped, variable } from "../../../src/graph/primitives/movement.js";
import { g } from "../../../src/graph/vocabulary.js";
import { make, nowhere, stored, storedAs } from "../../support/nodes.js";
import { plainValues } from "../../support/plain-graph.js";

const { tiles } = gpuProfile;
const expanded = (roots: readonly Node[], profile = tiles): Node[] => expandComposites(roots, new Map(), profile);
const behind = (roots: readonly Node[]): Node[] => inputsFirst(roots, ({ storage, inputs }) => (storage ? [] : inputs));
const uses = (roots: readonly Node[], primitive: Node["primitive"]): boolean =>
  behind(roots).some((node) => node.primitive === primitive);

const functionOf = (size: number, build: (x: Node) => Node): GraphFunction => {
  const p = makePlaceholder({ shape: [size], dtype: "f32", device: nowhere });
  return new GraphFunction([p], [build(p)]);
};

test("it is a copy: no node of the caller is in it or changed", () => {
  const x = stored(4);
  const node = g.neg(g.exp(x));
  const roots = expanded([node]);
  assert.ok(behind(roots).every((each) => each === x || (each.isAbstract && each !== node)));
  assert.equal(node.isAbstract, false);
  assert.deepEqual(plainValues(roots, new Map([[x, [0, 0, 0, 0]]])), [[-1, -1, -1, -1]]);
});

test("autodiff markers are dropped", () => {
  const x = stored(4);
  const [root] = expanded([g.neg(make(stopped, [make(variable, [x])]))]);
  assert.equal(root!.inputs[0], x);
});

test("what a composite is made of is expanded again, until none is left", () => {
  const x = stored(3);
  const inner = (y: Node) => checkpointNode(functionOf(3, g.square), [y])[0]!;
  const roots = expanded(checkpointNode(functionOf(3, inner), [x]));
  assert.ok(behind(roots).every(({ primitive }) => primitive.kind !== "composite"));
  assert.deepEqual(plainValues(roots, new Map([[x, [1, 2, 3]]])), [[1, 4, 9]]);
});

test("choices become selections, or branches where there is much to compute and kernels can be kept apart", () => {
  const choosing = (size: number, profile = tiles) => {
    const [index, x] = [storedAs("i32"), stored(size)];
    const roots = expanded(choiceNode(index, [x], [functionOf(size, g.neg), functionOf(size, g.exp)]), profile);
    return { index, x, roots };
  };
  const { index, x, roots } = choosing(2);
  assert.equal(uses(roots, branching), false);
  const at = (which: number) =>
    plainValues(
      roots,
      new Map([
        [index, [which]],
        [x, [1, 0]],
      ]),
    );
  assert.deepEqual([at(0), at(1)], [[[-1, -0]], [[Math.fround(Math.E), 1]]]);
  assert.equal(uses(choosing(1 << 20).roots, branching), true);
  assert.equal(uses(choosing(1 << 20, { ...tiles, kind: "none" }).roots, branching), false);
});

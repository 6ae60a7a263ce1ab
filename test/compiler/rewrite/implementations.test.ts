/** Which of several ways to compute a thing is taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseImplementations } from "../../../src/compiler/rewrite/implementations.js";
import { gpuProfile } from "../../../src/compiler/target/profile.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { dot } from "../../../src/graph/primitives/dot.js";
import { concat } from "../../../src/graph/primitives/movement.js";
import { sum } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { stored } from "../../support/nodes.js";

const { tiles } = gpuProfile;
const behind = (roots: readonly Node[]): Node[] => inputsFirst(roots, ({ storage, inputs }) => (storage ? [] : inputs));
const count = (roots: readonly Node[], primitive: Node["primitive"]): number =>
  behind(roots).filter((node) => node.primitive === primitive).length;
const chosen = (root: Node, profile = tiles) => chooseImplementations([root], profile);

test("small products become sums, large ones stay; inside larger kernels none does", () => {
  const product = (n: number) => g.dot(stored(1, n, n), stored(1, n, n));
  assert.equal(count(chosen(product(4)).roots, dot), 0);
  assert.equal(count(chosen(product(512)).roots, dot), 1);
  assert.equal(count(chosen(product(512), { ...tiles, kind: "none" }).roots, dot), 0);
});

test("a dear operand of a large product is stored before it is loaded, again and again", () => {
  const dear = g.exp(g.exp(stored(1, 512, 512)));
  const { roots, stored: kept } = chosen(g.dot(dear, stored(1, 512, 512)));
  assert.equal(kept.size, 1);
  assert.ok(behind(roots).includes([...kept][0]!), "the copy of it, which is in the graph");
});

test("many tensors put together are joined by a routine, a few are read where they are needed", () => {
  const joining = (many: number, profile = tiles) =>
    chosen(
      g.neg(
        g.concat(
          Array.from({ length: many }, () => stored(8)),
          0,
        ),
      ),
      profile,
    ).roots;
  assert.equal(count(joining(3), concat), 1);
  assert.equal(count(joining(100), concat), 0);
  assert.ok(behind(joining(100)).some(({ primitive }) => primitive.name === "join"));
  assert.equal(count(joining(100, { ...tiles, kind: "none" }), concat), 1, "inside a larger kernel nothing can copy");
});

test("reductions of what is the same everywhere are gone", () => {
  const { roots } = chosen(g.sum(g.broadcast(stored(4, 1), [4, 100]), [1]));
  const left = behind(roots).filter(({ primitive }) => primitive === sum);
  assert.ok(left.every(({ inputs: [input] }) => input!.shape[1] === 1));
});

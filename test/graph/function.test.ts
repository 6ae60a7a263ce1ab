/** Functions as graphs: what applying one builds, when two are the same, and what becomes of values from outside. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scalarNode } from "../../src/graph/build.js";
import {
  abstractInOrder,
  closeOver,
  closeOverAll,
  GraphFunction,
  isLeftBehind,
  leftTraceOf,
  makePlaceholder,
  runOn,
  substitute,
} from "../../src/graph/function.js";
import { inputsFirst, type Node } from "../../src/graph/node.js";
import { constant, iota, placeholder } from "../../src/graph/primitives/leaf.js";
import { g } from "../../src/graph/vocabulary.js";
import { make, nowhere, stored, storedAs } from "../support/nodes.js";
import { plainValues } from "../support/plain-graph.js";

const parameter = (...shape: number[]): Node => makePlaceholder({ shape, dtype: "f32", device: nowhere });

const placeholdersIn = (nodes: readonly Node[]): Node[] =>
  inputsFirst(nodes, ({ inputs }) => inputs).filter(({ primitive }) => primitive === placeholder);

test("a placeholder has a shape and a dtype, no value, and makes what is built on it have none", () => {
  const p = makePlaceholder({ shape: [2, 3], dtype: "i64", device: nowhere });
  assert.deepEqual([p.primitive, p.shape, p.dtype, p.isAbstract], [placeholder, [2, 3], "i64", true]);
  assert.equal(g.neg(p).isAbstract, true);
});

test("applying a function builds its nodes on other inputs, and leaves the function as it was", () => {
  const [p, q] = [parameter(2), parameter(2)];
  const result = g.add(g.mul(p, p), q);
  const f = new GraphFunction([p, q], [result, q]);
  const [x, y] = [stored(2), stored(2)];
  const [made, second] = f.apply([x, y]);
  assert.equal(second, y, "a result that is a parameter is the input");
  assert.equal(made!.isAbstract, false);
  assert.deepEqual(
    plainValues(
      [made!],
      new Map([
        [x, [3, 4]],
        [y, [1, 2]],
      ]),
    ),
    [[10, 18]],
  );
  assert.deepEqual(placeholdersIn([made!]), []);
  assert.deepEqual(placeholdersIn([result]), [p, q]);
});

test("what does not depend on the placeholders stays the same node", () => {
  const p = parameter(2);
  const outside = g.exp(stored(2));
  const result = g.add(p, outside);
  const x = stored(2);
  const [made] = substitute([result], [p], [x]);
  assert.deepEqual(made!.inputs, [x, outside]);
  assert.deepEqual(substitute([outside], [p], [x]), [outside]);
  assert.deepEqual(abstractInOrder([result, outside], [p]), [result]);
});

test("functions have one key where they compute the same way, and only there", () => {
  const f = (build: (p: Node, q: Node) => Node, shape = [2]) => {
    const [p, q] = [parameter(...shape), parameter(...shape)];
    return new GraphFunction([p, q], [build(p, q)]).key;
  };
  const product = f((p, q) => g.mul(g.add(p, q), q));
  assert.equal(
    product,
    f((p, q) => g.mul(g.add(p, q), q)),
  );
  const others = [
    f((p, q) => g.mul(g.add(q, p), q)),
    f((p, q) => g.mul(g.add(p, q), p)),
    f((p, q) => g.add(g.mul(p, q), q)),
    f((p, q) => g.mul(g.add(p, q), q), [3]),
    f((p, q) => g.add(g.mul(p, 2), q)),
    f((p, q) => g.add(g.mul(p, 3), q)),
    f((p) => p),
    f((_, q) => q),
  ];
  assert.equal(new Set([product, ...others]).size, others.length + 1);
});

test("a key knows whether a part is computed once or twice", () => {
  const p = parameter(2);
  const shared = g.exp(p);
  const [once, twice] = [g.add(shared, shared), g.add(g.exp(p), g.exp(p))];
  assert.notEqual(new GraphFunction([p], [once]).key, new GraphFunction([p], [twice]).key);
});

test("values from outside become the first parameters, each once; what they were computed from stays outside", () => {
  const p = parameter(2);
  const [a, b] = [stored(2), g.exp(stored(2))];
  const { body, captured } = closeOver([g.add(g.mul(p, a), b), g.sub(a, p)], [p]);
  assert.deepEqual(captured, [a, b]);
  assert.deepEqual(body.parameters.slice(2), [p]);
  assert.ok(body.parameters.slice(0, 2).every(({ primitive }) => primitive === placeholder));
  assert.deepEqual(new Set(placeholdersIn(body.results)), new Set(body.parameters));
  const [x, y, z] = [stored(2), stored(2), stored(2)];
  const values = plainValues(
    body.apply([x, y, z]),
    new Map([
      [x, [2, 3]],
      [y, [10, 20]],
      [z, [1, -1]],
    ]),
  );
  assert.deepEqual(values, [
    [12, 17],
    [1, 4],
  ]);
});

test("constants, also stretched ones, stay inside as the function's own: computing another's leaves them alone", () => {
  const p = parameter(2);
  const two = scalarNode(2, "f32", nowhere);
  const stretched = g.broadcast(two, [2]);
  const { body, captured } = closeOver([g.add(p, stretched)], [p]);
  assert.deepEqual(captured, []);
  two.realize({ byteLength: 4 });
  stretched.realize({ byteLength: 8 });
  const x = stored(2);
  assert.deepEqual(plainValues(body.apply([x]), new Map([[x, [1, 2]]])), [[3, 4]]);
  const own = inputsFirst(body.results, ({ inputs }) => inputs).find(({ primitive }) => primitive === constant);
  assert.ok(own && own !== two && own.storage === null);
});

test("what is computed of constants alone stays inside while it costs less than a load", () => {
  const p = parameter(4);
  const places = make(iota, [], { shape: [4], dtype: "f32" });
  const mask = g.less(g.mul(places, places), 3);
  const { body, captured } = closeOver([g.where(mask, p, places)], [p]);
  assert.deepEqual(captured, []);
  const x = stored(4);
  assert.deepEqual(plainValues(body.apply([x]), new Map([[x, [7, 8, 9, 10]]])), [[7, 8, 2, 3]]);
  const dear = g.exp(g.exp(g.exp(places)));
  assert.deepEqual(closeOver([g.add(p, dear)], [p]).captured, [dear]);
  const read = g.mul(places, stored(4));
  assert.deepEqual(closeOver([g.add(p, read)], [p]).captured, [read], "memory is no constant");
  const held = g.add(places, parameter(4));
  assert.deepEqual(closeOver([g.add(p, held)], [p]).captured, [held], "nor is a parameter of another function");
});

test("a constant that is differentiated by is captured, because its derivative is asked for outside", () => {
  const p = parameter(2);
  const two = scalarNode(2, "f32", nowhere, [2]);
  two.trace = { isOpen: true, outer: null, level: 0 };
  assert.deepEqual(closeOver([g.add(p, two)], [p]).captured, [two]);
});

test("a result that comes from outside is a parameter, too", () => {
  const a = stored(2);
  const { body, captured } = closeOver([a], [parameter(2)]);
  assert.deepEqual(captured, [a]);
  assert.equal(body.results[0], body.parameters[0]);
});

test("several functions that are closed together take the same parameters, whichever of them uses one", () => {
  const p = parameter(2);
  const [a, b] = [stored(2), stored(2)];
  const { bodies, captured } = closeOverAll([[g.add(p, a)], [g.mul(p, b), p], []], [p]);
  assert.deepEqual(captured, [a, b]);
  assert.deepEqual(
    bodies.map(({ results }) => results.length),
    [1, 2, 0],
  );
  assert.ok(bodies.every(({ parameters }) => parameters === bodies[0]!.parameters));
  const inputs = [stored(2), stored(2), stored(2)];
  const given = new Map(inputs.map((node, i) => [node, [i + 1, 10 * (i + 1)]]));
  assert.deepEqual(plainValues(bodies[0]!.apply(inputs), given), [[4, 40]]);
  assert.deepEqual(plainValues(bodies[1]!.apply(inputs), given), [
    [6, 600],
    [3, 30],
  ]);
});

test("what is left of a function that has returned is known, with who traced it", () => {
  const p = parameter(2);
  const inside = runOn([p], "vmap", () => {
    const node = g.neg(p);
    assert.equal(leftTraceOf(node), undefined, "while it runs");
    assert.equal(isLeftBehind([node], []), false);
    return node;
  });
  assert.equal(leftTraceOf(inside), "vmap");
  assert.equal(isLeftBehind([inside], []), true);
  assert.equal(isLeftBehind([inside], [inside]), false, "what is given stands for itself");
  assert.equal(leftTraceOf(storedAs("f32", 2)), undefined);
  assert.throws(() => runOn([p], "grad", () => assert.fail("thrown inside")), /thrown inside/);
  assert.equal(leftTraceOf(p), "grad", "also when it ended with an error");
});

test("a rearrangement of a value that is captured anyway is not captured beside it", () => {
  const p = parameter(3, 3);
  const a = g.exp(stored(3, 3));
  const across = g.permute(a, [1, 0]);
  const flat = g.reshape(across, [9]);
  const { body, captured } = closeOver([g.add(g.mul(p, a), across), flat], [p]);
  assert.deepEqual(captured, [a]);
  const [x, y] = [stored(3, 3), stored(3, 3)];
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const given = new Map([
    [x, numbers],
    [y, numbers],
  ]);
  const transposed = [1, 4, 7, 2, 5, 8, 3, 6, 9];
  const expected = numbers.map((value, i) => value * value + transposed[i]!);
  assert.deepEqual(plainValues(body.apply([x, y]), given), [expected, transposed]);
  assert.deepEqual(closeOver([g.add(p, across)], [p]).captured, [across], "alone it is computed once, outside");
  const held = stored(3, 3);
  assert.deepEqual(closeOver([g.add(g.mul(p, a), held)], [p]).captured, [a, held], "memory stays");
});

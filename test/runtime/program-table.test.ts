/** Looking up programs by the form of a graph: the same form is found again, and nothing else is taken for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType, Scalar } from "../../src/core/dtype.js";
import { derive, makeNode } from "../../src/graph/build.js";
import { GraphFunction, makePlaceholder } from "../../src/graph/function.js";
import { type DeviceHandle, Node } from "../../src/graph/node.js";
import { scanNode } from "../../src/graph/primitives/control/scan.js";
import { add, exp, mul, neg, pow } from "../../src/graph/primitives/elementwise.js";
import { buffer, constant } from "../../src/graph/primitives/leaf.js";
import { pad, permute, slice } from "../../src/graph/primitives/movement.js";
import { ProgramTable, resultsOf } from "../../src/runtime/program-table.js";

const device: DeviceHandle = { id: "none", realize: () => assert.fail("nothing is computed here") };

function leaf(shape: readonly number[] = [4], dtype: DType = "f32"): Node {
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  node.realize({ byteLength: 0 });
  return node;
}

const binary = (primitive: typeof add, a: Node, b: Node) => makeNode(primitive, [a, b], {}, device);
const number = (value: Scalar, shape: readonly number[] = [4], dtype: DType = "f32") =>
  makeNode(constant, [], { value, dtype, shape: [...shape] }, device);

/** Puts the graphs into one table, each under its own name, and expects that each is found under the name of its form. */
function expectForms(graphs: Record<string, () => readonly Node[]>): void {
  const table = new ProgramTable<string>(1000);
  for (const [name, build] of Object.entries(graphs)) {
    assert.equal(table.find(build()).program, null, `${name} was taken for another`);
    table.add({ ...table.find(build()), numbers: [] }, name);
  }
  for (const [name, build] of Object.entries(graphs)) assert.equal(table.find(build()).program, name);
}

test("operations, dtypes, shapes and the number of leaves make the form", () => {
  expectForms({
    add: () => [binary(add, leaf(), leaf())],
    mul: () => [binary(mul, leaf(), leaf())],
    longer: () => [binary(add, leaf([5]), leaf([5]))],
    matrix: () => [binary(add, leaf([2, 2]), leaf([2, 2]))],
    f64: () => [binary(add, leaf([4], "f64"), leaf([4], "f64"))],
    exp: () => [derive(exp, leaf(), {})],
    neg: () => [derive(neg, leaf(), {})],
    twice: () => [derive(neg, derive(neg, leaf(), {}), {})],
  });
});

test("one leaf read twice is another form than two leaves, and so is a value shared by two operations", () => {
  expectForms({
    "x + y": () => [binary(add, leaf(), leaf())],
    "x + x": () => {
      const x = leaf();
      return [binary(add, x, x)];
    },
    "e(x) + e(x), made once": () => {
      const e = derive(exp, leaf(), {});
      return [binary(add, e, e)];
    },
    "e(x) + e(x), made twice": () => {
      const x = leaf();
      return [binary(add, derive(exp, x, {}), derive(exp, x, {}))];
    },
    "e(x) + y": () => [binary(add, derive(exp, leaf(), {}), leaf())],
    "y + e(x)": () => [binary(add, leaf(), derive(exp, leaf(), {}))],
  });
});

test("the leaves are given in the order in which the program counts them", () => {
  const table = new ProgramTable<string>(10);
  const [x, y] = [leaf(), leaf()];
  const { leaves } = table.find([binary(add, binary(mul, x, y), x)]);
  assert.deepEqual(leaves, [x, y]);
  assert.ok(leaves[0] === x && leaves[1] === y);
});

test("which nodes are wanted, and in which order, is part of the form", () => {
  const both = () => {
    const e = derive(exp, leaf(), {});
    return { e, n: derive(neg, e, {}) };
  };
  expectForms({
    "the end": () => [both().n],
    "the end and the middle": () => {
      const { e, n } = both();
      return [n, e];
    },
    "the middle and the end": () => {
      const { e, n } = both();
      return [e, n];
    },
  });
});

test("parameters that print alike are told apart: 0 and -0, 1 and 1n, true and 1, and numbers of one hash", () => {
  const values: Scalar[] = [0, -0, 1, 1n, true, false, 0.5, 1e-20, 2e-20, -1e-20, Infinity, -Infinity, NaN, 2 ** 32];
  expectForms(
    Object.fromEntries(
      values.map((value) => [
        `${typeof value} ${Object.is(value, -0) ? "-0" : value}`,
        () => [binary(add, leaf(), number(value))],
      ]),
    ),
  );
});

test("parameters of arrays are compared element by element", () => {
  const sliced = (start: number[], step: number[]) => () => [
    derive(slice, leaf([4, 4]), { start, step, shape: [2, 2] }),
  ];
  expectForms({
    corner: sliced([0, 0], [1, 1]),
    below: sliced([1, 0], [1, 1]),
    aside: sliced([0, 1], [1, 1]),
    sparse: sliced([0, 0], [2, 1]),
    permuted: () => [derive(permute, leaf([4, 4]), { axes: [1, 0] })],
    unpermuted: () => [derive(permute, leaf([4, 4]), { axes: [0, 1] })],
  });
});

test("places are built in until three were seen; then those that changed are data, and at last all of them", () => {
  const table = new ProgramTable<string>(100);
  /** The program for a slice that begins there, and the places that it is given. */
  const use = (name: string, ...start: readonly number[]): [string, readonly unknown[]] => {
    const sliced = derive(slice, leaf([9, 9, 4]), { start: [...start, 0], step: [1, 1, 1], shape: [2, 1, 4] });
    const found = table.find([derive(neg, derive(exp, sliced, {}), {})]);
    const { program, numbers } = found;
    if (program === null) table.add(found, name);
    return [program ?? `${name}, new`, numbers.map(({ params }) => params.value)];
  };
  assert.deepEqual(use("first", 0, 1), ["first, new", []]);
  assert.deepEqual(use("second", 0, 2), ["second, new", []]);
  assert.deepEqual(use("third", 0, 3), ["third, new", []]);
  assert.deepEqual(use("again", 0, 2), ["second", []]);
  assert.deepEqual(use("fourth", 0, 4), ["fourth, new", [4]]);
  assert.deepEqual(use("again", 0, 5), ["fourth", [5]]);
  assert.deepEqual(use("again", 0, 1), ["first", []], "the one that holds most places is the best");
  assert.deepEqual(use("last", 7, 5), ["last, new", [7, 5]]);
  assert.deepEqual(use("again", 6, 8), ["last", [6, 8]]);
});

test("the amounts of a pad are a place, and its shape is part of the form", () => {
  const table = new ProgramTable<string>(100);
  const use = (low: number, high: number): string | null => {
    const padded = derive(pad, leaf([3]), { low: [low], high: [high], interior: [0], value: 0 });
    const found = table.find([padded]);
    if (found.program === null) table.add(found, `${found.numbers.length} given`);
    return found.program;
  };
  for (const low of [0, 1, 2]) assert.equal(use(low, 4 - low), null);
  assert.equal(use(3, 2), null, "longer");
  assert.equal(use(3, 1), null);
  assert.equal(use(4, 0), "1 given");
  assert.equal(use(3, 2), "0 given");
});

test("places of complex numbers are part of the form", () => {
  const part = (start: number) => () => [derive(slice, leaf([4], "c64"), { start: [start], step: [2], shape: [2] })];
  expectForms({ even: part(0), odd: part(1) });
});

test("a function among the parameters is told by what it computes", () => {
  const loop = (primitive: typeof exp, length: number) => () => {
    const carry = makePlaceholder({ shape: [4], dtype: "f32", device });
    const body = new GraphFunction([carry], [derive(primitive, carry, {})]);
    return scanNode([leaf()], { body, constants: 0, carries: 1, length, isReverse: false }).slice(0, 1);
  };
  expectForms({ exp: loop(exp, 3), neg: loop(neg, 3), longer: loop(exp, 4) });
});

test("a value computed in the meantime is a leaf", () => {
  const table = new ProgramTable<string>(10);
  table.add(table.find([derive(neg, leaf(), {})]), "neg");
  const inner = derive(exp, leaf(), {});
  const outer = derive(neg, inner, {});
  assert.equal(table.find([outer]).program, null);
  inner.realize({ byteLength: 0 });
  assert.equal(table.find([outer]).program, "neg");
});

test("the oldest program goes first when there are too many", () => {
  const table = new ProgramTable<number>(3);
  const graph = (extent: number) => [derive(neg, leaf([extent]), {})];
  for (let i = 0; i < 5; i++) table.add(table.find(graph(i)), i);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => table.find(graph(i)).program),
    [null, null, 2, 3, 4],
  );
});

test("a form that comes back with other numbers is given those that have changed, and at last all of them", () => {
  const table = new ProgramTable<string>(100);
  const shape = [4];
  const graph = (...values: readonly Scalar[]) => {
    let node = leaf();
    for (const value of values) node = binary(add, node, number(value, shape));
    return [node];
  };
  /** The program for such numbers and those it is given; it is made where there is none. */
  const use = (name: string, ...values: readonly Scalar[]): [string, readonly unknown[]] => {
    const roots = graph(...values);
    const found = table.find(roots);
    const { program, numbers } = found;
    if (program === null) table.add(found, name);
    return [program ?? `${name}, new`, numbers.map(({ params }) => params.value)];
  };
  assert.deepEqual(use("first", 1, 2, 3, 4), ["first, new", []]);
  assert.deepEqual(use("again", 1, 2, 3, 4), ["first", []]);
  assert.deepEqual(use("second", 1, 5, 3, 4), ["second, new", [5]]);
  assert.deepEqual(use("again", 1, 6, 3, 4), ["second", [6]]);
  assert.deepEqual(use("again", 1, 2, 3, 4), ["first", []], "the one that holds most numbers is the best");
  assert.deepEqual(use("third", 1, 2, 3, -0), ["third, new", [2, -0]]);
  assert.deepEqual(use("again", 1, Number.NaN, 3, Number.NaN), ["third", [Number.NaN, Number.NaN]]);
  assert.deepEqual(use("last", 0, 2, 3, 4), ["last, new", [0, 2, 3, 4]]);
  assert.deepEqual(use("again", 9, 8, 7, 6), ["last", [9, 8, 7, 6]]);
  assert.deepEqual(use("other", 1, 2, 3), ["other, new", []], "another form has programs of its own");
});

test("numbers of another shape or dtype make another form, and so does the exponent of a complex power", () => {
  const table = new ProgramTable<string>(100);
  const found = (roots: readonly Node[]) => {
    const looked = table.find(roots);
    const { program, numbers } = looked;
    if (program === null) table.add(looked, "known");
    return [program, numbers.length];
  };
  const complex = (exponent: number) => [binary(pow, leaf([4], "c64"), number(exponent, [4], "c64"))];
  const factor = (value: number) => [binary(mul, leaf([4], "c64"), number(value, [4], "c64"))];
  assert.deepEqual(found([number(1)]), [null, 0]);
  assert.deepEqual(found([number(2, [5])]), [null, 0]);
  assert.deepEqual(found([number(2, [4], "f64")]), [null, 0]);
  assert.deepEqual(found([number(2)]), [null, 1]);
  assert.deepEqual(found(complex(2)), [null, 0]);
  assert.deepEqual(found(complex(3)), [null, 0]);
  assert.deepEqual(found(complex(2)), ["known", 0]);
  assert.deepEqual(found(factor(2)), [null, 0]);
  assert.deepEqual(found(factor(3)), [null, 1]);
});

test("a chain of 100,000 operations is walked without recursion", () => {
  let node = leaf();
  node.isAbstract = true;
  for (let i = 0; i < 100_000; i++) node = derive(neg, node, {});
  const table = new ProgramTable<string>(10);
  table.add(table.find([node]), "long");
  assert.equal(table.find([node]).program, "long");
});

test("a form has a program for each set of values that it keeps for later", () => {
  const table = new ProgramTable<string>(10);
  const graph = () => {
    const e = derive(exp, leaf(), {});
    return { e, n: derive(neg, derive(neg, e, {}), {}) };
  };
  const known = table.look(table.see([graph().n]));
  known.form.usedLater.add(known.order.length - 3);
  const keeping = table.choose(known, true);
  assert.deepEqual([keeping.program, keeping.kept], [null, 1]);
  assert.deepEqual(
    resultsOf(keeping).map(({ primitive }) => primitive),
    [neg, exp],
  );
  table.add(keeping, "keeping");
  const { e, n } = graph();
  const next = table.look(table.see([n]));
  assert.equal(table.choose(next, true).program, "keeping", "the form remembers what it keeps");
  assert.deepEqual(resultsOf(table.choose(next, true)), [n, e]);
  assert.equal(table.choose(next, false).program, null, "where memory is short, another program does without");
  assert.deepEqual(resultsOf(table.choose(next, false)), [n]);
  assert.equal(table.find([n]).program, null);
});

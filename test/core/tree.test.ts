/** Trees: laws of flatten and unflatten, order, depth, classes, types, and errors that point at the place. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { ArgumentError } from "../../src/core/errors.js";
import {
  flatten,
  leafPaths,
  leaves,
  leavesLike,
  type MapTree,
  map,
  orderKey,
  partingOf,
  pathOf,
  reduce,
  registerClass,
  structureKey,
  type Tree,
  unflatten,
} from "../../src/core/tree.js";
import { type Random, randomFrom } from "../support/random.js";

const isNumber = (value: unknown): value is number => typeof value === "number";

function randomTree(random: Random, depth: number): Tree<number> {
  const kind = depth === 0 ? random.below(2) : random.below(5);
  if (kind === 0) return random.below(100);
  if (kind === 1) return random.pick([null, undefined, 7]);
  const children = Array.from({ length: random.below(4) }, () => randomTree(random, depth - 1));
  if (kind < 4) return children;
  return Object.fromEntries(children.map((child) => [random.pick(["w", "b", "a b", "10", "2", "__proto__"]), child]));
}

describe("leavesLike", () => {
  test("gives the leaves of trees of the structure, and of no others", () => {
    const trees = Array.from({ length: 120 }, (_, seed) => randomTree(randomFrom(seed), 3));
    const flat = trees.map((tree) => flatten(tree, isNumber));
    let likes = 0;
    for (const { structure } of flat) {
      trees.forEach((tree, i) => {
        const other = flat[i]!.structure;
        const isLike = structure.key === other.key && orderKey(structure) === orderKey(other);
        if (isLike) likes++;
        assert.deepEqual(leavesLike(structure, tree, isNumber), isLike ? flat[i]!.leaves : null);
      });
    }
    assert.ok(likes > 2 * trees.length, "some trees are alike");
  });

  test("takes keys in the order they were written in, lists by sorted key, and none but an object's own", () => {
    const { structure } = flatten({ b: 1, a: { c: 2 } }, isNumber);
    assert.deepEqual(leavesLike(structure, { b: 3, a: { c: 4 } }, isNumber), [4, 3]);
    assert.equal(leavesLike(structure, { a: { c: 4 }, b: 3 }, isNumber), null);
    assert.equal(leavesLike(structure, { b: 1, a: { c: 2 }, d: 3 }, isNumber), null);
    assert.equal(leavesLike(structure, { b: 1, toString: { c: 2 } }, isNumber), null);
    assert.equal(leavesLike(flatten({ toString: 1 }, isNumber).structure, { x: 1 }, isNumber), null);
    assert.equal(leavesLike(flatten([1], isNumber).structure, { 0: 1 }, isNumber), null);
  });
});

describe("flatten and unflatten", () => {
  test("are inverse to each other on random trees", () => {
    for (let seed = 0; seed < 500; seed++) {
      const tree = randomTree(randomFrom(seed), 4);
      const { leaves, structure } = flatten(tree, isNumber);
      const rebuilt = unflatten(structure, leaves);
      assert.deepStrictEqual(rebuilt, tree, `seed ${seed}`);
      assert.equal(JSON.stringify(rebuilt), JSON.stringify(tree), `seed ${seed}: the order of keys`);
      assert.equal(structure.leafCount, leaves.length);
      assert.equal(leafPaths(structure).length, leaves.length);
    }
  });

  test("list leaves by sorted key and rebuild in the order written", () => {
    const { leaves: list, structure } = flatten({ w: 1, b: 2, layers: [{ z: 3, a: 4 }] }, isNumber);
    assert.deepEqual(list, [2, 4, 3, 1]);
    assert.equal(JSON.stringify(unflatten(structure, list)), '{"w":1,"b":2,"layers":[{"z":3,"a":4}]}');
  });

  test("keep a key called __proto__ an ordinary key", () => {
    const tree = JSON.parse('{"__proto__": {"polluted": 1}}');
    const { leaves: list, structure } = flatten(tree, isNumber);
    const rebuilt = unflatten(structure, list) as Record<string, unknown>;
    assert.deepEqual(Object.keys(rebuilt), ["__proto__"]);
    assert.equal(rebuilt.polluted, undefined);
  });

  test("treat holes in arrays as undefined, and objects of other realms as plain", () => {
    const holed: unknown[] = [];
    holed[1] = 1;
    assert.deepEqual(flatten(holed, isNumber).leaves, [1]);
    assert.deepEqual(flatten(runInNewContext("({ a: [1, 2], b: 3 })"), isNumber).leaves, [1, 2, 3]);
    assert.deepEqual(flatten(Object.assign(Object.create(null), { a: 1 }), isNumber).leaves, [1]);
  });

  test("take anything that is no container as a leaf when no test is given", () => {
    const when = new Date();
    assert.deepEqual(flatten({ a: "x", b: [when, null] }).leaves, ["x", when]);
  });

  test("walk trees 100,000 deep", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = i % 2 ? [deep] : { a: deep };
    const { leaves: list, structure } = flatten(deep, isNumber);
    assert.deepEqual(list, [1]);
    const doubled = map(isNumber, (x) => x * 2, deep);
    assert.deepEqual(leaves(doubled, isNumber), [2]);
    assert.equal(structureKey(unflatten(structure, [5]), isNumber), structure.key);
    assert.ok(pathOf(structure, 0).length > 100_000);
  });

  test("refuse the wrong number of leaves", () => {
    assert.throws(() => unflatten(flatten([1, 2], isNumber).structure, [1]), /1 leaves for a tree that has 2/);
  });
});

describe("structure keys", () => {
  test("are equal for equal structures, whatever the leaves and the order of keys", () => {
    assert.equal(structureKey({ a: 1, b: [2] }, isNumber), structureKey({ b: [3], a: 9 }, isNumber));
  });

  test("differ for different structures", () => {
    // biome-ignore format: rows read best
    const trees: unknown[] = [
      1, null, undefined, [], {}, [1], [[1]], [1, 1], [[1], 1], [1, [1]], [[], 1], [[1, 1]], { a: 1 }, { b: 1 },
      { a: [1] }, [{ a: 1 }], { a: { b: 1 } }, { a: 1, b: 1 }, { "a,b": 1 }, { "a(": 1 }, { "": 1 }, { '"a"': 1 },
      { a: null }, { a: undefined }, { a: {} }, { a: [] }, { a: {}, b: 1 }, { a: { b: {} } }, [null], [undefined],
    ];
    const keys = trees.map((tree) => structureKey(tree, isNumber));
    assert.equal(new Set(keys).size, trees.length);
  });
});

describe("map, leaves and reduce", () => {
  test("map keeps the type of the tree", () => {
    const params = { w: [1, 2] as [number, number], b: null, c: { d: 3 } };
    const texts = map(isNumber, String, params);
    const typed: { w: [string, string]; b: null; c: { d: string } } = texts;
    assert.deepEqual(typed, { w: ["1", "2"], b: null, c: { d: "3" } });
    const check: MapTree<number | null, number, string> = "x";
    assert.ok(check);
  });

  test("map of several trees pairs what stands in the same place, whatever the order of keys", () => {
    const sum = map(isNumber, (a, b, c) => `${a + b}${c}`, { x: 1, y: [2] }, { y: [20], x: 10 }, { x: "i", y: ["j"] });
    assert.deepEqual(sum, { x: "11i", y: ["22j"] });
  });

  test("optional leaves are leaves to those beside them, and stay optional", () => {
    interface Layer {
      w: number;
      b?: number;
      c: number | null;
      parts: { d?: number }[];
    }
    const layer: Layer = { w: 1, c: null, parts: [{ d: 2 }, {}] };
    // The types are what is tested here: the second leaf is a number, not perhaps one.
    const sum = map(isNumber, (a, b) => a + b, layer, layer);
    const typed: Layer = sum;
    assert.deepEqual(typed, { w: 2, c: null, parts: [{ d: 4 }, {}] });
    const perhaps: number | undefined = sum.b;
    assert.equal(perhaps, undefined);
    // Where only the other tree may lack a leaf, the function is told.
    const some: { w?: number } = { w: 5 };
    assert.deepEqual(
      map(isNumber, (a, b) => a + (b ?? 0), { w: 1 }, some),
      { w: 6 },
    );
  });

  test("leaves and reduce go by sorted key", () => {
    assert.deepEqual(leaves({ b: 1, a: 2 }, isNumber), [2, 1]);
    assert.equal(
      reduce(isNumber, (text, x) => text + x, { b: 1, a: [2, 3] }, ""),
      "231",
    );
  });
});

describe("errors say where", () => {
  test("a leaf of the wrong kind", () => {
    const tree = { layers: [{ w: 1 }, { w: "relu" }] };
    assert.throws(() => flatten(tree, isNumber, "grad"), {
      name: "ArgumentError",
      message:
        'grad: layers[1].w is the string "relu", neither a leaf nor an object or array of leaves; ' +
        "take it out and pass it separately.",
    });
    assert.throws(() => flatten({ "a b": new Date() }, isNumber), /\["a b"\] is an instance of Date.*registerClass/);
    assert.throws(() => flatten(true, isNumber), /the tree is the boolean true/);
  });

  test("trees that differ", () => {
    const first = { a: { b: [1, 2] }, c: 3 };
    const differs = (other: unknown) => () => map(isNumber, (x) => x, first, other);
    assert.throws(differs({ a: { b: [1] }, c: 3 }), {
      name: "ArgumentError",
      message: "tree.map: the trees differ at a.b: the first has an array of 2, tree 2 has an array of 1.",
    });
    assert.throws(differs({ a: 1, c: 3 }), /at a: the first has an object with key b, tree 2 has the number 1/);
    assert.throws(differs({ a: { b: [1, 2] } }), /at the top: .* keys a, c, tree 2 has an object with key a/);
    assert.throws(differs(null), /at the top/);
    assert.throws(() => map(isNumber, (x) => x, [null], [1]), /at \[0\]: the first has null, tree 2 has the number 1/);
  });

  test("a tree that contains itself", () => {
    const tree: Record<string, unknown> = { a: 1 };
    tree.self = { back: [tree] };
    assert.throws(() => flatten(tree, isNumber, "jit"), {
      name: "ArgumentError",
      message: "jit: the tree contains itself, at self.back[0].",
    });
  });
});

describe("where structures part", () => {
  const parting = (a: unknown, b: unknown) => partingOf(flatten(a, isNumber).structure, flatten(b, isNumber).structure);
  test("is told by path, with what each has there", () => {
    assert.deepEqual(parting({ a: 1, b: null }, { a: 1 }), {
      at: "the top",
      first: "an object with keys a, b",
      second: "an object with key a",
    });
    assert.deepEqual(parting({ a: [1, null] }, { a: [1, undefined] }), {
      at: "a[1]",
      first: "null",
      second: "undefined",
    });
    assert.deepEqual(parting([1, [2]], [1, 2]), { at: "[1]", first: "an array of 1", second: "a leaf" });
  });

  test("names the keys that differ, where there are many", () => {
    const many = Object.fromEntries(Array.from("abcdefghij", (key) => [key, 1]));
    const { j: _, ...fewer } = many;
    assert.deepEqual(parting({ ...many, z: 1 }, { ...fewer, y: 1 }), {
      at: "the top",
      first: "an object with keys j, z",
      second: "an object with key y",
    });
    assert.deepEqual(parting(many, fewer), {
      at: "the top",
      first: "an object with key j",
      second: "an object without j",
    });
  });

  test("shows the data of registered classes", () => {
    class Layer {
      constructor(
        readonly w: unknown,
        readonly kind: unknown,
      ) {}
    }
    registerClass(Layer, {
      name: "Layer",
      children: ({ w }) => ({ w }),
      data: ({ kind }) => kind,
      rebuild: ({ w }, kind) => new Layer(w, kind),
    });
    const of = (kind: unknown) => [new Layer(1, kind)];
    assert.deepEqual(parting(of("relu"), of({ rate: 0.5 })), {
      at: "[0]",
      first: 'Layer with the data "relu"',
      second: "Layer with the data {rate: 0.5}",
    });
    assert.deepEqual(
      parting(
        of(() => 1),
        of(() => 2),
      ),
      { at: "[0]", first: "Layer with the data a function", second: "Layer with other data, a function" },
    );
  });
});

describe("registered classes", () => {
  class Dense {
    constructor(
      readonly weights: unknown,
      readonly activation: string,
    ) {}
  }
  registerClass(Dense, {
    name: "Dense",
    children: (dense) => ({ weights: dense.weights }),
    data: (dense) => dense.activation,
    rebuild: ({ weights }, activation) => new Dense(weights, activation),
  });

  test("are rebuilt as themselves, with their data", () => {
    const mapped = map(isNumber, (x) => x + 1, [new Dense({ w: 1 }, "relu")]) as unknown as Dense[];
    assert.ok(mapped[0] instanceof Dense);
    assert.deepEqual(mapped[0], new Dense({ w: 2 }, "relu"));
  });

  test("have their data in the structure, and appear in paths", () => {
    const key = (activation: string) => structureKey(new Dense(1, activation), isNumber);
    assert.equal(key("relu"), key("relu"));
    assert.notEqual(key("relu"), key("tanh"));
    assert.equal(pathOf(flatten([new Dense([1], "relu")], isNumber).structure, 0), "[0].weights[0]");
  });

  test("of the same name are told apart", () => {
    const make = () => {
      class Box {
        value = 1;
      }
      registerClass(Box, { name: "Box", children: ({ value }) => ({ value }), rebuild: () => new Box() });
      return structureKey(new Box(), isNumber);
    };
    assert.notEqual(make(), make());
  });

  test("do not speak for their subclasses, and register once", () => {
    class Special extends Dense {}
    assert.throws(() => flatten(new Special(1, ""), isNumber), ArgumentError);
    const entry = { name: "Dense", children: () => ({}), rebuild: () => new Dense(0, "") };
    assert.throws(() => registerClass(Dense, entry), /Dense is registered already/);
  });

  test("may be registered again in the same way, as a module that is loaded twice does", () => {
    class Twice {}
    const entry = { name: "Twice", children: () => ({}), rebuild: () => new Twice() };
    registerClass(Twice, entry);
    registerClass(Twice, entry);
    assert.throws(() => registerClass(Twice, { ...entry, rebuild: () => new Twice() }), /Twice is registered already/);
  });

  test("are classes with a name, children and a way to rebuild them", () => {
    const loose = registerClass as (...args: unknown[]) => void;
    class Box {}
    const entry = { name: "Box", children: () => ({}), rebuild: () => new Box() };
    const refuses = (args: unknown[], message: RegExp) =>
      assert.throws(() => loose(...args), { name: "ArgumentError", message });
    refuses([], /tree\.registerClass: takes a class, not undefined/);
    refuses([new Box(), entry], /takes a class, not a Box/);
    refuses([Box], /tree\.registerClass: Box comes with undefined.*\{ name, children, rebuild \}/);
    refuses([Box, { ...entry, name: 3 }], /the name is a string, not 3/);
    refuses([Box, { ...entry, children: ["w"] }], /children is a function, not \["w"\]/);
    refuses([Box, { ...entry, rebuild: undefined }], /rebuild is a function, not undefined/);
    refuses([Box, { ...entry, data: "relu" }], /data is a function, not "relu"/);
    refuses([Box, { ...entry, child: () => 1 }], /there is no option "child"/);
    refuses([Array, entry], /Array.*part of trees/);
    refuses([Object, entry], /Object.*part of trees/);
  });
});

/** Layers as values: init and apply by the same lines, names, sharing, freezing, dtypes, hooks, errors. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { ArgumentError, grad, jit, random, ShapeError, type Tensor, tensor, tree, vmap } from "../../../src/index.js";
import { block, dense, type Initializer, initializers, layer, sequential, summary } from "../../../src/nn/index.js";

const key = random.key(0, { device: "cpu" });
const relu = (x: Tensor) => x.maximum(0);
const shapesOf = (params: object) => tree.map((x: Tensor) => x.shape, params as never);

describe("a layer", () => {
  test("makes parameters from the shape of its input, and computes with them", async () => {
    const model = dense(2, { weights: initializers.constant(0.5), biases: initializers.ones });
    const { params, state } = model.init(key, [null, 3]);
    assert.deepEqual(shapesOf(params), { weights: [3, 2], biases: [2] });
    assert.deepEqual(state, {});
    const y = model.apply(params, tensor([[1, 2, 3]], { device: "cpu" }));
    assert.deepEqual(await y.array(), [[4, 4]]);
  });

  test("takes a tensor, a shape with a dtype, arrays and objects of them for inputs", () => {
    const both = block({ a: dense(2), b: dense(2) }, ({ a, b }, { left, right }: { left: Tensor; right: Tensor }) =>
      a(left).add(b(right)),
    );
    const { params } = both.init(key, { left: [null, 3], right: { shape: [1, 4], dtype: "f64" } });
    assert.deepEqual(shapesOf(params), { a: { weights: [3, 2], biases: [2] }, b: { weights: [4, 2], biases: [2] } });
    const { params: same } = dense(2).init(key, tensor([[1, 2, 3]], { device: "cpu" }));
    assert.deepEqual(shapesOf(same), { weights: [3, 2], biases: [2] });
  });

  test("gives its parameters the same values wherever else the model changes", async () => {
    const small = sequential(dense(4), dense(2)).init(key, [null, 3]).params as never as Record<
      string,
      { weights: Tensor }
    >;
    const large = sequential(dense(4), relu, dense(2), dense(5)).init(key, [null, 3]).params as never as typeof small;
    assert.deepEqual(await large.dense1!.weights.array(), await small.dense1!.weights.array());
    assert.notDeepEqual(
      await small.dense0!.weights.flatten().at("0:4").array(),
      await small.dense1!.weights.flatten().at("0:4").array(),
    );
  });

  test("is refused by name where parameters and input do not fit", () => {
    const model = sequential({ body: sequential(dense(4)), head: dense(2) });
    const { params } = model.init(key, [null, 3]);
    const wrong = tensor([[1, 2, 3, 4, 5]], { device: "cpu" });
    assert.throws(() => model.apply(params, wrong), {
      name: "ShapeError",
      message: /dense "body\.dense0": its parameter "weights" has shape \[3, 4\], but this input needs \[5, 4\]/,
    });
    assert.throws(() => model.apply({ head: params.head! }, wrong), {
      name: "ArgumentError",
      message: /dense "body\.dense0": no parameter "weights".*params that init made/,
    });
    const odd = sequential(dense(4), (x: Tensor) => x.reshape(7, 7));
    assert.throws(
      () => odd.init(key, [null, 3]),
      (error: Error) => error instanceof ShapeError && /In .*"/.test(error.message),
    );
  });

  test("draws numbers only from a key, another for each call and place", async () => {
    const noise = layer("noise", {}, (scope, x: Tensor) => x.add(random.normal(scope.key("noise"), x.shape)));
    const model = block({ noise }, ({ noise }, x: Tensor) => noise(x).sub(noise(x)));
    const x = tensor([0, 0, 0], { device: "cpu" });
    assert.throws(() => model.apply({}, x), {
      name: "ArgumentError",
      message: /noise "noise": noise needs random numbers/,
    });
    const first = await model.apply({}, x, { key }).array();
    assert.deepEqual(await model.apply({}, x, { key }).array(), first);
    assert.notDeepEqual(first, [0, 0, 0]);
  });
});

describe("a model", () => {
  test("names layers by kind and count, or as the user does", () => {
    const model = sequential(dense(4), relu, dense(3).named("head"), dense(2));
    assert.deepEqual(Object.keys(model.parts), ["dense0", "relu0", "head", "dense1"]);
    assert.throws(() => sequential(dense(1).named("a"), dense(1).named("a")), ArgumentError);
    assert.throws(() => dense(1).named("a.b"), ArgumentError);
    const own = layer("my.own kind", {}, (_, x: Tensor) => x);
    assert.deepEqual(Object.keys(sequential(own, relu.bind(null)).parts), ["my_own_kind0", "bound_relu0"]);
    assert.throws(() => sequential({ "1": dense(1), "0": dense(2) }), {
      message: /^sequential: the name "0" is a number/,
    });
    assert.throws(() => sequential({ "a.b": dense(1) }), { message: /^sequential: .*full stops.*"a\.b"/ });
    assert.throws(() => block({ "": dense(1) }, (_, x: Tensor) => x), { message: /^block: a layer's name is text/ });
    assert.throws(() => sequential(dense(1), 3 as never), { message: /3 is neither a layer nor a function/ });
  });

  test("uses the parameters of a part twice where it is called twice", () => {
    const shared = block({ turn: dense(3) }, ({ turn }, x: Tensor) => turn(turn(x)));
    assert.deepEqual(shapesOf(shared.init(key, [null, 3]).params), { turn: { weights: [3, 3], biases: [3] } });
    assert.throws(() => shared.init(key, [null, 4]), { name: "ShapeError", message: /dense "turn"/ });
  });

  test("may read a part's parameters: a table that is also the last layer", async () => {
    const tied = block({ into: dense(2, { useBias: false }) }, ({ into }, x: Tensor) =>
      into(x).matmul((into.params.weights as Tensor).T),
    );
    const { params } = tied.init(key, [1, 3]);
    const w = params.into as { weights: Tensor };
    const x = tensor([[1, 0, 2]], { device: "cpu" });
    assert.deepEqual(await tied.apply(params, x).array(), await x.matmul(w.weights).matmul(w.weights.T).array());
  });

  test("goes through grad, vmap and jit", async () => {
    const model = sequential(dense(4), relu, dense(1));
    const { params } = model.init(key, [null, 3]);
    const x = random.normal(random.key(1, { device: "cpu" }), [5, 3]);
    const loss = (p: typeof params) => model.apply(p, x).square().mean();
    const gradients = grad(loss)(params);
    assert.deepEqual(shapesOf(gradients), shapesOf(params));
    assert.ok((await jit(loss)(params).item()) > 0);
    const ensemble = vmap((k: Tensor<"u32">) => model.init(k, [null, 3]).params)(random.split(key, [6]));
    assert.deepEqual(shapesOf(ensemble), {
      dense0: { weights: [6, 3, 4], biases: [6, 4] },
      dense1: { weights: [6, 4, 1], biases: [6, 1] },
    });
  });

  test("keeps frozen parts as they are", async () => {
    const model = sequential(dense(4).frozen(), dense(1));
    const { params } = model.init(key, [null, 3]);
    const x = random.normal(key, [5, 3]);
    const gradients = grad((p: typeof params) => model.apply(p, x).square().mean())(params) as never as Record<
      string,
      { weights: Tensor }
    >;
    assert.equal(await gradients.dense0!.weights.abs().max().item(), 0);
    assert.ok((await gradients.dense1!.weights.abs().max().item()) > 0);
  });

  test("computes in another dtype and keeps its parameters in f32", () => {
    const model = sequential(dense(4), dense(2)).withDTypes({ compute: "bf16", output: "f32" });
    const { params } = model.init(key, [null, 3]);
    assert.deepEqual(
      tree.leaves(params).map((x) => x.dtype),
      ["f32", "f32", "f32", "f32"],
    );
    const seen: string[] = [];
    const x = random.normal(key, [5, 3]);
    const y = model.apply(params, x, { hooks: { dense0: (out) => void seen.push((out as Tensor).dtype) } });
    assert.deepEqual([seen, y.dtype], [["bf16"], "f32"]);
  });

  test("shows outputs to hooks, which may replace them", async () => {
    const model = sequential({ a: dense(2, { weights: initializers.ones }), b: (x: Tensor) => x.mul(2) });
    const { params } = model.init(key, [null, 1]);
    const x = tensor([[3]], { device: "cpu" });
    const paths: string[] = [];
    const hooks = { "*": (_: unknown, path: string) => void paths.push(path), a: (y: unknown) => (y as Tensor).add(1) };
    assert.deepEqual(await model.apply(params, x, { hooks }).array(), [[8, 8]]);
    assert.deepEqual(paths, ["a", "b", ""]);
  });

  test("is rewritten by path; the other layers keep their parameters", async () => {
    const model = sequential({ body: sequential(dense(4), relu), head: dense(2) });
    const other = model.replace("head", dense(7)).replace("body.dense0", (was) => was.frozen());
    const [before, after] = [model.init(key, [null, 3]).params, other.init(key, [null, 3]).params];
    assert.deepEqual(shapesOf(after.head as never), { weights: [4, 7], biases: [7] });
    const weightsOf = (params: unknown) => (params as { body: { dense0: { weights: Tensor } } }).body.dense0.weights;
    assert.deepEqual(await weightsOf(after).array(), await weightsOf(before).array());
    assert.throws(() => model.replace("head", 3 as never), { message: /^replace: takes a layer.*not 3/ });
    assert.throws(() => model.replace("body.tail", dense(1)), {
      message: /has no part "tail"; its parts are dense0, relu0/,
    });
    assert.equal(model.at("body.dense0").kind, "dense");
  });
});

test("state goes in and comes out, and gradients do not pass through it", async () => {
  const counter = layer("counter", {}, (scope, x: Tensor) => {
    const count = scope.state("count", [], initializers.zeros);
    if (scope.isTraining) scope.setState("count", count.add(1));
    return x.mul(count.add(1));
  });
  const model = sequential(counter, dense(1), counter);
  const { params, state } = model.init(key, [null, 2]);
  assert.deepEqual(Object.keys(state), ["counter0", "counter1"]);
  const x = tensor([[1, 1]], { device: "cpu" });
  const [, next] = model.applyWithState(params, x, { state, training: true });
  const [, last] = model.applyWithState(params, x, { state: next, training: true });
  assert.equal(await (last as never as { counter1: { count: Tensor } }).counter1.count.item(), 2);
  assert.throws(() => model.apply(params, x), { message: /counter "counter0": no state "count".*\{ state \}/ });
});

test("a summary counts parameters, bytes and multiply-adds, those that are shared once", () => {
  const twice = block({ turn: dense(8) }, ({ turn }, x: Tensor) => turn(turn(x)));
  const model = sequential({ into: dense(8), twice, out: dense(3, { useBias: false }).frozen() });
  const found = summary(model as never, [null, 4]);
  assert.equal(found.parameters, 4 * 8 + 8 + 8 * 8 + 8 + 8 * 3);
  assert.equal(found.bytes, 4 * found.parameters);
  assert.equal(found.multiplyAdds, 4 * 8 + 2 * 8 * 8 + 8 * 3);
  const text = String(found);
  assert.match(text, /into +dense +\[1, 8\] +40 +160 +32/);
  assert.match(text, /dense \(frozen\)/);
  const [totals, trained, note] = text.split("\n").slice(-3) as [string, string, string];
  assert.match(totals, /^ +136 +544 +184$/);
  assert.equal(trained, "112 trained parameters, 24 frozen");
  assert.match(note, /extents of 1 where the input has null/);
  assert.deepEqual([found.trainedParameters, found.frozenParameters], [112, 24]);
  assert.doesNotMatch(String(summary(model as never, [5, 4])), /null/);
});

describe("misuse is refused, by the layer's path", () => {
  test('a layer is not called "__proto__", which objects take for something else', () => {
    assert.throws(() => dense(3).named("__proto__"), { name: "ArgumentError", message: /without spaces.*"__proto__"/ });
  });

  test("options of apply that there are none of", () => {
    const { params } = dense(3).init(key, [null, 2]);
    const apply = () => dense(3).apply(params, tensor([[1, 2]], { device: "cpu" }), { train: true } as never);
    assert.throws(apply, {
      name: "ArgumentError",
      message: /no option "train"; there are training, key, state, hooks/,
    });
  });

  test("inputs that are no tensors", () => {
    const model = sequential({ a: dense(3) });
    const { params } = model.init(key, [null, 4]);
    for (const [wrong, text] of [
      [[[1, 2, 3, 4]], /dense "a": takes tensors, not \[\[1, 2, 3, 4\]\]; make one with tensor\(\[\[…\]\]\)/],
      [null, /dense "a": takes tensors, not null/],
      [undefined, /dense "a": takes tensors, not undefined/],
    ] as const) {
      assert.throws(() => model.apply(params, wrong as never), { name: "ArgumentError", message: text });
    }
    const x = tensor([[1, 2, 3, 4]], { device: "cpu" });
    assert.throws(() => model.apply(params, { left: x, right: x } as never), {
      name: "ArgumentError",
      message: /dense "a": cannot compute with \{ left, right \}.*hand it that one/,
    });
    const bug = sequential({ f: (both: { x: Tensor }) => (both as never as { y: { z: Tensor } }).y.z });
    assert.throws(() => bug.apply({}, { x } as never), TypeError);
    const silent = sequential({ a: dense(3), f: () => undefined, b: dense(2) });
    assert.throws(() => silent.init(key, [null, 4]), { name: "ArgumentError", message: /f "f" gave undefined/ });
    const empty = sequential({ body: block({ a: dense(3) }, () => undefined) });
    assert.throws(() => empty.init(key, [null, 4]), { message: /block "body": its function gave undefined/ });
  });

  test("initialisers that give no tensor of the shape", () => {
    const uncalled = sequential({ a: dense(3, { weights: initializers.orthogonal as never }) });
    assert.throws(() => uncalled.init(key, [null, 4]), {
      name: "ArgumentError",
      message:
        /dense "a": the initializer of "weights" gave a function, not a tensor of \[4, 3\]. Call .*orthogonal\(\)/,
    });
    const short = dense(3, { weights: () => tensor([1], { device: "cpu" }) });
    assert.throws(() => short.init(key, [null, 4]), { message: /gave a tensor of \[1\], not a tensor of \[4, 3\]/ });
  });

  test("dtypes of other names, and of other kinds than floats", () => {
    assert.throws(() => dense(3).withDTypes({ comput: "bf16" } as never), { message: /no option "comput"/ });
    assert.throws(() => dense(3).withDTypes({ compute: "int8" as never }), { name: "DTypeError" });
    assert.throws(() => dense(3).withDTypes({ compute: "i8" }), { name: "DTypeError", message: /compute is a float/ });
    assert.throws(() => dense(3).withDTypes({ parameters: null as never }), { name: "DTypeError" });
    assert.equal(dense(3).withDTypes({ compute: null }).kind, "dense");
  });

  test("hooks at no layer, and hooks that give no tensor for one", () => {
    const model = sequential({ body: sequential(dense(3)), head: dense(2) });
    const { params } = model.init(key, [null, 4]);
    const x = tensor([[1, 2, 3, 4]], { device: "cpu" });
    assert.throws(() => model.apply(params, x, { hooks: { "body.x": () => undefined } }), {
      name: "ArgumentError",
      message: /hooks: No layer "body\.x": .*its parts are dense0/,
    });
    assert.throws(() => model.apply(params, x, { hooks: { head: () => 3 } }), {
      name: "ArgumentError",
      message: /The hook "head" gave 3 for the tensor of dense "head"/,
    });
  });

  test("a replacement at no part, by its whole path", () => {
    const model = sequential({ body: sequential(dense(3)) });
    assert.throws(() => model.replace("body.x", dense(1)), { message: /No layer "body\.x"/ });
  });
});

test("a layer shows as a tree of kinds and options", () => {
  const model = sequential({
    body: sequential(dense(4, { weights: initializers.heNormal, useBias: false }), relu),
    head: block({ out: dense(2).frozen() }, ({ out }, x: Tensor) => out(x)).withDTypes({ compute: "bf16" }),
  });
  const text = [
    "sequential(",
    "  body: sequential(",
    "    dense0: dense(units: 4, weights: heNormal, useBias: false)",
    "    relu0: relu()",
    "  )",
    "  head: block(",
    "    out: dense(units: 2) frozen",
    "  ) in { compute: bf16 }",
    ")",
  ].join("\n");
  assert.equal(String(model), text);
  assert.equal(inspect(model), text);
});

test("fans of a parameter are those of a matrix unless the layer says others", () => {
  const seen: (readonly number[])[] = [];
  const spy: Initializer = (own, shape, info) => {
    seen.push([info.fanIn, info.fanOut]);
    return initializers.zeros(own, shape, info);
  };
  const own = layer("own", {}, (scope, x: Tensor) => {
    scope.parameter("matrix", [100, 200], spy);
    scope.parameter("vector", [7], spy);
    scope.parameter("scalar", [], spy);
    scope.parameter("told", [100, 200], spy, { fanIn: 3, fanOut: 5 });
    return x;
  });
  own.init(key, [1]);
  assert.deepEqual(seen, [
    [100, 200],
    [7, 7],
    [1, 1],
    [3, 5],
  ]);
});

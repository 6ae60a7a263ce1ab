/** Wrong use of the transforms: each error names the operation and the offender, and says what would work. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { ArgumentError, DTypeError, ShapeError, TraceError } from "../../src/core/errors.js";
import {
  arange,
  associativeScan,
  checkpoint,
  concat,
  cond,
  customGradient,
  eye,
  forLoop,
  grad,
  hessian,
  hvp,
  jacobian,
  jit,
  jvp,
  linearize,
  random,
  scan,
  setDefaultDevice,
  stopGradient,
  switchCase,
  Tensor,
  tensor,
  tree,
  valueAndGrad,
  vjp,
  vmap,
  whileLoop,
  zeros,
} from "../../src/index.js";

before(() => setDefaultDevice("cpu"));

/** As JavaScript calls it, past the types. */
const loose = <F>(f: F) => f as unknown as (...args: unknown[]) => never;
const call = (f: unknown, ...args: unknown[]): unknown => (f as (...args: unknown[]) => unknown)(...args);

const x = () => tensor([1, 2, 3]);
const whole = () => tensor([1, 2], { dtype: "i32" });

function refuses(what: string, use: () => unknown, kind: { readonly name: string }, message: RegExp): void {
  test(what, () => assert.throws(use, { name: kind.name, message }));
}

describe("grad refuses", () => {
  refuses(
    "a loss of several numbers",
    () => grad((a: Tensor) => a)(x()),
    ShapeError,
    /grad: .*one number.*\[3\].*sum\(\) or mean\(\).*jacobian/,
  );
  refuses(
    "integers",
    () => grad((a: Tensor) => a.sum())(whole()),
    DTypeError,
    /grad: the argument is i32.*Cast it.*\{ argument \}/,
  );
  refuses(
    "integers in a tree, by their path",
    () => grad(({ a }: { a: Tensor; b: Tensor[] }) => a.sum())({ a: x(), b: [x(), whole()] }),
    DTypeError,
    /b\[1\] is i32/,
  );
  refuses(
    "a number in place of a tensor",
    () => call(grad(loose((a: Tensor) => a)), 3),
    ArgumentError,
    /argument 0 is the number 3.*tensor\(\)/,
  );
  refuses(
    "numbers in a tree",
    () => call(grad(loose((p: { a: Tensor }) => p.a.sum())), { a: x(), rate: 3 }),
    ArgumentError,
    /rate is the number 3.*separately/,
  );
  refuses(
    "a call without arguments",
    () => call(grad(loose((a: Tensor) => a))),
    ArgumentError,
    /argument 0 of a call with 0/,
  );
  refuses(
    "an argument that is not there",
    () =>
      call(
        grad((a: Tensor) => a.sum(), { argument: 2 }),
        x(),
      ),
    ArgumentError,
    /argument 2 of a call with 1.*counts from 0/,
  );
  refuses(
    "an argument twice",
    () => grad((a: Tensor, b: Tensor) => a.mul(b).sum(), { argument: [1, 1] })(x(), x()),
    ArgumentError,
    /argument 1 is chosen twice/,
  );
  refuses(
    "a result that is no tensor",
    () => call(grad(loose(() => 3)), x()),
    ArgumentError,
    /must return one tensor; it returned number/,
  );
  refuses("no result", () => call(grad(loose(() => undefined)), x()), ArgumentError, /it returned undefined/);
  refuses(
    "two results without aux",
    () => call(grad(loose((a: Tensor) => [a.sum(), a])), x()),
    ArgumentError,
    /an array; return \[value, aux\] only with \{ aux: true \}/,
  );
  refuses(
    "one result with aux",
    () =>
      call(
        grad(
          loose((a: Tensor) => a.sum()),
          { aux: true } as never,
        ),
        x(),
      ),
    ArgumentError,
    /returns \[value, aux\]/,
  );
  refuses(
    "aux before the value",
    () =>
      call(
        grad(
          loose((a: Tensor) => [{ a }, a.sum()]),
          { aux: true } as never,
        ),
        x(),
      ),
    ArgumentError,
    /returns \[value, aux\], the value a tensor/,
  );
  refuses("a loss of whole numbers", () => grad((a: Tensor) => a.argmax())(x()), DTypeError, /returned i32.*no slope/);
  refuses("a Hessian of several numbers", () => hessian((a: Tensor) => a)(x()), ShapeError, /one number/);
  refuses(
    "a complex loss",
    () => grad((a: Tensor) => a.cast("c64").sum())(x()),
    DTypeError,
    /returned c64.*real\(\) or abs\(\)/,
  );
});

describe("functions that return promises are refused by", () => {
  const later = loose(async (a: Tensor) => a.sum());
  const uses: Readonly<Record<string, () => unknown>> = {
    grad: () => call(grad(later), x()),
    valueAndGrad: () => call(valueAndGrad(later), x()),
    vjp: () => vjp(later, x()),
    jvp: () => jvp(later, [x()], [x()]),
    linearize: () => linearize(later, x()),
    vmap: () => call(vmap(later), x()),
    jacobian: () => call(jacobian(later), x()),
    hessian: () => call(hessian(later), x()),
    hvp: () => hvp(later, x(), x()),
    jit: () => call(jit(later), x()),
    scan: () => scan(later, x(), x()),
    forLoop: () => forLoop(0, 2, later, x()),
    "whileLoop, body": () => whileLoop(() => tensor(false), later, x()),
    "whileLoop, condition": () => call(whileLoop, later, (a: Tensor) => a, x()),
    cond: () => cond(tensor(true), later, later, x()),
    switchCase: () => switchCase(tensor(0), [later], x()),
    associativeScan: () => associativeScan(later, x()),
    checkpoint: () => call(checkpoint(later), x()),
    customGradient: () => call(customGradient(later, { vjp: later }), x()),
    "customGradient, vjp": () => grad(customGradient((a: Tensor) => a.sum(), { vjp: later }))(x()),
    "customGradient, jvp": () =>
      jvp(
        customGradient((a: Tensor) => a.sum(), { jvp: later }),
        [x()],
        [x()],
      ),
  };
  for (const [name, use] of Object.entries(uses)) {
    const [operation] = name.split(",");
    refuses(
      name,
      use,
      ArgumentError,
      new RegExp(`${operation}.*: the function returned a promise.*await before or after`),
    );
  }
  refuses(
    "jit, in a tree",
    () => call(jit(loose((a: Tensor) => ({ a, loss: later(a) }))), x()),
    ArgumentError,
    /jit, results: loss is an instance of Promise.*must not be async.*await/,
  );
});

describe("typed arrays in the place of tensors are to become tensors:", () => {
  const floats = new Float32Array(3);
  const uses: Readonly<Record<string, () => unknown>> = {
    grad: () => call(grad(loose((p: Tensor) => p.sum())), floats),
    "grad, in a tree": () => call(grad(loose((p: { a: Tensor }) => p.a.sum())), { a: floats }),
    "scan, xs": () => call(scan, (c: Tensor, a: Tensor) => [c.add(a), null], tensor(0), floats),
    "scan, init": () => call(scan, (c: Tensor) => [c, null], floats, x()),
    cond: () =>
      call(
        cond,
        tensor(true),
        (a: Tensor) => a,
        (a: Tensor) => a,
        floats,
      ),
    "vjp, results": () =>
      vjp(
        loose(() => floats),
        x(),
      ),
  };
  for (const [name, use] of Object.entries(uses)) {
    const [operation] = name.split(",");
    refuses(
      name,
      use,
      ArgumentError,
      new RegExp(`${operation}.* is an instance of Float32Array.*make it a tensor with tensor\\(`),
    );
  }
});

describe("vjp, jvp and their kin refuse", () => {
  const tree = (a: Tensor) => ({ a });
  refuses(
    "a cotangent of another shape",
    () => vjp((a: Tensor) => a.mul(2), x())[1](tensor([1, 2])),
    ShapeError,
    /vjp, cotangents: .*\[2\]; what it goes with has \[3\]/,
  );
  refuses(
    "a cotangent that is another tree",
    () => call(vjp(tree, x())[1], { b: x() }),
    ArgumentError,
    /cotangents: the trees differ.*key a.*key b/,
  );
  refuses(
    "a cotangent that is a number",
    () => call(vjp((a: Tensor) => a.sum(), x())[1], 1),
    ArgumentError,
    /is a number, not a tensor.*tensor\(\)/,
  );
  refuses(
    "results that are no tensors",
    () =>
      vjp(
        loose((a: Tensor) => ({ a, b: 3 })),
        x(),
      ),
    ArgumentError,
    /vjp, results: b is the number 3/,
  );
  refuses("integers", () => vjp((a: Tensor) => a, whole()), DTypeError, /vjp: \[0\] is i32.*outside the function/);
  refuses(
    "too few tangents",
    () => jvp((a: Tensor, b: Tensor) => a.mul(b), [x(), x()], [x()] as never),
    ArgumentError,
    /jvp, tangents: .*array of 2.*array of 1/,
  );
  refuses(
    "a tangent of another shape",
    () => jvp((a: Tensor) => a, [x()], [tensor(1)]),
    ShapeError,
    /jvp, tangents: \[0\] has the shape \[\].*\[3\]/,
  );
  refuses(
    "arguments that are not lists",
    () => call(jvp, (a: Tensor) => a, x(), x()),
    ArgumentError,
    /jvp\(f, \[x\], \[t\]\)/,
  );
  refuses(
    "a vector that does not fit",
    () => hvp((a: Tensor) => a.square().sum(), x(), tensor([1])),
    ShapeError,
    /hvp, tangents: .*\[1\].*\[3\]/,
  );
  refuses(
    "a mode there is not",
    () => jacobian((a: Tensor) => a, { mode: "sideways" as never })(x()),
    ArgumentError,
    /no mode "sideways"; use "forward" or "reverse"/,
  );
});

describe("vmap refuses", () => {
  const id = (a: Tensor) => a;
  refuses(
    "batches of different sizes",
    () => vmap((a: Tensor, b: Tensor) => a.add(b))(x(), tensor([1, 2])),
    ShapeError,
    /argument \[0\] has 3 members.*argument \[1\] has 2.*\{ in \}.*null/,
  );
  refuses(
    "batches of different sizes in a tree",
    () => vmap((p: { a: Tensor; b: Tensor }) => p.a.add(p.b))({ a: x(), b: tensor([[1], [2]]) }),
    ShapeError,
    /\[0\]\.a has 3.*\[0\]\.b has 2/,
  );
  refuses(
    "a scalar to cut",
    () => vmap(id)(tensor(3)),
    ShapeError,
    /\[0\] is a scalar.*\{ in: \[\.\.\.\] \} with null/,
  );
  refuses(
    "nothing to cut",
    () => vmap(id, { in: [null] })(x()),
    ArgumentError,
    /no tensor among the arguments has a batch axis.*\{ in \}/,
  );
  refuses(
    "nothing to cut, for all arguments at once",
    () => vmap(id, { in: null })(x()),
    ArgumentError,
    /no tensor among the arguments/,
  );
  refuses(
    "too few axes",
    () => vmap((a: Tensor, b: Tensor) => a.add(b), { in: [0] })(x(), x()),
    ArgumentError,
    /an entry for each of the 2 arguments/,
  );
  refuses("an axis that is not there", () => vmap(id, { in: 1 })(x()), ShapeError, /vmap: axis 1 is out of range/);
  refuses(
    "a tree of axes that does not fit",
    () => vmap((p: { a: Tensor }) => p.a, { in: [{ b: 0 }] })({ a: x() }),
    ArgumentError,
    /vmap: the trees differ.*key a.*key b/,
  );
  refuses(
    "a place for the batch that is not there",
    () => vmap(id, { out: 3 })(x()),
    ShapeError,
    /axis 3 is out of range/,
  );
  refuses(
    "one result for members that differ",
    () => vmap(id, { out: null })(x()),
    ArgumentError,
    /\{ out: null \} differs between the members; give it an axis/,
  );
  refuses(
    "results that are no tensors",
    () => call(vmap(loose(() => 3)), x()),
    ArgumentError,
    /vmap, results: .*the number 3/,
  );
  for (const [what, f] of Object.entries({
    "reading a value": (a: Tensor) => tensor(a.itemSync()),
    "reading all values": (a: Tensor) => tensor(a.dataSync()),
    "results whose shape depends on values": (a: Tensor) => a.reshape(1).nonzero()[0]!,
    "masks whose count must be known": (a: Tensor) => a.reshape(1).at(a.reshape(1).greater(0)),
    "moving to another device": (a: Tensor) => a.to("vulkan"),
  })) {
    refuses(
      what,
      () => vmap(f)(x()),
      TraceError,
      /value of a tensor .*was asked for inside.*Return the tensor and read it outside/,
    );
  }
});

describe("tensors that left the function they were traced in are refused after", () => {
  let leaked: Tensor = x();
  const keep = (a: Tensor) => {
    leaked = a;
    return a;
  };
  const traces: Readonly<Record<string, () => unknown>> = {
    vmap: () => vmap(keep)(x()),
    jit: () => jit(keep)(x()),
    scan: () => scan((c: Tensor, a: Tensor) => [keep(c), a] as const, x(), x()),
    forLoop: () => forLoop(0, 3, (_, c: Tensor) => keep(c), x()),
    whileLoop: () => whileLoop((c: Tensor) => keep(c).sum().less(0), keep, x()),
    cond: () => cond(tensor(true), keep, keep, x()),
    switchCase: () => switchCase(tensor(0), [keep], x()),
    checkpoint: () => checkpoint(keep)(x()),
  };
  for (const [name, trace] of Object.entries(traces)) {
    const message = new RegExp(`left the function that ${name} traced.*Return it`, "s");
    const asks: Readonly<Record<string, () => unknown>> = {
      itself: () => leaked.dataSync(),
      "itself, read later": () => leaked.data(),
      "what was computed of it": () => leaked.add(1).arraySync(),
      "what a jitted function made of it": () => jit((a: Tensor) => a.mul(2))(leaked).dataSync(),
    };
    for (const [what, ask] of Object.entries(asks)) {
      refuses(
        `${name}: ${what}`,
        () => {
          trace();
          ask();
        },
        TraceError,
        message,
      );
    }
  }
  refuses(
    "jit: what a pullback from inside makes",
    () => {
      let pull: (ct: Tensor) => [Tensor] = (ct) => [ct];
      jit((a: Tensor) => {
        const [y, pullback] = vjp((b: Tensor) => b.square(), a);
        pull = pullback;
        return y;
      })(x());
      pull(x())[0].dataSync();
    },
    TraceError,
    /left the function that jit traced/,
  );
  refuses(
    "jit, also when the function threw",
    () => {
      const throws = (a: Tensor): Tensor => {
        keep(a);
        throw new RangeError("mine");
      };
      assert.throws(() => jit(throws)(x()), RangeError);
      leaked.dataSync();
    },
    TraceError,
    /left the function that jit traced/,
  );
});

describe("errors name the function that was called, not one that it is made of:", () => {
  const two = (a: Tensor) => concat([a, a]);
  refuses(
    "forLoop",
    () => forLoop(0, 2, (_, c: Tensor) => two(c), x()),
    ShapeError,
    /^forLoop: the carry.*keep its shape/,
  );
  refuses(
    "forLoop, init",
    () => call(forLoop, 0, 2, (_: Tensor, c: Tensor) => c, 3),
    ArgumentError,
    /^forLoop, init: /,
  );
  refuses("stopGradient", () => call(stopGradient, { rate: 3 }), ArgumentError, /^stopGradient: rate is the number 3/);
  refuses("hessian", () => hessian(two)(x()), ShapeError, /^hessian: .*one number/);
  refuses("hessian, of whole numbers", () => hessian((a: Tensor) => a.sum())(whole()), DTypeError, /^hessian: .*i32/);
  refuses("hvp", () => hvp(two, x(), x()), ShapeError, /^hvp: .*one number/);
  refuses("valueAndGrad", () => valueAndGrad(two)(x()), ShapeError, /^valueAndGrad: .*one number/);
});

test("after an error the next transform works as if nothing had happened", () => {
  const fails = (_: Tensor): Tensor => {
    throw new RangeError("mine");
  };
  assert.throws(() => grad(fails)(x()), RangeError);
  assert.throws(() => vmap(fails)(x()), RangeError);
  assert.deepEqual([...grad((a: Tensor) => a.square().sum())(x()).dataSync()], [2, 4, 6]);
  assert.deepEqual([...vmap((a: Tensor) => a.square())(x()).dataSync()], [1, 4, 9]);
});

describe("what is no function is refused by", () => {
  refuses("jit", () => call(jit, undefined), ArgumentError, /jit: takes a function, not undefined/);
  refuses("grad", () => call(call(grad, 3), x()), ArgumentError, /grad: takes a function, not 3/);
  refuses("vjp", () => call(vjp, null, x()), ArgumentError, /vjp: takes a function, not null/);
  refuses("vmap", () => call(vmap, 3), ArgumentError, /vmap: takes a function/);
  const id = (a: Tensor) => a;
  const yes = () => tensor(true);
  refuses("valueAndGrad", () => call(valueAndGrad, 3), ArgumentError, /valueAndGrad: takes a function, not 3/);
  refuses("jacobian", () => call(jacobian, 3), ArgumentError, /jacobian: takes a function, not 3/);
  refuses("hessian", () => call(hessian, 3), ArgumentError, /hessian: takes a function, not 3/);
  refuses("hvp", () => call(hvp, 3, x(), x()), ArgumentError, /hvp: takes a function, not 3/);
  refuses("checkpoint", () => call(checkpoint, "f"), ArgumentError, /checkpoint: takes a function, not "f"/);
  refuses(
    "customGradient",
    () => call(customGradient, 3, { vjp: id }),
    ArgumentError,
    /customGradient: takes a function/,
  );
  refuses(
    "a vjp",
    () => call(customGradient, id, { vjp: 3 }),
    ArgumentError,
    /customGradient: vjp is a function, not 3/,
  );
  refuses(
    "a jvp",
    () => call(customGradient, id, { jvp: 3 }),
    ArgumentError,
    /customGradient: jvp is a function, not 3/,
  );
  refuses("scan", () => call(scan, null, x(), x()), ArgumentError, /scan: takes a function, not null/);
  refuses(
    "forLoop",
    () => call(forLoop, 0, 3, x(), x()),
    ArgumentError,
    /forLoop: the body is a function, not a Tensor/,
  );
  refuses(
    "whileLoop",
    () => call(whileLoop, id, x()),
    ArgumentError,
    /whileLoop: the body is a function, not a Tensor/,
  );
  refuses(
    "a condition",
    () => call(whileLoop, 1, id, x()),
    ArgumentError,
    /whileLoop: the condition is a function, not 1/,
  );
  refuses("cond", () => call(cond, yes(), x(), id, x()), ArgumentError, /cond: whenTrue is a function, not a Tensor/);
  refuses("cond, the other way", () => call(cond, yes(), id, 3), ArgumentError, /cond: whenFalse is a function, not 3/);
  refuses(
    "switchCase",
    () => call(switchCase, x().at(0), [id, 3]),
    ArgumentError,
    /switchCase: branch 1 is a function, not 3/,
  );
  refuses(
    "switchCase, no list",
    () => call(switchCase, x().at(0), id),
    ArgumentError,
    /branches.*list of functions, not a function/,
  );
  refuses(
    "associativeScan",
    () => call(associativeScan, x(), id),
    ArgumentError,
    /associativeScan: takes a function, not a Tensor/,
  );
  refuses("tree.map", () => call(tree.map, x(), x()), ArgumentError, /tree\.map: takes a function, not a Tensor/);
  refuses(
    "tree.reduce",
    () => call(tree.reduce, x(), x(), 0),
    ArgumentError,
    /tree\.reduce: takes a function, not a Tensor/,
  );
});

describe("functions without tensors have nothing to compute:", () => {
  const nothing = () => null;
  const uses: Readonly<Record<string, () => unknown>> = {
    scan: () => scan(() => [null, null] as const, null, null, { length: 3 })[0],
    "scan over elements that nobody uses": () => scan(() => [null, null] as const, null, x())[1],
    whileLoop: () => whileLoop(() => zeros([]), nothing, null),
    forLoop: () => forLoop(0, 3, nothing, null),
    cond: () => cond(tensor(true), nothing, nothing),
    switchCase: () => switchCase(tensor(0), [nothing, nothing]),
    associativeScan: () => associativeScan(nothing, null),
    checkpoint: () => checkpoint(nothing)(),
    customGradient: () => customGradient(nothing, { vjp: () => [] })(),
    jit: () => jit(nothing)(),
    stopGradient: () => stopGradient(null),
  };
  for (const [name, use] of Object.entries(uses)) {
    test(name, () => {
      assert.equal(use(), null);
      const slope = grad((a: Tensor) => {
        assert.equal(use(), null);
        return a.square();
      })(tensor(3));
      assert.equal(slope.itemSync(), 6);
    });
  }
});

test("tensors are leaves, not classes to be registered", () => {
  const entry = { name: "Tensor", children: () => ({}), rebuild: x };
  assert.throws(() => tree.registerClass(Tensor, entry), { name: "ArgumentError", message: /Tensor.*leaves of trees/ });
});

describe("options that do not exist are refused by", () => {
  const id = (a: Tensor) => a;
  const next = (c: Tensor, a: Tensor) => [c.add(a), a];
  const zero = () => tensor(0);
  const uses: Readonly<Record<string, readonly [option: string, use: () => unknown]>> = {
    scan: ["reversed", () => call(scan, next, zero(), x(), { reversed: true })],
    whileLoop: [
      "max",
      () =>
        call(
          whileLoop,
          (c: Tensor) => c.less(1),
          (c: Tensor) => c.add(1),
          zero(),
          { max: 3 },
        ),
    ],
    associativeScan: ["axes", () => call(associativeScan, (a: Tensor, b: Tensor) => a.add(b), x(), { axes: 0 })],
    jit: ["donation", () => call(jit, id, { donation: 0 })],
    vmap: ["inAxes", () => call(vmap, id, { inAxes: 1 })],
    grad: ["args", () => call(grad, id, { args: 1 })],
    valueAndGrad: ["hasAux", () => call(valueAndGrad, id, { hasAux: true })],
    jacobian: ["modes", () => call(jacobian, id, { modes: "forward" })],
    customGradient: ["gradient", () => call(customGradient, id, { gradient: id })],
  };
  for (const [name, [option, use]] of Object.entries(uses)) {
    refuses(name, use, ArgumentError, new RegExp(`${name}: there is no option "${option}"; `));
  }
  refuses(
    "hessian, which has none",
    () => call(hessian, id, { mode: "forward" }),
    ArgumentError,
    /hessian: takes one argument, but also got an object; leave it out/,
  );
  refuses(
    "checkpoint, which has none",
    () => call(checkpoint, id, {}),
    ArgumentError,
    /checkpoint: takes one argument, but also got an object; leave it out/,
  );
  refuses(
    "what takes flags and gets numbers",
    () => call(scan, next, zero(), x(), { reverse: 1 }),
    ArgumentError,
    /scan: the option reverse is true or false, not 1/,
  );
  refuses(
    "jit, for positions that are no numbers",
    () => call(jit, id, { donate: "0" }),
    ArgumentError,
    /jit: the option donate is a number or a list of numbers, not "0"/,
  );
  refuses(
    "customGradient, for none at all",
    () => call(customGradient, id),
    ArgumentError,
    /customGradient: undefined stands where options do.*\{ vjp: … \}/,
  );
  refuses(
    "grad, for a position alone",
    () => call(grad, id, 1),
    ArgumentError,
    /grad: 1 stands where.*\{ argument: 1 \}/,
  );
});

describe("jit refuses", () => {
  const plus = (a: Tensor) => a.add(1);
  refuses("to donate what is not there", () => jit(plus, { donate: 5 })(x()), ArgumentError, /donate: 5 .*1 arguments/);
  refuses("positions below 0", () => jit(plus, { static: -1 }), ArgumentError, /static: -1 .*count from 0/);
  refuses("to donate what is static", () => jit(plus, { static: 0, donate: 0 }), ArgumentError, /argument 0 is static/);
  for (const maxPrograms of [0, Number.NaN, 1.5]) {
    refuses(`to keep ${maxPrograms} programs`, () => jit(plus, { maxPrograms }), ArgumentError, /at least 1/);
  }
  refuses(
    "numbers where JavaScript numbers are needed, and says how to keep them",
    () => call(jit(loose((a: Tensor, axis: number) => a.sum({ axis }))), x(), 0),
    ArgumentError,
    /sum: the option axis .*not a Tensor.*\{ static \}/,
  );
  const plain: Readonly<Record<string, (a: Tensor, n: number) => unknown>> = {
    zeros: (_, n) => zeros([n]),
    eye: (_, n) => eye(n),
    "arange, to": (_, n) => arange(0, n, 1),
    reshape: (a, n) => a.reshape(n, 1),
    "a list of extents": (a, n) => a.reshape([n, 1]),
    broadcastTo: (a, n) => a.broadcastTo([n, 3]),
    forLoop: (a, n) => forLoop(0, n, (_, c: Tensor) => c, a),
    at: (a, n) => a.at(n),
    "at, a list": (a, n) => a.at([n]),
    "at, a slice": (a, n) => a.at(`${n}:`),
    take: (a, n) => a.take(n),
    moveAxis: (a, n) => a.moveAxis(n, 0),
    flip: (a, n) => a.flip(n),
    topK: (a, n) => a.topK(n),
    pad: (a, n) => a.pad([[n, n]]),
    "random.key": (_, n) => random.key(n),
    "random.uniform": (_, n) => random.uniform(random.key(0), [n]),
  };
  for (const [name, f] of Object.entries(plain)) {
    test(`numbers where ${name} needs JavaScript numbers, and says how to keep them`, () => {
      assert.throws(() => call(jit(loose(f)), x(), 1), /Inside jit numbers are tensors, unless.*\{ static \}/s);
    });
  }
  refuses(
    "typed arrays, whose numbers change",
    () => call(jit(loose((a: Tensor, b: Float32Array) => a.mul(tensor(b)))), x(), new Float32Array([1, 2, 3])),
    ArgumentError,
    /Float32Array.*tensor\(array\).*static/,
  );
});

describe("values asked for in a trace", () => {
  const asks = {
    item: (a: Tensor) => a.sum().item(),
    data: (a: Tensor) => a.data(),
    array: (a: Tensor) => a.array(),
    bytes: (a: Tensor) => a.bytes(),
  };
  for (const [name, ask] of Object.entries(asks)) {
    for (const transform of [jit, vmap]) {
      const way = transform === jit ? "jit" : "vmap";
      refuses(
        `${name}, under ${way}: at once, not in a promise that nobody awaits`,
        () =>
          transform((a: Tensor) => {
            ask(a);
            return a;
          })(x()),
        TraceError,
        /asked for inside a function.*Return the tensor/s,
      );
    }
  }

  test("a promise that is thrown away does not end the process", async () => {
    const lost: unknown[] = [];
    const note = (reason: unknown) => lost.push(reason);
    process.on("unhandledRejection", note);
    assert.throws(() => call(jit(loose(async (a: Tensor) => tensor(await a.sum().item()))), x()), /promise/);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", note);
    assert.deepEqual(lost, []);
  });
});

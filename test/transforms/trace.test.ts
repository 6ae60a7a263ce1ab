/** Traces: which is open, placeholders without values, the transforms that run, and functions that return promises. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isUnderWay, type Trace } from "../../src/graph/node.js";
import { tensor } from "../../src/index.js";
import {
  checkNotAsync,
  placeholderLike,
  runningFor,
  runningTransforms,
  standInFor,
  tracedOn,
  variableOf,
  withTrace,
} from "../../src/transforms/trace.js";

const x = tensor([1, 2], { device: "cpu" });

test("traces nest, inner ones are later, and close also when the work throws", () => {
  const seen: Trace[] = [];
  withTrace((outer) => {
    assert.throws(() =>
      withTrace((inner) => {
        seen.push(outer, inner);
        assert.equal(inner.outer, outer);
        assert.ok(inner.level > outer.level && isUnderWay(inner));
        throw new Error("within");
      }),
    );
    assert.deepEqual(
      seen.map(({ isOpen }) => isOpen),
      [true, false],
    );
    withTrace((next) => assert.equal(next.outer, outer));
  });
  assert.ok(!isUnderWay(seen[0]!));
});

test("a variable has the value of its tensor and belongs to its trace", () => {
  withTrace((trace) => {
    const own = variableOf(trace, x);
    assert.equal(own.node.trace, trace);
    assert.deepEqual([...own.dataSync()], [1, 2]);
  });
});

test("a placeholder has a shape and no value; a stand-in is a number where its node is one", () => {
  const own = placeholderLike(x.node);
  assert.deepEqual([own.shape, own.dtype, own.node.isAbstract], [[2], "f32", true]);
  assert.throws(() => own.dataSync());
  for (const isWeak of [false, true]) {
    const node = tensor([1], { device: "cpu" }).node;
    node.isWeak = isWeak;
    assert.equal(standInFor(node).isWeak, isWeak);
  }
});

test("running transforms are listed from the outermost, also after one has thrown", () => {
  assert.deepEqual(
    runningFor("jit", () => runningFor("grad", () => [...runningTransforms()])),
    ["jit", "grad"],
  );
  assert.throws(() =>
    runningFor("vmap", () => {
      throw new Error("within");
    }),
  );
  assert.deepEqual(runningTransforms(), []);
});

test("a function that returns a promise is refused, and its rejection ends nothing", () => {
  const run = () => tracedOn("jit", [placeholderLike(x.node).node], () => Promise.reject(new Error("later")));
  assert.throws(run, /jit: the function returned a promise/);
  checkNotAsync(x, "jit");
});

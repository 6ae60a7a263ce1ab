/** The primitives of attention: names of inputs, values against plain loops, derivatives and batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../src/graph/node.js";
import {
  type AttentionParams,
  attention,
  attentionGradient,
  attentionInputs,
  attentionNodes,
  attentionParams,
} from "../../../src/graph/primitives/attention.js";
import { outputsOf, partsOf } from "../../../src/graph/primitives/bundle.js";
import { g } from "../../../src/graph/vocabulary.js";
import { sample } from "../../support/attention-cases.js";
import { type AttentionCase, attentionGradients, attentionLogs, attentionOf } from "../../support/attention-oracle.js";
import { checkBatches, checkDerivatives, type Input, valuesOf } from "../../support/node-rules.js";
import { stored } from "../../support/nodes.js";
import type { Plain } from "../../support/tensors.js";

const params: AttentionParams = {
  ...{ scale: 0.5, left: Infinity, right: Infinity, emptyRow: 0 },
  ...{ hasBias: false, hasMask: false, hasLength: false },
};

const [q, k, v] = [sample([2, 2, 3, 2], 1), sample([2, 1, 4, 2], 2), sample([2, 1, 4, 3], 3)] as [Plain, Plain, Plain];
const bias = sample([1, 2, 1, 4], 4);
const mask: Plain = { shape: [1, 1, 3, 4], values: [1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 0] };
const lengths = [4, 2];

const asInput = (plain: Plain): Input => plain;
const fixed = (shape: readonly number[], values: readonly number[], dtype: "bool" | "i32"): Input => ({
  ...{ shape, values, dtype, isFixed: true },
});

interface Form {
  readonly title: string;
  readonly params: AttentionParams;
  readonly more: readonly Input[];
  readonly given: AttentionCase;
}

const plainCase: AttentionCase = { q, k, v, scale: 0.5 };
const forms: Form[] = [
  { title: "shared key heads", params, more: [], given: plainCase },
  {
    title: "a window",
    params: { ...params, left: 1, right: 0 },
    more: [],
    given: { ...plainCase, before: 1, behind: 0 },
  },
  {
    title: "a bias, a mask and lengths; a query that sees nothing",
    params: { ...params, hasBias: true, hasMask: true, hasLength: true },
    more: [asInput(bias), fixed(mask.shape, mask.values, "bool"), fixed([2], lengths, "i32")],
    given: { ...plainCase, bias, mask, lengths },
  },
];

const near = (got: readonly number[], want: readonly number[], what: string) => {
  assert.equal(got.length, want.length, what);
  got.forEach((x, i) => {
    const isNear = Object.is(x, want[i]) || Math.abs(x - want[i]!) <= 1e-12 * (1 + Math.abs(want[i]!));
    assert.ok(isNear, `${what} ${i}: ${x}, not ${want[i]}`);
  });
};

test("inputs have names in the order of the parameters; what is left is the rest", () => {
  const named = (has: Partial<AttentionParams>, ...inputs: string[]) =>
    attentionInputs(["q", "k", "v", ...inputs], { ...params, ...has });
  assert.deepEqual(named({}), { q: "q", k: "k", v: "v", bias: null, mask: null, length: null, rest: [] });
  const { bias, mask, length, rest } = named({ hasBias: true, hasLength: true }, "b", "l", "ct", "logs");
  assert.deepEqual([bias, mask, length, rest], ["b", null, "l", ["ct", "logs"]]);
  assert.equal(named({ hasMask: true }, "m").mask, "m");
});

test("the results: an output like q, as wide as the values, and a logarithm for each row", () => {
  const [out, logs] = attentionNodes(g, [stored(2, 4, 5, 8), stored(2, 2, 6, 8), stored(2, 2, 6, 3)], params);
  assert.deepEqual([out.shape, out.dtype, logs.shape, logs.dtype], [[2, 4, 5, 3], "f32", [2, 4, 5], "f32"]);
  const half = (x: Node) => g.cast(x, "bf16");
  const narrow = attentionNodes(g, [stored(1, 1, 5, 8), stored(1, 1, 6, 8), stored(1, 1, 6, 3)].map(half), params);
  assert.deepEqual(
    narrow.map(({ dtype }) => dtype),
    ["bf16", "f32"],
  );
  assert.equal(attentionParams(out.inputs[0]!).scale, 0.5);
  assert.equal(outputsOf(out.inputs[0]!).length, 2);
});

for (const { title, params: own, more, given } of forms) {
  const inputs = [q, k, v].map(asInput).concat(more);
  const f = (...nodes: Node[]) => attentionNodes(g, nodes, own);

  test(`${title}: values against plain loops, as the primitive and by its definition`, () => {
    const want = [attentionOf(given).values, attentionLogs(given)];
    const definition = (...nodes: Node[]) => attention.expand!(g, f(...nodes)[0].inputs[0]!, nodes);
    for (const way of [f, definition]) {
      valuesOf(way, inputs).forEach((values, at) => {
        near(values, want[at]!, `${way === f ? "primitive" : "definition"}, result ${at}`);
      });
    }
  });

  test(`${title}: the gradient's own definition, against plain loops`, () => {
    const ct = sample([2, 2, 3, 3], 9);
    const gradient = (...nodes: Node[]) => {
      const [cotangent, ...all] = nodes as [Node, ...Node[]];
      const [out] = f(...all);
      const pulled = g.pullBack([out], [cotangent], all.slice(0, 3)) as Node[];
      const made = pulled[0]!.inputs[0]!;
      assert.equal(made.primitive, attentionGradient);
      assert.deepEqual(
        partsOf(made).map(({ shape }) => shape),
        [q, k, v].map(({ shape }) => shape),
      );
      return attentionGradient.expand!(g, made, made.inputs);
    };
    const want = attentionGradients(given, ct);
    valuesOf(gradient, [asInput(ct), ...inputs]).forEach((values, at) => {
      near(values, want[at]!.values, `gradient ${at}`);
    });
  });

  test(`${title}: derivatives and batches`, () => {
    // A row that sees nothing has the logarithm -inf, whose difference quotient is NaN: the output alone.
    const output = (...nodes: Node[]) => f(...nodes)[0];
    checkDerivatives(more.length > 0 ? output : f, inputs);
    if (more.length === 0) checkBatches(f, inputs);
    else checkBatches(output, inputs);
  });
}

test("a query that sees no key has what the parameters say, and the logarithm -inf", () => {
  for (const emptyRow of [0, Number.NaN]) {
    const own = { ...params, hasLength: true, emptyRow };
    const inputs = [...[q, k, v].map(asInput), fixed([2], [0, 3], "i32")];
    const [out, logs] = valuesOf((...nodes) => attentionNodes(g, nodes, own), inputs) as [number[], number[]];
    assert.deepEqual(out.slice(0, 18), new Array(18).fill(emptyRow));
    assert.deepEqual(logs.slice(0, 6), new Array(6).fill(-Infinity));
    assert.ok(out.slice(18).every((x) => Number.isFinite(x)));
  }
});

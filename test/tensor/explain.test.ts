/** What `explain` says about the kernels of a value: their formulas, what they move, and how they are spread. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, linalg, tensor, where, zeros } from "../../src/index.js";
import { explain } from "../../src/tensor/index.js";
import { cond, scan } from "../../src/transforms/control.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const ones = (...shape: number[]) => tensor(new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1), { shape });

/** The lines about the kernels: the head of each, its formula, and its mapping. */
function kernelsIn(text: string): { head: string; formula: string[]; mapping: string }[] {
  const blocks = text.split(/^\d+(?: to \d+)?\. /m).slice(1);
  return blocks.map((block) => {
    const [head = "", ...rest] = block.trimEnd().split("\n");
    const lines = rest.map((line) => line.slice(3));
    return { head, formula: lines.slice(0, -1), mapping: lines.at(-1) ?? "" };
  });
}

const formulasOf = (x: Parameters<typeof explain>[0]): string[] =>
  kernelsIn(explain(x)).flatMap(({ formula }) => formula);

describeOnTensorDevices("explain", (device) => {
  const isCpu = device === "cpu";

  test("a fused chain is one kernel with one formula, and the bytes it moves", () => {
    const [a, b, c, d] = [ones(1000), ones(1000), ones(1000), ones(1000)] as const;
    const text = explain(a.mul(b).add(c).tanh().mul(d.sigmoid()));
    const [kernel, ...others] = kernelsIn(text);
    assert.match(text, /^Tensor\(\[1000\], f32, .*\) on .*: 1 kernel\n/);
    assert.equal(others.length, 0);
    assert.match(
      kernel!.head,
      /^mul\[1000\]: 1000 rows, \d+ values; reads a f32\[1000\], b f32\[1000\], c f32\[1000\], d f32\[1000\]; writes out f32\[1000\]; 15\.6 KiB read, 3\.9 KiB written$/,
    );
    assert.deepEqual(kernel!.formula, ["out[i] = tanh(a[i] * b[i] + c[i]) * sigmoid(d[i])"]);
    if (isCpu)
      assert.match(kernel!.mapping, /^(on one thread|over \d+ threads, \d+ rows at a time); vectors of 4 rows$/);
    else assert.equal(kernel!.mapping, "16 workgroups of 64 threads, a row per thread");
  });

  test("a row kernel names what it computes once per row", () => {
    const [kernel, ...others] = kernelsIn(explain(ones(128, 300).softmax()));
    assert.equal(others.length, 0);
    assert.deepEqual(kernel!.formula, [
      "t1 = max over k < 300 of a[i, k]",
      "out[i, j] = exp(a[i, j] - t1) * reciprocal(sum over k < 300 of exp(a[i, k] - t1))",
    ]);
    if (isCpu) assert.match(kernel!.mapping, /vectors of 4 rounds of a loop$/);
    else {
      assert.match(kernel!.head, /128 rows of \d+ lanes/);
      assert.match(
        kernel!.mapping,
        /^\d+ workgroups of \d+ threads, (a row per workgroup|\d+ rows of \d+ threads each)/,
      );
      assert.match(kernel!.mapping, /a in vectors of 4; out in vectors of 4$/);
    }
  });

  test("a matmul is a sum of products, with what is done to it afterwards", () => {
    const [kernel, ...others] = kernelsIn(explain(ones(128, 256).matmul(ones(256, 64)).add(1).relu()));
    assert.equal(others.length, 0);
    const [formula, tiles] = kernel!.formula;
    assert.match(tiles!, /^tiles: .*, chosen by (rule|table)/);
    assert.match(
      formula!,
      /^out\[i, j\] = relu\(\(sum over k < 256 of (a\[i, k\] \* b\[k, j\]|b\[i, k\] \* a\[k, j\])\) \+ 1\)$/,
    );
    assert.match(kernel!.head, /192\.0 KiB read, 32\.0 KiB written/);
  });

  test("movement is seen in the indices alone", () => {
    const x = ones(4, 6);
    assert.deepEqual(formulasOf(x.T.add(1)), ["out[i, j] = a[j, i] + 1"]);
    assert.deepEqual(formulasOf(x.at("::-1", "1:3").mul(2)), ["out[i, j] = a[3 - i, j + 1] * 2"]);
    assert.deepEqual(formulasOf(x.reshape(24).neg()), ["out[i] = -a[(i / 6), (i % 6)]"]);
    assert.deepEqual(formulasOf(concat([x, x.neg()]).exp()), [
      "out[i, j] = exp(where(i < 4, a[i, j], where(4 <= i, -a[i - 4, j], 0)))",
    ]);
    assert.deepEqual(formulasOf(x.take(tensor([2, 0], { dtype: "i32" }), { axis: 1 })), [
      "out[i, j] = b[i, where(a[j] < 0, a[j] + 6, a[j])]",
    ]);
  });

  test("operators bind as they do on paper", () => {
    const [x, y] = [ones(5), ones(5)] as const;
    assert.deepEqual(formulasOf(x.add(y).mul(x)), ["out[i] = (a[i] + b[i]) * a[i]"]);
    assert.deepEqual(formulasOf(x.sub(y.sub(x))), ["out[i] = a[i] - (b[i] - a[i])"]);
    assert.deepEqual(formulasOf(x.sub(y).sub(x)), ["out[i] = a[i] - b[i] - a[i]"]);
    assert.deepEqual(formulasOf(where(x.less(y), x, 0)), ["out[i] = where(a[i] < b[i], a[i], 0)"]);
    assert.deepEqual(formulasOf(x.sum().div(3)), ["out = (sum over i < 5 of a[i]) / 3"]);
    assert.deepEqual(formulasOf(x.cast("i32")), ["out[i] = i32(a[i])"]);
  });

  test("what is needed often is written once, so that formulas do not explode", () => {
    let x = ones(8);
    for (let i = 0; i < 30; i++) x = x.mul(x).add(x.sin());
    const text = explain(x);
    assert.match(text, /t1 = a\[i\] \* a\[i\] \+ sin\(a\[i\]\)/);
    assert.match(text, /t2 = t1 \* t1 \+ sin\(t1\)/);
    for (const { formula } of kernelsIn(text)) {
      assert.ok(formula.length <= 13 && formula.every((line) => line.length <= 200), text);
    }
  });

  test("a loop that is one kernel is shown by its round", () => {
    const step = (c: ReturnType<typeof ones>, x: ReturnType<typeof ones>) => [c.mul(0.5).add(x), c.square()] as const;
    const [last] = scan(step, ones(16), ones(10, 16));
    assert.deepEqual(formulasOf(last as ReturnType<typeof ones>), [
      "for round < 10, first with carry = a:",
      "  next carry[i] = carry[i] * 0.5 + b[round, i]",
      "out = the last carry",
    ]);
  });

  test("a kernel of a branch says on what it depends", () => {
    const long = (x: ReturnType<typeof ones>) => x.matmul(x).matmul(x).sum();
    const text = explain(cond(ones(1).sum().greater(0), long, (x) => long(x.neg()), ones(128, 128)));
    assert.match(text, /does nothing unless \w+ is 1\n/);
    assert.match(text, /does nothing unless \w+ is 0\n/);
  });

  test("running totals say what they run over", () => {
    const x = ones(4, 6);
    const [cumulate] = kernelsIn(explain(x.cumsum({ axis: 1 })));
    assert.match(cumulate!.head, /^cumulate sum .*reads a f32\[4, 6\]; writes out f32\[4, 6\]/);
    assert.match(cumulate!.mapping, /thread/);
    assert.deepEqual(cumulate!.formula, ["out[i, j] = sum over k <= j of a[i, k]"]);
    assert.deepEqual(formulasOf(x.cumprod({ axis: 0, reverse: true })), ["out[i, j] = product over k >= i of a[k, j]"]);
    assert.deepEqual(formulasOf(ones(2, 3, 4).cummax({ axis: 1 })), ["out[i, j, k] = max over l <= j of a[i, l, k]"]);
  });

  test("running totals of a long axis go by chunks", () => {
    const [totals, ...others] = formulasOf(ones(3, 100000).cumsum({ axis: 1, reverse: true }));
    const chunk = Number(/k < (\d+)/.exec(totals!)?.[1]);
    const place = `(99999 - j) / ${chunk}`;
    assert.equal(totals, `out[i, j] = sum over k < ${chunk} of a[i, 99999 - ${chunk} * j - k]`);
    // Workgroups of a GPU add up the totals before their chunk by themselves.
    assert.deepEqual(
      others,
      device === "cpu"
        ? ["out[i, j] = sum over k < j of a[i, k]", `out[i, j] = sum over k >= j of a[i, k], from b[i, ${place}] on`]
        : [`out[i, j] = sum over k >= j of a[i, k], from sum over k < ${place} of b[i, k] on`],
    );
  });

  test("running totals of segments say which elements belong together", () => {
    const scattered = (count: number) => {
      const positions = zeros([count], { dtype: "i32" }).realize();
      return formulasOf(ones(10).scatter(positions, ones(count), { op: "add", deterministic: true })).join("\n");
    };
    assert.match(scattered(30), /^out\[i, j\] = sum over k <= i with b\[k\] == b\[i\] of a\[k, j\]$/m);
    const long = scattered(100000);
    assert.match(
      long,
      /^out0\[i, j\] = sum over k < (\d+) of a\[\1 \* i \+ k, j\], of the last segment there, out1\[i, j\]$/m,
    );
    assert.match(long, /^out0\[i, j\] = sum over k < i of a\[k, j\], of the last segment there, out1\[i, j\]$/m);
    assert.match(
      long,
      /^out\[i, j\] = sum over k <= i with .* of a\[k, j\], from c\[i \/ (\d+), j\] on where d\[i \/ \1, j\] == b\[i\]$/m,
    );
  });

  test("sorting says what is sorted, in which parts", () => {
    assert.equal(formulasOf(ones(6, 4).argsort()).at(-1), "out = argsort of a along axis 1");
    const [, ...merged] = formulasOf(ones(3, 20).cast("u32").argsort());
    assert.deepEqual(merged, [
      "out0 = a sorted in runs of 8 along axis 1; out1 = the positions they had",
      "out0 = runs of 8 of a merged in pairs along axis 1; out1 = b moved alike",
      "out = b moved as in runs of 16 of a merged in pairs along axis 1: the argsort",
    ]);
  });

  test("long rows are sorted digit by digit, and each pass says which", () => {
    const formulas = kernelsIn(explain(ones(2, 300000).cast("u32").argsort())).map(({ formula }) => formula.join());
    const moved = formulas.filter((formula) => /in the order of bits/.test(formula));
    assert.deepEqual(moved, [
      "out0 = a in the order of bits 0 to 7 along axis 1; out1 = the positions they had",
      "out0 = a in the order of bits 8 to 15 along axis 1; out1 = b moved alike",
      "out0 = a in the order of bits 16 to 23 along axis 1; out1 = b moved alike",
      "out = b as a would be in the order of bits 24 to 31 along axis 1: the argsort",
    ]);
    assert.match(
      formulas.join("\n"),
      /^out\[i, j, k\] = how often bits 8 to 15 of a are j in tile k of row i, of \d+ el/m,
    );
    assert.match(formulas.join("\n"), /^out\[i, j, k\] = sum over l < k of a\[i, j, l\]$/m);
    assert.ok(!formulas.includes(""));
  });

  test("scattering says where updates go and how they are combined", () => {
    const at = tensor([1, 2, 2], { dtype: "i32" });
    assert.deepEqual(formulasOf(ones(9).addAt(at, ones(3))).slice(-2), [
      "out[i] = a[i]",
      "out[a[i]] += b[i] where 0 <= a[i] < 9",
    ]);
    assert.deepEqual(formulasOf(ones(9, 7).mulAt(at, ones(3, 7))).slice(-2), [
      "out[i, j] = a[i, j]",
      "out[a[i], j] *= b[i, j] where 0 <= a[i] < 9",
    ]);
    assert.equal(formulasOf(ones(9).maxAt(at, ones(3))).at(-1), "out[a[i]] = max(out[a[i]], b[i]) where 0 <= a[i] < 9");
  });

  test("searching counts what comes before", () => {
    const formulas = (x: ReturnType<typeof ones>, side: "left" | "right") =>
      formulasOf(x.searchSorted(ones(3, 4), { side })).at(-1);
    assert.equal(formulas(ones(10), "left"), "out[i, j] = count over k < 10 of a[k] < b[i, j]");
    assert.equal(formulas(ones(10), "right"), "out[i, j] = count over k < 10 of a[k] <= b[i, j]");
  });

  test("factors and triangular equations of small matrices are a kernel each", () => {
    assert.deepEqual(formulasOf(linalg.cholesky(ones(2, 5, 5))), ["out = the lower L with L · Lᵀ = a"]);
    assert.deepEqual(formulasOf(linalg.triangularSolve(ones(3, 3), ones(3, 2))), ["out = the X with a · X = b"]);
    assert.deepEqual(formulasOf(linalg.luFactor(ones(3, 3)).lu), [
      "out0 = L \\ U with L · U = the rows of a in out2; out1 = the rows exchanged with each",
    ]);
  });

  test("joining many says which part of the result each kernel fills", () => {
    const parts = Array.from({ length: 17 }, (_, i) => ones(2, i === 16 ? 20000 : 3));
    assert.deepEqual(formulasOf(concat(parts, { axis: 1 })), [
      "out[:, 0:36] = a, b, c, d, e, f, g, h, p, q, r, s one after another along axis 1",
      "out[:, 36:48] = a, b, c, d one after another along axis 1",
      "out[:, 48:20048] = a",
    ]);
  });

  test("an empty kernel is not run", () => {
    assert.equal(kernelsIn(explain(zeros([0, 3]).exp()))[0]!.mapping, "not run: there is nothing to compute");
  });

  test("verbose shows the loops, and what is computed already is said to be", () => {
    const x = ones(3).exp();
    assert.match(
      explain(x, { verbose: true }),
      /kernel exp\[3\]: 3 rows × 1 lanes\n +b0: f32, written\n +b1: f32\n +%\d+: f32 = load b1\[row\]/,
    );
    x.realize();
    assert.match(explain(x), /is computed already: nothing would run/);
  });
});

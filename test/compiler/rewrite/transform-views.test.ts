/** Transforms of views: one kernel reads what the view shows and writes the order that is asked for, with the same results. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { complex, explain, fft, grad, random, signal, type Tensor, vmap } from "../../../src/index.js";
import { framed } from "../../../src/tensor/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const kernels = (x: Tensor): number => Number(/: (\d+) kernels?\n/.exec(explain(x))?.[1]);

const far = (a: Tensor, b: Tensor): number => a.sub(b).abs().max().itemSync() as number;

describeOnTensorDevices("transforms of views", () => {
  const x = random.normal(random.key(1), [6, 40]).realize();
  const z = complex(x, x.flip().square()).realize();
  const window = signal.hann(12, { sym: false }).realize();
  const views: readonly (readonly [string, (copied: (x: Tensor) => Tensor) => Tensor, number])[] = [
    ["frames", (c) => fft.rfft(c(framed(x, 12, 5))), 1],
    ["frames under a window", (c) => fft.rfft(c(framed(x, 12, 5).mul(window))), 1],
    ["frames of an odd length under a window", (c) => fft.fft(c(framed(x, 9, 2).mul(window.at(":9")))), 1],
    ["another order of axes", (c) => fft.fft(c(x.T)), 1],
    ["another order of the axes of complex numbers", (c) => fft.ifft(c(z.T), { axis: 0 }), 1],
    ["a slice, backwards", (c) => fft.fft(c(x.at("1:5", "30:3:-2"))), 1],
    ["a slice from an odd place", (c) => fft.rfft(c(x.at(":", "3:35"))), 1],
    ["repeated lines", (c) => fft.fft(c(x.at(2).broadcastTo([3, 40]))), 1],
    ["one axis as two", (c) => fft.fft(c(x.reshape([6, 5, 8])), { axis: 1 }), 1],
    ["longer than the view", (c) => fft.rfft(c(framed(x, 12, 5).mul(window)), { n: 16 }), 1],
    ["half a spectrum in another order", (c) => fft.irfft(c(z.T), { axis: 0 }), 1],
    ["a written order", (c) => fft.fft(c(framed(x, 12, 5))).permute([2, 0, 1]), 1],
    ["a written order of real numbers", (c) => fft.irfft(c(z)).T, 1],
    ["padding, which is no view", (c) => fft.rfft(c(framed(x.pad([[0, 0], [4, 4]]), 12, 5))), 2], // biome-ignore format: a list
  ];
  test("each gives what a transform of a copy gives, in as few kernels as it needs", () => {
    for (const [name, of, count] of views) {
      const found = of((each) => each);
      assert.equal(kernels(found), count, name);
      const wanted = of((each) => each.mul(1).realize());
      assert.ok(far(found, wanted.realize()) < 1e-5, name);
    }
  });

  test("what else is asked of a transform stays right", () => {
    const spectrum = fft.fft(z);
    const both = spectrum.T.sub(fft.fft(z.realize()).T).abs().max();
    assert.ok((both.itemSync() as number) < 1e-5);
    const power = fft
      .rfft(framed(x, 12, 5))
      .mT.abs()
      .square()
      .sum()
      .itemSync() as number;
    const plain = fft
      .rfft(framed(x, 12, 5).mul(1).realize())
      .abs()
      .square()
      .sum()
      .itemSync() as number;
    assert.ok(Math.abs(power - plain) < 1e-3 * plain);
  });
});

describeOnTensorDevices("transforms of planes", () => {
  const planes = random.normal(random.key(2), [3, 48, 20]).realize();
  const rowsFirst = (x: Tensor) => fft.fft(fft.rfft(x).realize(), { axis: -2 });

  test("rows and columns of real numbers are two kernels, as if the rows had been stored", () => {
    for (const x of [planes, planes.at(0), planes.reshape([3, 1, 48, 20])]) {
      const found = fft.rfft2(x);
      assert.equal(kernels(found), 2);
      assert.ok(far(found, rowsFirst(x)) < 1e-4);
    }
    assert.ok(far(fft.irfft2(fft.rfft2(planes)), planes) < 1e-5);
  });

  test("rows that others read, too, or that are a view, stay right", () => {
    const half = fft.rfft(planes);
    const both = half.sum({ axis: 1 }).add(fft.fft(half, { axis: 1 }).sum({ axis: 1 }));
    const plain = fft.rfft(planes).realize();
    const wanted = plain.sum({ axis: 1 }).add(fft.fft(plain, { axis: 1 }).sum({ axis: 1 }));
    assert.ok(far(both, wanted) < 1e-3);
    const turned = planes.mT.at(":", "::2");
    assert.ok(far(fft.rfft2(turned.mT), rowsFirst(turned.mT.mul(1).realize())) < 1e-4);
    assert.ok(far(fft.rfft2(planes, { s: [40, 18] }), fft.fft(fft.rfft(planes, { n: 18 }).realize(), { axis: 1, n: 40 })) < 1e-4); // biome-ignore format: one line
  });

  test("the gradient, and a batch of them", () => {
    const power = (x: Tensor) => fft.rfft2(x).abs().square().sum();
    const plain = (x: Tensor) => fft.fft(fft.rfft(x).mT).abs().square().sum();
    const [found, wanted] = [grad(power)(planes), grad(plain)(planes)];
    assert.ok(far(found, wanted) < 1e-4 * (wanted.abs().max().itemSync() as number));
    assert.ok(far(vmap(fft.rfft2)(planes), fft.rfft2(planes)) < 1e-5);
  });
});

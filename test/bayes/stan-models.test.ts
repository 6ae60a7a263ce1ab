/** The models of the gradient rows: gradients inside a kernel of chains equal CmdStan's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stanData, stanModels } from "../../bench/stan-models.js";
import { tensor, zeros } from "../../src/tensor/index.js";
import { referenceJson, withoutReference } from "../support/reference-data.js";

const skip = withoutReference("stan/cmdstan.json");

/** The point CmdStan was evaluated at. */
const point = (i: number): number => 0.1 + 0.05 * (i % 7) - 0.15 * (i % 3);

for (const [name, { order, posterior: make }] of Object.entries(stanModels)) {
  test(`${name}: the gradient in the leapfrog kernel of the CPU is CmdStan's`, { skip }, () => {
    const posterior = make(stanData(name), "cpu");
    const known = (referenceJson("stan/cmdstan.json") as Record<string, readonly number[]>)[name]!.slice(1);
    const sizeOf = (variable: string) => {
      const { freeShape } = posterior.latents.find((latent) => latent.name === variable)!;
      return freeShape.reduce((size, extent) => size * extent, 1);
    };
    const names = posterior.latents.map((latent) => latent.name);
    const starts = new Map<string, number>();
    let next = 0;
    for (const variable of order ?? names) {
      starts.set(variable, next);
      next += sizeOf(variable);
    }
    const places = names.flatMap((variable) =>
      Array.from({ length: sizeOf(variable) }, (_, i) => starts.get(variable)! + i),
    );
    const like = { dtype: "f64", device: "cpu" } as const;
    const q = tensor(places.map(point), like);
    const { grad } = posterior.leapfrog(q, zeros([posterior.dim], like), { eps: 1e-300, steps: 2 });
    const found = grad.dataSync() as Float64Array;
    assert.equal(known.length, places.length);
    places.forEach((place, i) => {
      const scale = Math.max(1, Math.abs(known[place]!));
      assert.ok(Math.abs(found[i]! - known[place]!) <= 1e-9 * scale, `${place}: ${found[i]}, not ${known[place]}`);
    });
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { jit, random, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf, START, track } from "./trajectories.js";

const { lookahead, emaOfWeights, averagedWeights, chain, sgd } = optimizers;

describeOnTensorDevices("lookahead", (device) => {
  test("follows the written-out rule", () =>
    assertPlain(
      lookahead(sgd(0.001, { momentum: 0.5 }), { every: 3, share: 0.4 }),
      (leaf, count) => {
        const kept = keptOf(leaf, "momentum");
        leaf.kept.slow ??= [...START[leaf.name]];
        const { slow } = leaf.kept as { slow: number[] };
        leaf.g.forEach((g, i) => {
          kept[i] = 0.5 * kept[i]! + g;
          leaf.p[i]! -= 0.001 * kept[i]!;
          if (count % 3 !== 0) return;
          slow[i]! += 0.4 * (leaf.p[i]! - slow[i]!);
          leaf.p[i] = slow[i]!;
        });
      },
      device,
    ));
});

test("the average of weights begins at the first ones and changes no update", async () => {
  const optimizer = chain(sgd(1), emaOfWeights({ decay: 0.75 }));
  const params = { w: tensor([8], { device: "cpu" }) };
  let state = optimizer.init(params);
  assert.deepEqual(await averagedWeights<typeof params>(state).w.array(), [8]);
  const gradients = { w: tensor([4], { device: "cpu" }) };
  let updates = gradients;
  [updates, state] = optimizer.update(gradients, state, params);
  assert.deepEqual(await updates.w.array(), [-4]);
  assert.deepEqual(await averagedWeights<typeof params>(state).w.array(), [7]);
  const plain = await track(sgd(0.001), "cpu", "f64", 2);
  assert.deepEqual(await track(chain(sgd(0.001), emaOfWeights()), "cpu", "f64", 2), plain);
});

describeOnTensorDevices("parameters that a group keeps frozen", (device) => {
  test("stay to the last bit in every average of weights", async () => {
    const { adamw, applyUpdates, freeze, partition } = optimizers;
    const params = {
      a: random.normal(random.key(1, { device }), [40]).realize(),
      b: random.normal(random.key(2, { device }), [8]).realize(),
    };
    const first = await params.a.data();
    const optimizer = chain(
      lookahead(
        partition((path) => path, { a: freeze(), b: adamw(0.1) }),
        { every: 3, share: 0.3 },
      ),
      emaOfWeights({ decay: 0.97 }),
    );
    const step = jit((p: typeof params, s: ReturnType<typeof optimizer.init>) => {
      const [updates, next] = optimizer.update(p, s, p);
      return [applyUpdates(p, updates), next] as const;
    });
    let [p, state] = [params, optimizer.init(params)];
    for (let i = 0; i < 50; i++) [p, state] = step(p, state) as [typeof params, typeof state];
    const { slow } = (state as unknown as { 0: { slow: typeof params } })[0];
    for (const each of [p, slow, averagedWeights<typeof params>(state)]) assert.deepEqual(await each.a.data(), first);
    assert.notDeepEqual(await p.b.data(), await params.b.data());
  });
});

test("misuse is refused by name", () => {
  assert.throws(() => averagedWeights(sgd(1).init({ w: tensor([1]) })), { message: /put emaOfWeights\(\) last/ });
  assert.throws(() => lookahead(sgd(1), { share: 0 }), { message: /lookahead: the option share/ });
  assert.throws(() => lookahead(3 as never), { message: /lookahead: takes optimisers.*not 3/ });
});

/** Everyday programs that iterate a state and look at it on the way. */
import { arange, jit, ones, random, scope, type Tensor, tensor, where, zeros } from "../../src/index.js";
import type { EverydayProgram } from "./program.js";

/** A matrix with entries of about the size 1/√n, the same every time. */
export const matrix = (rows: number, columns: number, seed: number): Tensor =>
  random.normal(random.key(seed), [rows, columns]).div(Math.sqrt(columns));

export const number = async (x: Tensor): Promise<number> => Number(await x.item());

/** Advances a state and reads one number of it in every round: plain, and with a jitted step that frees the old state. */
function observed(
  start: () => Tensor,
  step: (state: Tensor) => Tensor,
  look: (state: Tensor) => Tensor,
): Pick<EverydayProgram, "plain" | "expert"> {
  return {
    async plain(rounds) {
      let [state, seen] = [start(), 0];
      for (let i = 0; i < rounds; i++) {
        state = step(state);
        seen = await number(look(state));
      }
      return seen;
    },
    async expert(rounds) {
      const both = jit((x: Tensor) => {
        const next = step(x);
        return [next, look(next)];
      });
      let [state, seen] = [start(), 0];
      for (let i = 0; i < rounds; i++) {
        const [next, value] = both(state);
        state.dispose();
        state = next!;
        seen = await number(value!);
        value!.dispose();
      }
      return seen;
    },
  };
}

const rotation = () =>
  tensor([
    [0.8, -0.6],
    [0.6, 0.8],
  ]);

/** The five-point Laplacian of a grid with fixed edges. */
export const laplacian = (u: Tensor): Tensor => {
  const padded = u.pad([
    [1, 1],
    [1, 1],
  ]);
  const [rows, columns] = u.shape as [number, number];
  const at = (i: number, j: number) => padded.at(`${i}:${i + rows}`, `${j}:${j + columns}`);
  return at(0, 1).add(at(2, 1)).add(at(1, 0)).add(at(1, 2)).sub(u.mul(4));
};

/** Neighbours of every cell on a torus. */
const neighbours = (cells: Tensor): Tensor => {
  const rows = cells
    .roll(1, { axis: 0 })
    .add(cells)
    .add(cells.roll(-1, { axis: 0 }));
  return rows
    .roll(1, { axis: 1 })
    .add(rows)
    .add(rows.roll(-1, { axis: 1 }))
    .sub(cells);
};

export const simulations: readonly EverydayProgram[] = [
  {
    name: "rotation",
    title: "a 2×2 matrix applied again and again, one element read every time",
    rounds: 200,
    ...observed(
      () => tensor([[1], [0]]),
      (x) => rotation().matmul(x),
      (x) => x.at(0, 0),
    ),
  },
  {
    name: "heat",
    title: "the heat equation on 64×64, the largest value read at every step",
    rounds: 200,
    ...observed(
      () => zeros([64, 64]).set("24:40", "24:40", 1),
      (u) => u.add(laplacian(u).mul(0.2)),
      (u) => u.max(),
    ),
  },
  {
    name: "life",
    title: "Conway's game of life on 64×64, the living counted at every step",
    rounds: 100,
    ...observed(
      () => random.uniform(random.key(1), [64, 64]).less(0.3).cast("i32"),
      (cells) => {
        const around = neighbours(cells);
        return around
          .equal(3)
          .logicalOr(around.equal(2).logicalAnd(cells.equal(1)))
          .cast("i32");
      },
      (cells) => cells.sum(),
    ),
  },
  {
    name: "power-iteration",
    title: "the largest eigenvalue of 128×128 by power iteration, the estimate read every time",
    rounds: 100,
    async plain(rounds) {
      const a = matrix(128, 128, 2);
      const s = a.matmul(a.T);
      let [v, value]: [Tensor, number] = [ones([128]), 0];
      for (let i = 0; i < rounds; i++) {
        const w = s.matmul(v);
        value = await number(w.norm());
        v = w.div(value);
      }
      return value;
    },
    async expert(rounds) {
      const a = matrix(128, 128, 2);
      const s = a.matmul(a.T);
      await s.realize();
      const step = jit((x: Tensor) => {
        const w = s.matmul(x);
        const norm = w.norm();
        return [w.div(norm), norm];
      });
      let [v, value]: [Tensor, number] = [ones([128]), 0];
      for (let i = 0; i < rounds; i++) {
        const [next, norm] = step(v);
        v.dispose();
        v = next!;
        value = await number(norm!);
        norm!.dispose();
      }
      return value;
    },
  },
  {
    name: "page-rank",
    title: "PageRank of 200 pages until it stands still, the change read at every step",
    rounds: 60,
    async plain(rounds) {
      const links = random.uniform(random.key(3), [200, 200]).less(0.05).cast("f32").add(1e-6);
      const follow = links.div(links.sum({ axis: 0, keepDims: true }));
      let rank: Tensor = ones([200]).div(200);
      for (let i = 0; i < rounds; i++) {
        const next = follow
          .matmul(rank)
          .mul(0.85)
          .add(0.15 / 200);
        const change = await number(next.sub(rank).abs().sum());
        rank = next;
        if (change < 1e-12) break;
      }
      return number(rank.max());
    },
    async expert(rounds) {
      const links = random.uniform(random.key(3), [200, 200]).less(0.05).cast("f32").add(1e-6);
      const follow = links.div(links.sum({ axis: 0, keepDims: true }));
      await follow.realize();
      const step = jit((rank: Tensor) => {
        const next = follow
          .matmul(rank)
          .mul(0.85)
          .add(0.15 / 200);
        return [next, next.sub(rank).abs().sum()];
      });
      let rank: Tensor = ones([200]).div(200);
      for (let i = 0; i < rounds; i++) {
        const [next, change] = step(rank);
        rank.dispose();
        rank = next!;
        if ((await number(change!)) < 1e-12) break;
      }
      return number(rank.max());
    },
  },
  {
    name: "mandelbrot",
    title: "the Mandelbrot set on 96×96, the points inside counted in every round",
    rounds: 60,
    ...observed(
      () => zeros([3, 96, 96]),
      (state) => {
        const x = arange(96)
          .cast("f32")
          .mul(3 / 96)
          .sub(2.2)
          .broadcastTo([96, 96]);
        const y = arange(96)
          .cast("f32")
          .mul(2.4 / 96)
          .sub(1.2)
          .reshape([96, 1])
          .broadcastTo([96, 96]);
        const [re, im] = [state.at(0), state.at(1)];
        const next = [re.square().sub(im.square()).add(x), re.mul(im).mul(2).add(y)];
        const escaped = state.at(2).maximum(next[0]!.square().add(next[1]!.square()).greater(4).cast("f32"));
        return zeros([3, 96, 96])
          .set(0, where(escaped.equal(1), re, next[0]!))
          .set(1, where(escaped.equal(1), im, next[1]!))
          .set(2, escaped);
      },
      (state) => state.at(2).sum(),
    ),
  },
  {
    name: "metropolis",
    title: "Metropolis sampling of a normal in 16 dimensions, accepted or not by the host",
    rounds: 100,
    async plain(rounds) {
      let [x, sum]: [Tensor, number] = [zeros([16]), 0];
      let now = await number(x.square().sum().mul(-0.5));
      for (let i = 0; i < rounds; i++) {
        const key = random.foldIn(random.key(5), i);
        const proposal = x.add(random.normal(key, [16]).mul(0.5));
        const then = await number(proposal.square().sum().mul(-0.5));
        if (Math.log(((i * 7919) % 1000) / 1000 + 1e-4) < then - now) [x, now] = [proposal, then];
        sum += now;
      }
      return sum / rounds;
    },
    async expert(rounds) {
      const propose = jit((x: Tensor, i: Tensor) => {
        const proposal = x.add(random.normal(random.foldIn(random.key(5), i), [16]).mul(0.5));
        return [proposal, proposal.square().sum().mul(-0.5)];
      });
      let [x, sum]: [Tensor, number] = [zeros([16]), 0];
      let now = await number(x.square().sum().mul(-0.5));
      for (let i = 0; i < rounds; i++) {
        const [proposal, density] = propose(x, tensor(i, { dtype: "u32" }));
        const then = await number(density!);
        if (Math.log(((i * 7919) % 1000) / 1000 + 1e-4) < then - now) [x, now] = [proposal!, then];
        sum += now;
      }
      return sum / rounds;
    },
  },
  {
    name: "pi",
    title: "π by throwing darts, a batch of 10,000 a round, the mean printed every round",
    rounds: 60,
    async plain(rounds) {
      let [inside, shown] = [tensor(0), 0];
      for (let i = 0; i < rounds; i++) {
        const darts = random.uniform(random.foldIn(random.key(6), i), [10_000, 2]);
        inside = inside.add(darts.square().sum({ axis: 1 }).less(1).cast("f32").sum());
        shown = 4 * (await number(inside.div(10_000 * (i + 1))));
      }
      return shown;
    },
    async expert(rounds) {
      const batch = jit((i: Tensor) =>
        random
          .uniform(random.foldIn(random.key(6), i), [10_000, 2])
          .square()
          .sum({ axis: 1 })
          .less(1)
          .cast("f32")
          .sum(),
      );
      let inside = 0;
      for (let i = 0; i < rounds; i++) {
        using hits = batch(tensor(i, { dtype: "u32" }));
        inside += await number(hits);
      }
      return (4 * inside) / (10_000 * rounds);
    },
  },
  {
    name: "kalman",
    title: "a Kalman filter over 80 measurements, the estimate read at every one",
    rounds: 80,
    async plain(rounds) {
      const [F, H] = [
        tensor([
          [1, 0.1],
          [0, 1],
        ]),
        tensor([[1, 0]]),
      ];
      const Q = tensor([
        [1e-4, 0],
        [0, 1e-4],
      ]);
      let [x, P, seen] = [zeros([2, 1]), Q.mul(1e4), 0];
      for (let i = 0; i < rounds; i++) {
        const measured = tensor([[Math.sin(i / 10)]]);
        [x, P] = [F.matmul(x), F.matmul(P).matmul(F.T).add(Q)];
        const gain = P.matmul(H.T).div(H.matmul(P).matmul(H.T).add(0.01));
        x = x.add(gain.matmul(measured.sub(H.matmul(x))));
        P = P.sub(gain.matmul(H).matmul(P));
        seen = await number(x.at(0, 0));
      }
      return seen;
    },
    async expert(rounds) {
      const step = jit((x: Tensor, P: Tensor, measured: Tensor) => {
        const F = tensor([
          [1, 0.1],
          [0, 1],
        ]);
        const [H, Q] = [
          tensor([[1, 0]]),
          tensor([
            [1e-4, 0],
            [0, 1e-4],
          ]),
        ];
        const [a, B] = [F.matmul(x), F.matmul(P).matmul(F.T).add(Q)];
        const gain = B.matmul(H.T).div(H.matmul(B).matmul(H.T).add(0.01));
        const next = a.add(gain.matmul(measured.sub(H.matmul(a))));
        return [next, B.sub(gain.matmul(H).matmul(B)), next.at(0, 0)];
      });
      let [x, P, seen]: [Tensor, Tensor, number] = [
        zeros([2, 1]),
        tensor([
          [1, 0],
          [0, 1],
        ]),
        0,
      ];
      for (let i = 0; i < rounds; i++) {
        const [next, cov, first] = step(x, P, tensor([[Math.sin(i / 10)]]));
        for (const old of [x, P]) old.dispose();
        [x, P] = [next!, cov!];
        seen = await number(first!);
        first!.dispose();
      }
      return seen;
    },
  },
  {
    name: "interest",
    title: "a sum of money with interest and a yearly payment, scalars only, read every year",
    rounds: 200,
    ...observed(
      () => tensor(100),
      (sum) => sum.mul(1.0001).add(0.01),
      (sum) => sum.log(),
    ),
  },
  {
    name: "moving-average",
    title: "an exponential moving average over arrays that arrive one by one, its norm read each time",
    rounds: 150,
    async plain(rounds) {
      let [mean, norm]: [Tensor, number] = [zeros([256]), 0];
      for (let i = 0; i < rounds; i++) {
        const arrived = tensor(Float32Array.from({ length: 256 }, (_, j) => Math.sin(i * 0.1 + j)));
        mean = mean.mul(0.9).add(arrived.mul(0.1));
        norm = await number(mean.norm());
      }
      return norm;
    },
    async expert(rounds) {
      let [mean, norm]: [Tensor, number] = [zeros([256]), 0];
      for (let i = 0; i < rounds; i++) {
        const next = scope(() => {
          const arrived = tensor(Float32Array.from({ length: 256 }, (_, j) => Math.sin(i * 0.1 + j)));
          return mean.mul(0.9).add(arrived.mul(0.1)).realize();
        });
        mean.dispose();
        mean = next;
        using length = mean.norm();
        norm = await number(length);
      }
      return norm;
    },
  },
];

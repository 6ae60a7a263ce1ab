/** Everyday programs that fit something, and notebooks that look at one table from many sides. */
import {
  grad,
  jit,
  ones,
  random,
  scope,
  stack,
  type Tensor,
  tensor,
  tree,
  valueAndGrad,
  zeros,
} from "../../src/index.js";
import type { EverydayProgram } from "./program.js";
import { matrix, number } from "./simulations.js";

type Parameters = readonly Tensor[];

const targets = (x: Tensor): Tensor => x.sum({ axis: 1 }).sin();

const linear = ([w, b]: Parameters, x: Tensor): Tensor => x.matmul(w!).add(b!);
const network = ([a, b, c, d]: Parameters, x: Tensor): Tensor =>
  x.matmul(a!).add(b!).tanh().matmul(c!).add(d!).squeeze();

/** Gradient descent with the loss read at every step: plain, and with a jitted step whose old parameters are freed. */
function descent(
  start: () => Parameters,
  data: (round: number) => readonly [Tensor, Tensor],
  loss: (parameters: Parameters, x: Tensor, y: Tensor) => Tensor,
  rate: number,
): Pick<EverydayProgram, "plain" | "expert"> {
  const step = (parameters: Parameters, x: Tensor, y: Tensor): [Tensor, Parameters] => {
    const [value, slopes] = valueAndGrad(loss)(parameters, x, y);
    return [value, parameters.map((each, i) => each.sub(slopes[i]!.mul(rate)))];
  };
  return {
    async plain(rounds) {
      let [parameters, seen] = [start(), 0];
      for (let i = 0; i < rounds; i++) {
        const [value, next] = step(parameters, ...data(i));
        parameters = next;
        seen = await number(value);
      }
      return seen;
    },
    async expert(rounds) {
      const fast = jit(step);
      let [parameters, seen] = [start(), 0];
      for (let i = 0; i < rounds; i++) {
        const [value, next] = fast(parameters, ...data(i));
        for (const old of parameters) old.dispose();
        parameters = next;
        seen = await number(value);
        value.dispose();
      }
      return seen;
    },
  };
}

const squares = (model: typeof linear) => (parameters: Parameters, x: Tensor, y: Tensor) =>
  model(parameters, x).sub(y).square().mean();

const layer = (rows: number, columns: number, seed: number): Tensor => matrix(rows, columns, seed);

/** A table that stays in memory, as data read from a file would. */
function table(rows: number, columns: number, seed: number): Tensor {
  return tensor(Float32Array.from({ length: rows * columns }, (_, i) => Math.sin(i * 12.9898 + seed))).reshape([
    rows,
    columns,
  ]);
}

/** A symmetric positive definite system and its right side. */
function spd(n: number): [Tensor, Tensor] {
  const a = table(n, n, 1);
  const diagonal = tensor(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 2 : 0))));
  return [a.matmul(a.T).div(n).add(diagonal), table(n, 1, 2).reshape([n])];
}

export const learning: readonly EverydayProgram[] = [
  {
    name: "regression",
    title: "linear regression by gradient descent, the loss read at every step",
    rounds: 100,
    ...descent(
      () => [zeros([8]), tensor(0)],
      () => [table(500, 8, 0), targets(table(500, 8, 0))],
      squares(linear),
      0.1,
    ),
  },
  {
    name: "network",
    title: "a network of 16 → 64 → 1 trained on minibatches, the loss read at every step",
    rounds: 60,
    ...descent(
      () => [layer(16, 64, 1), zeros([64]), layer(64, 1, 2), zeros([1])],
      (round) => {
        const x = table(1000, 16, 0).at(`${(round % 10) * 100}:${(round % 10) * 100 + 100}`);
        return [x, targets(x)];
      },
      squares(network),
      0.01,
    ),
  },
  {
    name: "momentum",
    title: "the same with momentum kept in a second list, the loss read every tenth step",
    rounds: 200,
    async plain(rounds) {
      let parameters: Parameters = [layer(16, 64, 1), zeros([64]), layer(64, 1, 2), zeros([1])];
      let speeds: Parameters = parameters.map((each) => each.mul(0));
      const [x, y] = [table(200, 16, 0), targets(table(200, 16, 0))];
      const slopesOf = valueAndGrad(squares(network));
      let seen = 0;
      for (let i = 0; i < rounds; i++) {
        const [value, slopes] = slopesOf(parameters, x, y);
        speeds = speeds.map((speed, j) => speed.mul(0.9).sub(slopes[j]!.mul(0.02)));
        parameters = parameters.map((each, j) => each.add(speeds[j]!));
        if (i % 10 === 9) seen = await number(value);
      }
      return seen;
    },
    async expert(rounds) {
      const [x, y] = [table(200, 16, 0), targets(table(200, 16, 0)).realize()];
      const step = jit((parameters: Parameters, speeds: Parameters): [Tensor, Parameters, Parameters] => {
        const [value, slopes] = valueAndGrad(squares(network))(parameters, x, y);
        const next = speeds.map((speed, j) => speed.mul(0.9).sub(slopes[j]!.mul(0.02)));
        return [value, parameters.map((each, j) => each.add(next[j]!)), next];
      });
      let parameters: Parameters = [layer(16, 64, 1), zeros([64]), layer(64, 1, 2), zeros([1])];
      let speeds: Parameters = parameters.map((each) => each.mul(0));
      let seen = 0;
      for (let i = 0; i < rounds; i++) {
        const [value, next, faster] = step(parameters, speeds);
        for (const old of [...parameters, ...speeds]) old.dispose();
        [parameters, speeds] = [next, faster];
        if (i % 10 === 9) seen = await number(value);
        value.dispose();
      }
      return seen;
    },
  },
  {
    name: "k-means",
    title: "k-means of 1000 points in 8 dimensions, 10 centres, the distortion read in every round",
    rounds: 40,
    async plain(rounds) {
      const x = table(1000, 8, 3);
      let [centres, seen] = [x.at(":10"), 0];
      for (let i = 0; i < rounds; i++) {
        const distances = x.reshape([1000, 1, 8]).sub(centres).square().sum({ axis: 2 });
        const nearest = distances.argmin({ axis: 1 });
        seen = await number(distances.min({ axis: 1 }).mean());
        const members = nearest
          .reshape([1000, 1])
          .equal(tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
          .cast("f32");
        centres = members.T.matmul(x).div(members.sum({ axis: 0 }).maximum(1).reshape([10, 1]));
      }
      return seen;
    },
    async expert(rounds) {
      const x = table(1000, 8, 3);
      const step = jit((centres: Tensor) => {
        const distances = x.reshape([1000, 1, 8]).sub(centres).square().sum({ axis: 2 });
        const nearest = distances.argmin({ axis: 1 });
        const members = nearest
          .reshape([1000, 1])
          .equal(tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
          .cast("f32");
        const next = members.T.matmul(x).div(members.sum({ axis: 0 }).maximum(1).reshape([10, 1]));
        return [next, distances.min({ axis: 1 }).mean()];
      });
      let [centres, seen]: [Tensor, number] = [x.at(":10"), 0];
      for (let i = 0; i < rounds; i++) {
        const [next, distortion] = step(centres);
        centres.dispose();
        centres = next!;
        seen = await number(distortion!);
        distortion!.dispose();
      }
      return seen;
    },
  },
  {
    name: "newton",
    title: "Newton's method for the cube root of 1000 numbers, until the step is small",
    rounds: 40,
    async plain(rounds) {
      const a = table(1000, 1, 4).abs().add(0.5);
      let x: Tensor = ones([1000, 1]);
      for (let i = 0; i < rounds; i++) {
        const step = x.pow(3).sub(a).div(x.square().mul(3));
        x = x.sub(step);
        if ((await number(step.abs().max())) < 1e-9) break;
      }
      return number(x.sum());
    },
    async expert(rounds) {
      const a = table(1000, 1, 4).abs().add(0.5).realize();
      const improve = jit((x: Tensor) => {
        const step = x.pow(3).sub(a).div(x.square().mul(3));
        return [x.sub(step), step.abs().max()];
      });
      let x: Tensor = ones([1000, 1]);
      for (let i = 0; i < rounds; i++) {
        const [next, largest] = improve(x);
        x.dispose();
        x = next!;
        if ((await number(largest!)) < 1e-9) break;
      }
      return number(x.sum());
    },
  },
  {
    name: "conjugate-gradient",
    title: "conjugate gradients for 100 unknowns, the residual read in every round",
    rounds: 40,
    async plain(rounds) {
      const [a, b] = spd(100);
      let [x, r, p, seen] = [zeros([100]) as Tensor, b, b, 0];
      for (let i = 0; i < rounds; i++) {
        const product = a.matmul(p);
        const size = r.square().sum();
        const alpha = size.div(p.mul(product).sum());
        x = x.add(p.mul(alpha));
        r = r.sub(product.mul(alpha));
        seen = await number(r.norm());
        if (seen < 1e-5) break;
        p = r.add(p.mul(r.square().sum().div(size)));
      }
      return number(x.sum());
    },
    async expert(rounds) {
      const [a, b] = spd(100);
      tree.map((each: Tensor) => each.realize(), [a, b]);
      const step = jit((x: Tensor, r: Tensor, p: Tensor) => {
        const product = a.matmul(p);
        const size = r.square().sum();
        const alpha = size.div(p.mul(product).sum());
        const rest = r.sub(product.mul(alpha));
        const direction = rest.add(p.mul(rest.square().sum().div(size)));
        return [x.add(p.mul(alpha)), rest, direction, rest.norm()];
      });
      let [x, r, p] = [zeros([100]) as Tensor, b, b];
      for (let i = 0; i < rounds; i++) {
        const [nextX, nextR, nextP, norm] = step(x, r, p);
        [x, r, p] = [nextX!, nextR!, nextP!];
        if ((await number(norm!)) < 1e-5) break;
      }
      return number(x.sum());
    },
  },
  {
    name: "rnn",
    title: "40 letters drawn from a recurrent network, each fed back to it",
    rounds: 40,
    async plain(rounds) {
      const [inner, outer, embedding] = [layer(64, 64, 1), layer(64, 32, 2), layer(32, 64, 3)];
      let [state, letter, sum] = [zeros([64]) as Tensor, 0, 0];
      for (let i = 0; i < rounds; i++) {
        state = state.matmul(inner).add(embedding.at(letter)).tanh();
        const logits = state.matmul(outer);
        letter = await number(random.categorical(random.foldIn(random.key(9), i), logits));
        sum += letter;
      }
      return sum;
    },
    async expert(rounds) {
      const [inner, outer, embedding] = [layer(64, 64, 1), layer(64, 32, 2), layer(32, 64, 3)];
      for (const each of [inner, outer, embedding]) each.realize();
      const step = jit((state: Tensor, letter: Tensor, i: Tensor) => {
        const next = state
          .matmul(inner)
          .add(embedding.take(letter, { axis: 0 }))
          .tanh();
        return [next, random.categorical(random.foldIn(random.key(9), i), next.matmul(outer))];
      });
      let [state, letter, sum] = [zeros([64]) as Tensor, 0, 0];
      for (let i = 0; i < rounds; i++) {
        const [next, drawn] = step(state, tensor(letter, { dtype: "i32" }), tensor(i, { dtype: "u32" }));
        state.dispose();
        state = next!;
        letter = await number(drawn!);
        sum += letter;
      }
      return sum;
    },
  },
  {
    name: "questions",
    title: "a notebook: one product of 256×256, its sum, largest, mean, deviation and corner, new data every round",
    rounds: 20,
    async plain(rounds) {
      let total = 0;
      for (let i = 0; i < rounds; i++) {
        const y = table(256, 256, i).matmul(table(256, 256, i + 1));
        total += (await number(y.sum())) + (await number(y.max())) + (await number(y.mean()));
        total += (await number(y.std())) + (await number(y.at(0, 0)));
      }
      return total;
    },
    async expert(rounds) {
      let total = 0;
      for (let i = 0; i < rounds; i++) {
        const numbers = scope(() => {
          const y = table(256, 256, i)
            .matmul(table(256, 256, i + 1))
            .realize();
          return stack([y.sum(), y.max(), y.mean(), y.std(), y.at(0, 0)]);
        });
        for (const value of await numbers.data()) total += Number(value);
        numbers.dispose();
      }
      return total;
    },
  },
  {
    name: "describe",
    title: "a notebook: columns of a table standardised, then mean, deviation, ends and correlations printed",
    rounds: 10,
    async plain(rounds) {
      let total = 0;
      for (let i = 0; i < rounds; i++) {
        const x = table(2000, 12, i);
        const z = x.sub(x.mean({ axis: 0 })).div(x.std({ axis: 0 }));
        for (const part of [z.mean({ axis: 0 }), z.std({ axis: 0 }), z.min({ axis: 0 }), z.max({ axis: 0 })]) {
          total += Number((await part.data())[0]);
        }
        const correlations = z.T.matmul(z).div(2000);
        for (let j = 0; j < 12; j++) total += await number(correlations.at(0, j));
      }
      return total;
    },
    async expert(rounds) {
      let total = 0;
      for (let i = 0; i < rounds; i++) {
        const x = table(2000, 12, i);
        const z = x
          .sub(x.mean({ axis: 0 }))
          .div(x.std({ axis: 0 }))
          .realize();
        for (const part of [z.mean({ axis: 0 }), z.std({ axis: 0 }), z.min({ axis: 0 }), z.max({ axis: 0 })]) {
          total += Number((await part.data())[0]);
          part.dispose();
        }
        using correlations = z.T.matmul(z).div(2000);
        const first = (await correlations.data()).subarray(0, 12);
        for (const value of first) total += Number(value);
        for (const each of [x, z]) each.dispose();
      }
      return total;
    },
  },
  {
    name: "probe",
    title: "a debugger's loop: inside a gradient, values are printed on the way",
    rounds: 30,
    async plain(rounds) {
      let [w, seen] = [layer(32, 32, 4) as Tensor, 0];
      const x = table(100, 32, 5);
      for (let i = 0; i < rounds; i++) {
        const slope = grad((weights: Tensor) => {
          const hidden = x.matmul(weights).tanh();
          seen += Number(hidden.abs().max().itemSync());
          return hidden.square().mean();
        })(w);
        w = w.sub(slope.mul(0.5));
      }
      return seen + (await number(w.sum()));
    },
    async expert(rounds) {
      const x = table(100, 32, 5);
      const step = jit((weights: Tensor) => {
        const hidden = x.matmul(weights).tanh().abs().max();
        return [weights.sub(grad((w: Tensor) => x.matmul(w).tanh().square().mean())(weights).mul(0.5)), hidden];
      });
      let [w, seen] = [layer(32, 32, 4) as Tensor, 0];
      for (let i = 0; i < rounds; i++) {
        const [next, largest] = step(w);
        w.dispose();
        w = next!;
        seen += Number(largest!.itemSync());
      }
      return seen + (await number(w.sum()));
    },
  },
];

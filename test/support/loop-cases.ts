/** Loops and choices as functions to try, in the form of the operations: the sweeps of gradients, vmap and jit walk them. */
import {
  associativeScan,
  checkpoint,
  cond,
  customGradient,
  forLoop,
  scan,
  switchCase,
  type Tensor,
  tensor,
} from "../../src/index.js";
import { floats, integers, type OperationCase } from "./operation-cases.js";

type Step = (carry: Tensor, x: Tensor) => readonly [Tensor, Tensor];

/** A scan whose step may capture further inputs. */
const scanned = (
  name: string,
  inputs: OperationCase["inputs"],
  step: (...captured: Tensor[]) => Step,
  traits: Partial<OperationCase> & { readonly reverse?: boolean } = {},
): OperationCase => ({
  name,
  inputs,
  f: (init, xs, ...captured) => scan(step(...captured), init!, xs!, { reverse: traits.reverse === true }),
  ...traits,
});

const everywhere = { isEverywhere: true } as const;
const state = floats([3], -1, 1);
const sequence = floats([4, 3], -1, 1);
const matrix = floats([3, 3], -1, 1);

/** The right derivatives, by hand. */
const tanh = customGradient((x: Tensor) => x.tanh(), {
  vjp: (ct: Tensor, y: Tensor) => [ct.mul(y.square().neg().add(1))],
});
const product = customGradient((x: Tensor, y: Tensor) => x.mul(y), {
  jvp: ([a, b]: readonly [Tensor, Tensor], x: Tensor, y: Tensor) => a.mul(y).add(b.mul(x)),
});

export const loopCases: readonly OperationCase[] = [
  scanned(
    "scan, element by element",
    [state, sequence, state],
    (w) => (c, x) => {
      const next = c.mul(w!).add(x).sin();
      return [next, next.mul(x)];
    },
    everywhere,
  ),
  scanned("scan, in reverse", [state, sequence, state], (w) => (c, x) => [c.mul(x).add(w!), c.square()], {
    reverse: true,
    ...everywhere,
  }),
  scanned(
    "scan with a matrix",
    [state, sequence, matrix],
    (w) => (c, x) => {
      const next = w!.matmul(c).add(x).tanh();
      return [next, next.sum()];
    },
    everywhere,
  ),
  scanned("scan of one round", [state, floats([1, 3]), state], (w) => (c, x) => [c.mul(x), c.add(w!)]),
  scanned("scan whose carry does not change", [state, sequence], () => (c, x) => [c, c.mul(x)]),
  scanned("scan whose carry is the element", [state, sequence], () => (c, x) => [x, c.mul(x)]),
  scanned("scan whose carry is captured", [state, sequence, state], (w) => (c, x) => [w!, c.mul(x)]),
  scanned("scan of scalars", [floats([], 0.2, 0.9), floats([5], 0.2, 0.9)], () => (c, x) => [
    c.mul(x).add(1),
    c.mul(0.3).exp(),
  ]),
  scanned("scan that sorts and sums", [matrix, floats([3, 3, 3], -1, 1)], () => (c, x) => {
    const sums = c.matmul(x).cumsum({ axis: 1 });
    return [sums.sort({ axis: 0 }).mul(0.3), sums.max()];
  }),
  scanned("scan with derivatives by hand", [state, sequence, state], (w) => (c, x) => [
    tanh(product(c, w!).add(x)),
    product(c, x),
  ]),
  scanned("scan with a checkpoint", [state, sequence, state], (w) => (c, x) => {
    const next = checkpoint((a: Tensor, b: Tensor) => a.mul(w!).add(b).tanh())(c, x);
    return [next, next.square()];
  }),
  {
    name: "scan in a checkpoint",
    inputs: [state, sequence, state],
    f: (init, xs, w) =>
      checkpoint((a: Tensor, b: Tensor) => scan((c: Tensor, x: Tensor) => [c.mul(w!).add(x).sin(), c], a, b))(
        init!,
        xs!,
      ),
  },
  {
    name: "scan of trees with integers and booleans",
    inputs: [state, sequence],
    f: (init, xs) => {
      const [{ sum, count }, { kept, isEven }] = scan(
        ({ sum: s, count: n, isEven: even }: { sum: Tensor; count: Tensor; isEven: Tensor }, { x }: { x: Tensor }) => {
          const next = cond(
            even,
            (a: Tensor, b: Tensor) => a.mul(b),
            (a: Tensor, b: Tensor) => a.add(b),
            s,
            x,
          );
          return [
            { sum: next, count: n.add(1), isEven: even.logicalNot() },
            { kept: s.mul(n.cast(s.dtype)), isEven: even },
          ] as const;
        },
        {
          sum: init!,
          count: tensor(1, { dtype: "i32", device: init!.device }) as Tensor,
          isEven: tensor(true, { dtype: "bool", device: init!.device }) as Tensor,
        },
        { x: xs! },
      );
      return [sum, kept, count, isEven];
    },
  },
  {
    name: "scan in a scan",
    inputs: [state, floats([2, 2, 3], -1, 1), state],
    f: (init, xs, w) =>
      scan(
        (c: Tensor, rows: Tensor) => {
          const [last, all] = scan((d: Tensor, x: Tensor) => [d.mul(w!).add(x).sin(), d.mul(c)], c, rows);
          return [last, all.sum({ axis: 0 })];
        },
        init!,
        xs!,
      ),
    isEverywhere: true,
  },
  {
    name: "scan without sequences",
    inputs: [state, state],
    f: (init, w) => scan((c: Tensor, _: null) => [c.mul(w!).sin(), c.sum()], init!, null, { length: 4 }),
  },
  {
    name: "scan of no rounds",
    inputs: [state, floats([0, 3])],
    f: (init, xs) => scan((c: Tensor, x: Tensor) => [c.mul(x), c.add(x)], init!.mul(2), xs!),
  },
  {
    name: "forLoop",
    inputs: [state, floats([5], -1, 1)],
    f: (init, xs) => forLoop(1, 5, (i, c: Tensor) => c.mul(xs!.take(i, { axis: 0 })).add(i.cast(c.dtype)), init!),
    isEverywhere: true,
  },
  {
    name: "cond",
    inputs: [state, state, floats([])],
    f: (x, y, t) =>
      cond(
        t!.greater(0),
        (a: Tensor, b: Tensor) => ({ first: a.mul(b).sin(), second: t!.mul(a) }),
        (a: Tensor, b: Tensor) => ({ first: a.sub(b), second: a.square() }),
        x!,
        y!,
      ).first,
    isEverywhere: true,
  },
  {
    name: "switchCase",
    inputs: [state, state, integers([], -1, 5)],
    f: (x, y, i) =>
      switchCase(
        i!,
        [
          (a: Tensor, b: Tensor) => [a.mul(b), b] as const,
          (a: Tensor, b: Tensor) => [a.exp(), a.add(b)] as const,
          (a: Tensor, b: Tensor) => [b.sin(), a.mul(y!)] as const,
        ],
        x!,
        y!,
      ),
    isEverywhere: true,
  },
  {
    name: "associativeScan of a recurrence",
    inputs: [floats([5, 2], -1, 1), floats([5, 2], -1, 1)],
    f: (a, b) => {
      const combine = (l: readonly Tensor[], r: readonly Tensor[]) => [l[0]!.mul(r[0]!), l[1]!.mul(r[0]!).add(r[1]!)];
      return associativeScan(combine, [a!, b!] as readonly Tensor[]);
    },
    isEverywhere: true,
  },
  {
    name: "associativeScan of matrices, in reverse",
    inputs: [floats([2, 3, 2], -1, 1)],
    f: (x) => associativeScan((a: Tensor, b: Tensor) => b.matmul(a), x!.moveAxis(0, 1), { axis: 0, reverse: true }),
  },
  {
    name: "checkpoint",
    inputs: [state, matrix, state],
    f: (x, w, b) => {
      const layer = checkpoint((a: Tensor, c: Tensor) => w!.matmul(a).add(c).tanh());
      return [layer(layer(x!, b!), b!), layer(x!, x!)];
    },
  },
  {
    name: "customGradient in both forms",
    inputs: [state, state],
    f: (x, y) => [tanh(product(x!, y!)), product(tanh(x!), tanh(y!))],
  },
];

/**
 * Hidden Markov models, by the log densities of what was seen under each state: the log density of a whole series by the forward
 * algorithm, the probabilities of its states, draws of them, and the likeliest path (Rabiner, A tutorial on hidden Markov models,
 * 1989). All in logarithms, step by step in a scan. The distribution `hmm` is made of this, and users call it on draws.
 */
import { ShapeError } from "../../core/errors.js";
import { broadcastShapes, formatShape, type Shape } from "../../core/shape.js";
import { categorical } from "../../random/exponential.js";
import { checkKey, type Key, split } from "../../random/key.js";
import { checkTensor, concat, countingLike, scalarLike, type Tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";

/** A hidden Markov model in logarithms: all tensors have the same leading axes. */
interface Chain {
  /** [.., K], before anything was seen. */
  readonly initial: Tensor;
  /** [.., K, K], from the state of a row to that of a column. */
  readonly moves: Tensor;
  /** [T, .., K]: steps come first, as scan wants them. */
  readonly seen: Tensor;
}

/** log p of a probability that may be 0, with a slope that is a number there. */
const logOf = (p: Tensor): Tensor => where(p.equal(0), -Infinity, where(p.equal(0), 1, p).log());

function chainOf(operation: string, initial: Tensor, transition: Tensor, logDensities: Tensor): Chain {
  for (const [what, given] of Object.entries({ initial, transition, logDensities }))
    checkTensor(operation, what, given);
  const states = logDensities.shape.at(-1);
  const fits =
    initial.shape.at(-1) === states && transition.shape.at(-1) === states && transition.shape.at(-2) === states;
  if (!fits || logDensities.rank < 2) {
    throw new ShapeError(
      `${operation}: initial is ${formatShape(initial.shape)}, transition ${formatShape(transition.shape)} and the log densities ` +
        `${formatShape(logDensities.shape)}; for K states and T steps they are [.., K], [.., K, K] and [.., T, K].`,
    );
  }
  const [k, { dtype }] = [states as number, logDensities];
  const batch: Shape = broadcastShapes(
    operation,
    initial.shape.slice(0, -1),
    transition.shape.slice(0, -2),
    logDensities.shape.slice(0, -2),
  );
  const steps = logDensities.shape.at(-2) as number;
  return {
    initial: logOf(initial.cast(dtype)).broadcastTo([...batch, k]),
    moves: logOf(transition.cast(dtype)).broadcastTo([...batch, k, k]),
    seen: logDensities.broadcastTo([...batch, steps, k]).moveAxis(-2, 0),
  };
}

const stepsOf = ({ seen }: Chain): number => seen.shape[0];
const firstOf = ({ initial, seen }: Chain): Tensor => initial.add(seen.at(0));

/** The log density of all that was seen so far together with the state, one step further. */
const forward = (before: Tensor, moves: Tensor, seen: Tensor): Tensor =>
  before.expandDims(-1).add(moves).logsumexp({ axis: -2 }).add(seen);

/** Steps of a scan in front of which one has been made already, [T, .., K]. */
const after = (first: Tensor, rest: Tensor): Tensor => concat([first.expandDims(0), rest]);

/** log p(seen up to t, state at t), [T, .., K]. */
function forwardLogs(chain: Chain): Tensor {
  const first = firstOf(chain);
  if (stepsOf(chain) === 1) return first.expandDims(0);
  const step = (before: Tensor, seen: Tensor) => {
    const next = forward(before, chain.moves, seen);
    return [next, next] as const;
  };
  const [, rest] = scan(step, first, chain.seen.at("1:"));
  return after(first, rest);
}

/** log p(seen after t | state at t), [T, .., K]. */
function backwardLogs(chain: Chain): Tensor {
  const none = scalarLike(chain.seen, 0).broadcastTo(chain.initial.shape);
  if (stepsOf(chain) === 1) return none.expandDims(0);
  const step = (later: Tensor, seen: Tensor) => {
    const next = chain.moves.add(later.add(seen).expandDims(-2)).logsumexp({ axis: -1 });
    return [next, next] as const;
  };
  const [, rest] = scan(step, none, chain.seen.at("1:"), { reverse: true });
  return concat([rest, none.expandDims(0)]);
}

/**
 * The log density of series whose state is hidden, summed over all paths of states. `initial` [.., K] and `transition` [.., K, K]
 * are probabilities, in rows from each state; `logDensities` [.., T, K] are those of what was seen at each step under each state.
 */
export function hmmLogDensity(initial: Tensor, transition: Tensor, logDensities: Tensor): Tensor {
  const chain = chainOf("hmmLogDensity", initial, transition, logDensities);
  const first = firstOf(chain);
  if (stepsOf(chain) === 1) return first.logsumexp({ axis: -1 });
  const step = (before: Tensor, seen: Tensor) => [forward(before, chain.moves, seen), null] as const;
  const [last] = scan(step, first, chain.seen.at("1:"));
  return last.logsumexp({ axis: -1 });
}

/** The probability of each state at each step given the whole series, [.., T, K]; arguments as for `hmmLogDensity`. */
export function hmmStateProbabilities(initial: Tensor, transition: Tensor, logDensities: Tensor): Tensor {
  const chain = chainOf("hmmStateProbabilities", initial, transition, logDensities);
  return forwardLogs(chain).add(backwardLogs(chain)).softmax().moveAxis(0, -2);
}

/** The elements of the last axis at positions, whole numbers without that axis. */
function chosen(values: Tensor, position: Tensor): Tensor {
  const numbers = countingLike(values, values.shape.at(-1) as number);
  return where(position.expandDims(-1).equal(numbers), values, 0).sum({ axis: -1 });
}

/** States [.., T], numbered from 0, drawn given the whole series; arguments as for `hmmLogDensity`. */
export function hmmDrawStates(key: Key, initial: Tensor, transition: Tensor, logDensities: Tensor): Tensor<"i32"> {
  checkKey(key, "hmmDrawStates", "");
  const chain = chainOf("hmmDrawStates", initial, transition, logDensities);
  const logs = forwardLogs(chain);
  const [own, rest] = split(key);
  const last = categorical(own, logs.at(-1));
  if (stepsOf(chain) === 1) return last.expandDims(-1);
  const back = (state: Tensor<"i32">, [before, draw]: readonly [Tensor, Key]) => {
    const found = categorical(draw, before.add(chosen(chain.moves, state.expandDims(-1))));
    return [found, found] as const;
  };
  const [, path] = scan(back, last, [logs.at(":-1"), split(rest, [stepsOf(chain) - 1])] as const, { reverse: true });
  return concat([path, last.expandDims(0)]).moveAxis(0, -1) as Tensor<"i32">;
}

/** The likeliest path of states [.., T], by Viterbi's algorithm; arguments as for `hmmLogDensity`. */
export function hmmLikeliestStates(initial: Tensor, transition: Tensor, logDensities: Tensor): Tensor<"i32"> {
  const chain = chainOf("hmmLikeliestStates", initial, transition, logDensities);
  const first = firstOf(chain);
  if (stepsOf(chain) === 1) return first.argmax({ axis: -1 }).expandDims(-1) as Tensor<"i32">;
  const step = (before: Tensor, seen: Tensor) => {
    const ways = before.expandDims(-1).add(chain.moves);
    return [ways.max({ axis: -2 }).add(seen), ways.argmax({ axis: -2 })] as const;
  };
  const [best, origins] = scan(step, first, chain.seen.at("1:"));
  const last = best.argmax({ axis: -1 });
  const back = (state: Tensor<"i32">, origin: Tensor<"i32">) => {
    const found = chosen(origin, state).cast("i32");
    return [found, found] as const;
  };
  const [, path] = scan(back, last, origins, { reverse: true });
  return concat([path, last.expandDims(0)]).moveAxis(0, -1) as Tensor<"i32">;
}

/** Paths of states [.., T] before anything is seen: log probabilities [.., K] and [.., K, K], of leading axes that are alike. */
export function drawnPaths(key: Key, initial: Tensor, moves: Tensor, steps: number): Tensor<"i32"> {
  const [own, rest] = split(key);
  const first = categorical(own, initial);
  if (steps === 1) return first.expandDims(-1);
  const step = (state: Tensor<"i32">, draw: Key) => {
    const found = categorical(draw, chosen(moves.mT, state.expandDims(-1)));
    return [found, found] as const;
  };
  const [, path] = scan(step, first, split(rest, [steps - 1]));
  return concat([first.expandDims(0), path]).moveAxis(0, -1) as Tensor<"i32">;
}

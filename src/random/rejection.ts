/**
 * Rejection sampling with a fixed number of rounds: of so many candidates the first accepted one counts. A candidate follows
 * from its round, so none is stored: the accepted one is made again. When none is accepted the last one counts; callers
 * choose enough rounds to make that irrelevant, and say how rare it is.
 */
import { countingLike, type Tensor, where } from "../tensor/index.js";
import type { Key } from "./key.js";

/** For each element, the first round whose candidate is accepted. `accepts` gets the rounds along a new first axis. */
export function firstAccepted(key: Key, rounds: number, rank: number, accepts: (round: Tensor) => Tensor): Tensor {
  const round = countingLike(key, rounds).reshape([rounds, ...new Array<number>(rank).fill(1)]);
  return where(accepts(round), round, rounds - 1).min({ axis: 0 });
}

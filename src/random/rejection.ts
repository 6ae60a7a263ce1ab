/**
 * Rejection sampling with a fixed number of rounds: of so many candidates the first accepted one counts. A candidate follows
 * from its round, so none is stored: the accepted one is made again. When none is accepted the last one counts; callers
 * choose enough rounds to make that irrelevant, and say how rare it is. A kernel ends its loop with the first accepted one.
 */
import { countingLike, firstRound, type Tensor } from "../tensor/index.js";
import type { Key } from "./key.js";

/** For each element, the first round whose candidate is accepted. `accepts` gets the rounds along a new first axis. */
export function firstAccepted(key: Key, rounds: number, rank: number, accepts: (round: Tensor) => Tensor): Tensor {
  const round = countingLike(key, rounds).reshape([rounds, ...new Array<number>(rank).fill(1)]);
  return firstRound(accepts(round), round);
}

/** Starts of searches under a fixed sum of variables: machines with ν and those of one class. */

export const sumOf = (values: Float64Array): number => values.reduce((sum, each) => sum + each, 0);

/** Variables up to their limits whose sum is `total`: the first ones have it. */
export function filledInOrder(limits: Float64Array, total: number): Float64Array {
  let rest = total;
  return limits.map((limit) => {
    const taken = Math.min(limit, rest);
    rest -= taken;
    return taken;
  });
}

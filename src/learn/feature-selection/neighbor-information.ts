/**
 * The mutual information of two variables by how far their nearest neighbours are: of two that are continuous (Kraskov, Stögbauer &
 * Grassberger 2004), and of a continuous one and classes (Ross 2014). Columns are sorted and searched on the host, in doubles: a search of
 * neighbours in one column, or along one of two, is a few steps for each sample.
 */

/** ψ of whole numbers from 1 on: sums of 1 / n, less Euler's constant. */
function digammas(most: number): Float64Array {
  const values = new Float64Array(most + 1);
  values[1] = -0.577_215_664_901_532_9;
  for (let n = 1; n < most; n++) values[n + 1] = (values[n] as number) + 1 / n;
  return values;
}

/** Positions in the order of their values. */
const orderOf = (values: Float64Array): Int32Array =>
  Int32Array.from(values.keys()).sort((a, b) => (values[a] as number) - (values[b] as number));

/** How many of the sorted values are nearer to one of them than a radius, itself among them; equal ones where the radius is zero. */
function countWithin(sorted: Float64Array, value: number, radius: number): number {
  const isNear = (i: number): boolean => {
    const distance = Math.abs((sorted[i] as number) - value);
    return distance < radius || distance === 0;
  };
  // The first place from `low` on where the claim holds; it holds from there on.
  const first = (low: number, high: number, holds: (i: number) => boolean): number => {
    let [a, b] = [low, high];
    while (a < b) {
      const middle = (a + b) >> 1;
      if (holds(middle)) b = middle;
      else a = middle + 1;
    }
    return a;
  };
  const start = first(0, sorted.length, (i) => (sorted[i] as number) >= value || isNear(i));
  const end = first(start, sorted.length, (i) => (sorted[i] as number) > value && !isNear(i));
  return end - start;
}

/** The distance from each sorted value to the k-th nearest of the others. */
function neighborDistances(sorted: Float64Array, k: number): Float64Array {
  return sorted.map((value, i) => {
    let [left, right, distance] = [i - 1, i + 1, 0];
    for (let found = 0; found < k; found++) {
      const toLeft = left < 0 ? Number.POSITIVE_INFINITY : value - (sorted[left] as number);
      const toRight = right >= sorted.length ? Number.POSITIVE_INFINITY : (sorted[right] as number) - value;
      distance = Math.min(toLeft, toRight);
      if (toLeft <= toRight) left--;
      else right++;
    }
    return distance;
  });
}

const meanOf = (values: Float64Array): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The information, in nats, of a continuous variable about classes; classes with one sample are left out. */
export function informationOfClasses(values: Float64Array, codes: ArrayLike<number>, k: number): number {
  const members = new Map<number, number[]>();
  for (let i = 0; i < values.length; i++) {
    const code = codes[i] as number;
    const known = members.get(code);
    if (known) known.push(values[i] as number);
    else members.set(code, [values[i] as number]);
  }
  const classes = [...members.values()].filter((each) => each.length > 1).map((each) => Float64Array.from(each).sort());
  const samples = classes.reduce((sum, each) => sum + each.length, 0);
  if (samples === 0) return 0;
  const sorted = new Float64Array(samples);
  let at = 0;
  for (const each of classes) {
    sorted.set(each, at);
    at += each.length;
  }
  sorted.sort();
  const psi = digammas(samples);
  const psiOf = (n: number): number => psi[n] as number;
  let sum = 0;
  for (const each of classes) {
    const near = Math.min(k, each.length - 1);
    const radii = neighborDistances(each, near);
    each.forEach((value, i) => {
      sum += psiOf(near) - psiOf(each.length) - psiOf(countWithin(sorted, value, radii[i] as number));
    });
  }
  return Math.max(0, psiOf(samples) + sum / samples);
}

/** The information, in nats, of two continuous variables about each other. */
export function informationOfPair(x: Float64Array, y: Float64Array, k: number): number {
  const samples = x.length;
  const order = orderOf(x);
  const [along, across] = [x, y].map((values) => Float64Array.from(order, (i) => values[i] as number)) as [
    Float64Array,
    Float64Array,
  ];
  const sorted = y.slice().sort();
  const psi = digammas(samples);
  const spread = along.map((value, i) => {
    const radius = pairDistance(along, across, i, k);
    const counts = [countWithin(along, value, radius), countWithin(sorted, across[i] as number, radius)] as const;
    return (psi[counts[0]] as number) + (psi[counts[1]] as number);
  });
  return Math.max(0, (psi[samples] as number) + (psi[k] as number) - meanOf(spread));
}

/** The distance, the larger of the two, from a sample to its k-th nearest; samples in the order of the first variable. */
function pairDistance(along: Float64Array, across: Float64Array, at: number, k: number): number {
  const nearest = new Float64Array(k).fill(Number.POSITIVE_INFINITY);
  const take = (j: number): boolean => {
    const own = Math.abs((along[j] as number) - (along[at] as number));
    // Further along none is nearer.
    if (own > (nearest[k - 1] as number)) return false;
    const distance = Math.max(own, Math.abs((across[j] as number) - (across[at] as number)));
    let place = k - 1;
    if (distance >= (nearest[place] as number)) return true;
    for (; place > 0 && (nearest[place - 1] as number) > distance; place--)
      nearest[place] = nearest[place - 1] as number;
    nearest[place] = distance;
    return true;
  };
  let [left, right] = [at - 1, at + 1];
  while (left >= 0 || right < along.length) {
    if (left >= 0) left = take(left) ? left - 1 : -1;
    if (right < along.length) right = take(right) ? right + 1 : along.length;
  }
  return nearest[k - 1] as number;
}

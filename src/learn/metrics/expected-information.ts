/**
 * The mutual information that two groupings have on average when samples are dealt to groups of these sizes by chance (Vinh, Epps & Bailey
 * 2010). A sum over all counts that a pair of groups can share, of hypergeometric probabilities: on the host, in doubles, since it takes
 * differences of large logarithms. Equal sizes are reckoned once.
 */

/** The expected mutual information in nats of groupings with these sizes of groups. */
export function expectedInformation(rows: Float64Array, columns: Float64Array): number {
  const all = rows.reduce((sum, each) => sum + each, 0);
  const logs = logFactorials(all);
  let sum = 0;
  for (const [a, timesA] of frequencies(rows)) {
    for (const [b, timesB] of frequencies(columns)) sum += timesA * timesB * ofPair(a, b, all, logs);
  }
  return sum;
}

/** The terms of a group of `a` samples and one of `b`. */
function ofPair(a: number, b: number, all: number, logs: Float64Array): number {
  const log = (count: number): number => logs[count] as number;
  const fixed = log(a) + log(b) + log(all - a) + log(all - b) - log(all);
  let sum = 0;
  for (let both = Math.max(1, a + b - all); both <= Math.min(a, b); both++) {
    const chance = Math.exp(fixed - log(both) - log(a - both) - log(b - both) - log(all - a - b + both));
    sum += (both / all) * Math.log((all * both) / (a * b)) * chance;
  }
  return sum;
}

/** log 0!, log 1! … Sums are compensated (Neumaier 1974): their differences are what counts. */
function logFactorials(most: number): Float64Array {
  const logs = new Float64Array(most + 1);
  let [sum, lost] = [0, 0];
  for (let i = 2; i <= most; i++) {
    const term = Math.log(i);
    const next = sum + term;
    lost += sum >= term ? sum - next + term : term - next + sum;
    sum = next;
    logs[i] = sum + lost;
  }
  return logs;
}

function frequencies(sizes: Float64Array): Map<number, number> {
  const found = new Map<number, number>();
  for (const size of sizes) found.set(size, (found.get(size) ?? 0) + 1);
  return found;
}

/**
 * The discipline every JavaScript peer is measured with: that of bench/harness.ts for the CPU engine. Warm up by time, then
 * take samples until the budget is spent; the caller takes medians, by the same code as ours.
 */
const MAX_SAMPLES = 2000;

/** Seconds, samples to take in any case, and how often the edges of large tensors are halved. */
export function paceOf(args) {
  const option = (name) => (args.includes(name) ? Number(args[args.indexOf(name) + 1]) : undefined);
  const halvings = option("--halvings") ?? 0;
  if (args.includes("--quick")) return { warmUp: 0.1, budget: 0.3, minimum: 3, halvings };
  return { warmUp: 0.5, budget: option("--budget") ?? 1.5, minimum: 7, halvings };
}

/** Samples of `once`, which does the work, waits for it and returns one figure. */
export async function sample(pace, once) {
  const warmUntil = performance.now() + 1000 * pace.warmUp;
  do {
    await once();
    await nextTurn();
  } while (performance.now() < warmUntil);
  const samples = [];
  const until = performance.now() + 1000 * pace.budget;
  while (samples.length < pace.minimum || (performance.now() < until && samples.length < MAX_SAMPLES)) {
    samples.push(await once());
    await nextTurn();
  }
  return samples;
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

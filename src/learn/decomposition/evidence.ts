/**
 * Minka's choice of the number of principal components (2000): the evidence of each number under a model in which the other directions are
 * noise of one variance. Plain numbers on the host: there are as many as features. pca.ts asks.
 */

const EPSILON = 2 ** -52;

/** The logarithm of Γ(n / 2) for a whole n from 1 on. */
function logGammaOfHalf(n: number): number {
  let sum = n % 2 === 0 ? 0 : Math.log(Math.PI) / 2;
  for (let x = n % 2 === 0 ? 1 : 0.5; x < n / 2; x++) sum += Math.log(x);
  return sum;
}

/** The logarithm of the evidence that the first `rank` directions are more than noise. `variances` fall. */
function logEvidence(variances: readonly number[], rank: number, samples: number): number {
  const features = variances.length;
  const at = (i: number): number => variances[i] as number;
  if (at(rank - 1) < EPSILON) return Number.NEGATIVE_INFINITY;
  let volume = -rank * Math.log(2);
  for (let n = features; n > features - rank; n--) volume += logGammaOfHalf(n) - (Math.log(Math.PI) * n) / 2;
  let kept = 0;
  for (let i = 0; i < rank; i++) kept += Math.log(at(i));
  const rest = variances.slice(rank).reduce((sum, each) => sum + each, 0) / (features - rank);
  const noise = Math.max(EPSILON, rest);
  const freedom = features * rank - (rank * (rank + 1)) / 2;
  let curvature = 0;
  for (let i = 0; i < rank; i++) {
    for (let j = i + 1; j < features; j++) {
      const other = j < rank ? at(j) : noise;
      curvature += Math.log((at(i) - at(j)) * (1 / other - 1 / at(i))) + Math.log(samples);
    }
  }
  return (
    volume -
    (kept * samples) / 2 -
    (Math.log(noise) * samples * (features - rank)) / 2 +
    (Math.log(2 * Math.PI) * (freedom + rank)) / 2 -
    curvature / 2 -
    (rank * Math.log(samples)) / 2
  );
}

/** The number of components with the most evidence. */
export function rankByEvidence(variances: readonly number[], samples: number): number {
  let [best, most] = [1, Number.NEGATIVE_INFINITY];
  for (let rank = 1; rank < variances.length; rank++) {
    const evidence = logEvidence(variances, rank, samples);
    if (evidence > most) [best, most] = [rank, evidence];
  }
  return best;
}

/**
 * Models for the leapfrog chain, each told twice: as GLSL for the device and as plain JavaScript for the comparison.
 *
 * The GLSL keeps the seeds' contract: seven buffers, the observations and the inverse masses packed in `extras`, K, the
 * number of observations, d, padding and the step size in the push block, entry t of each chain the state after step
 * t + 1. One workgroup runs the chain; its threads share the observations.
 */
import type { FloatType } from "../support/floats.js";
import { randomFloats } from "../support/floats.js";

export interface Density {
  readonly logp: number;
  readonly grad: number[];
}

export interface Model {
  readonly name: string;
  readonly d: number;
  /** What `extras` holds before the inverse masses. */
  readonly observations: readonly number[];
  readonly inverseMass: readonly number[];
  /** What the push block holds after the step size. */
  readonly parameters: readonly number[];
  readonly start: { readonly q: readonly number[]; readonly p: readonly number[] };
  readonly density: (q: readonly number[]) => Density;
  readonly glsl: (type: FloatType) => string;
}

/** GLSL's own exp and log are for floats only, and coarse; these are good to a few ulp in both types. */
const math = (type: FloatType) => `
${
  type === "f64"
    ? `
double powerOfTwo(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }
int exponentOf(double x) { return int(unpackDouble2x32(x).y >> 20) - 1023; }`
    : `
float powerOfTwo(int n) { return intBitsToFloat((n + 127) << 23); }
int exponentOf(float x) { return (floatBitsToInt(x) >> 23) - 127; }`
}
const real LN2 = real(0.6931471805599453094LF);
const real LN2_HIGH = real(${type === "f64" ? "6.93147180369123816490e-01LF" : "0.693359375LF"});
const real LN2_LOW = real(${type === "f64" ? "1.90821492927058770002e-10LF" : "-2.12194440e-4LF"});
real expOf(real x) {
  if (x < real(-80)) return real(0);
  real n = floor(x / LN2 + real(0.5));
  real r = (x - n * LN2_HIGH) - n * LN2_LOW;
  real s = real(1);
  for (int i = ${type === "f64" ? 14 : 8}; i > 0; i--) s = real(1) + r * s / real(i);
  return s * powerOfTwo(int(n));
}
real logOf(real x) {
  int e = exponentOf(x);
  real m = x * powerOfTwo(-e);
  if (m > real(1.4142135623730951LF)) { m *= real(0.5); e++; }
  real s = (m - real(1)) / (m + real(1));
  real z = s * s;
  real total = real(0);
  for (int i = ${type === "f64" ? 12 : 6}; i >= 0; i--) total = total * z + real(1) / real(2 * i + 1);
  return real(e) * LN2 + real(2) * s * total;
}`;

/** The chain around a model's `real density(uint lane)`, which fills `g` from `q` and ends with a barrier. */
const chain = (type: FloatType, threads: number, model: string, pushTail = "") => `#version 450
#define real ${type === "f32" ? "float" : "double"}
const uint THREADS = ${threads};
const uint MAX_D = 64;
layout(local_size_x = ${threads}) in;
layout(set = 0, binding = 0) readonly buffer QInit { real q_init[]; };
layout(set = 0, binding = 1) readonly buffer PInit { real p_init[]; };
layout(set = 0, binding = 2) readonly buffer Extras { real extras[]; };
layout(set = 0, binding = 3) writeonly buffer QChain { real q_chain[]; };
layout(set = 0, binding = 4) writeonly buffer PChain { real p_chain[]; };
layout(set = 0, binding = 5) writeonly buffer GradChain { real grad_chain[]; };
layout(set = 0, binding = 6) writeonly buffer LogpChain { real logp_chain[]; };
layout(push_constant) uniform Push { uint K; uint n_obs; uint d; uint pad; real eps; ${pushTail} };
shared real q[MAX_D];
shared real p[MAX_D];
shared real g[MAX_D];
${model}
void main() {
  uint lane = gl_LocalInvocationID.x;
  for (uint i = lane; i < d; i += THREADS) { q[i] = q_init[i]; p[i] = p_init[i]; }
  barrier();
  real logp = density(lane);
  for (uint t = 0; t < K; t++) {
    for (uint i = lane; i < d; i += THREADS) {
      p[i] += real(0.5) * eps * g[i];
      q[i] += eps * extras[n_obs + i] * p[i];
    }
    barrier();
    logp = density(lane);
    for (uint i = lane; i < d; i += THREADS) {
      p[i] += real(0.5) * eps * g[i];
      q_chain[t * d + i] = q[i];
      p_chain[t * d + i] = p[i];
      grad_chain[t * d + i] = g[i];
    }
    if (lane == 0) logp_chain[t] = logp;
  }
}`;

const normals = (seed: number): (() => number) => {
  const { between } = randomFloats("f64", seed);
  // Box and Muller; 1 - u is never zero.
  return () => Math.sqrt(-2 * Math.log(1 - between(0, 1))) * Math.cos(2 * Math.PI * between(0, 1));
};

const start = (d: number, seed: number, scales: readonly number[], centre: readonly number[]) => {
  const normal = normals(seed);
  return {
    q: Array.from({ length: d }, (_, i) => centre[i] + scales[i] * normal()),
    p: Array.from({ length: d }, (_, i) => normal() / scales[i]),
  };
};

/** d independent normals, one thread: the observations are the d means and the d precisions. */
export function independentGaussian(d: number): Model {
  const normal = normals(1000 + d);
  const mean = Array.from({ length: d }, normal);
  const scale = Array.from({ length: d }, () => Math.exp(0.5 * normal()));
  const precision = scale.map((s) => 1 / (s * s));
  return {
    name: `a Gaussian of ${d} independent components`,
    d,
    observations: [...mean, ...precision],
    inverseMass: scale.map((s) => s * s * Math.exp(0.1 * normal())),
    parameters: [],
    start: start(d, 7, scale, mean),
    density(q) {
      const grad = q.map((x, i) => precision[i] * (mean[i] - x));
      return { grad, logp: q.reduce((total, x, i) => total - 0.5 * grad[i] * (mean[i] - x), 0) };
    },
    glsl: (type) =>
      chain(
        type,
        1,
        `real density(uint lane) {
  real logp = real(0);
  for (uint i = 0; i < d; i++) {
    real away = extras[i] - q[i];
    g[i] = extras[d + i] * away;
    logp -= real(0.5) * g[i] * away;
  }
  return logp;
}`,
      ),
  };
}

/** A Gaussian given by its precision matrix (the observations) and its mean, which fills the push block to 128 bytes. */
export function correlatedGaussian(type: FloatType): Model {
  const d = 5;
  const room = type === "f64" ? (128 - 24) / 8 : (128 - 20) / 4;
  const normal = normals(2026);
  const mean = Array.from({ length: room }, normal);
  const factor = Array.from({ length: d * d }, () => 0.7 * normal());
  const precision = Array.from({ length: d * d }, (_, at) => {
    const [i, j] = [Math.floor(at / d), at % d];
    let total = i === j ? 1 : 0;
    for (let l = 0; l < d; l++) total += factor[i * d + l] * factor[j * d + l];
    return total;
  });
  return {
    name: "a correlated Gaussian with its mean in a push block of 128 bytes",
    d,
    observations: precision,
    inverseMass: Array.from({ length: d }, (_, i) => 1 / precision[i * d + i]),
    parameters: mean,
    start: start(d, 11, Array(d).fill(1), mean),
    density(q) {
      const grad = q.map((_, i) => {
        let total = 0;
        for (let j = 0; j < d; j++) total += precision[i * d + j] * (mean[j] - q[j]);
        return total;
      });
      return { grad, logp: q.reduce((total, x, i) => total - 0.5 * grad[i] * (mean[i] - x), 0) };
    },
    glsl: (real) =>
      chain(
        real,
        8,
        `shared real terms[MAX_D];
real density(uint lane) {
  for (uint i = lane; i < d; i += THREADS) {
    g[i] = real(0);
    for (uint j = 0; j < d; j++) g[i] += extras[i * d + j] * (mean[j] - q[j]);
    terms[i] = real(-0.5) * g[i] * (mean[i] - q[i]);
  }
  barrier();
  real logp = real(0);
  for (uint i = 0; i < d; i++) logp += terms[i];
  barrier();
  return logp;
}`,
        `real mean[${room}];`,
      ),
  };
}

/**
 * The seeds' flagship: returns that come from a volatile, a trending or a mean-reverting regime. Eight parameters:
 * mu_trend, mu_mr, logit_w1, logit_w2, and the logarithms of sigma_trend, sigma_mr, sigma_vol and theta_mr. A return's
 * predecessor is the return before it, and 0 for the first.
 */
export function regime(returns: readonly number[], name: string): Model {
  const halfLog2Pi = 0.5 * Math.log(2 * Math.PI);
  const scaleOf = [0.02, 0.02, 0.02, 0.5]; // of the half-Cauchy priors, in the order of the parameters
  const centre = [0.0092, 0.0253, 0.646, -0.425, ...[0.0074, 0.0063, 0.0447, 0.193].map(Math.log)];
  const scales = [0.001, 0.004, 0.25, 0.3, 0.1, 0.15, 0.1, 0.3];
  return {
    name,
    d: 8,
    observations: returns,
    inverseMass: scales.map((s) => s * s),
    parameters: [],
    start: start(8, 3, scales, centre),
    density(q) {
      const [muTrend, muMr, w1, w2] = q;
      const [sTrend, sMr, sVol, theta] = q.slice(4).map(Math.exp);
      const total = Math.log(1 + Math.exp(w1) + Math.exp(w2));
      const logw = [-total, w1 - total, w2 - total];
      const rho = Math.exp(-theta);
      const grad = Array(8).fill(0) as number[];
      let logp = 0;
      returns.forEach((y, t) => {
        const away = (t === 0 ? 0 : returns[t - 1]) - muMr;
        const z = [y / sVol, (y - muTrend) / sTrend, (y - muMr - rho * away) / sMr];
        const terms = [sVol, sTrend, sMr].map((s, k) => logw[k] - Math.log(s) - halfLog2Pi - 0.5 * z[k] ** 2);
        const top = Math.max(...terms);
        const sum = terms.reduce((s, x) => s + Math.exp(x - top), 0);
        logp += top + Math.log(sum);
        const [r0, r1, r2] = terms.map((x) => Math.exp(x - top) / sum);
        grad[0] += (r1 * z[1]) / sTrend;
        grad[1] += ((r2 * z[2]) / sMr) * (1 - rho);
        grad[2] += r1 - Math.exp(logw[1]);
        grad[3] += r2 - Math.exp(logw[2]);
        grad[4] += r1 * (z[1] ** 2 - 1);
        grad[5] += r2 * (z[2] ** 2 - 1);
        grad[6] += r0 * (z[0] ** 2 - 1);
        grad[7] -= ((r2 * z[2]) / sMr) * rho * theta * away;
      });
      for (const i of [0, 1, 2, 3]) {
        const sd = i < 2 ? 0.02 : 1;
        logp -= 0.5 * (q[i] / sd) ** 2;
        grad[i] -= q[i] / sd ** 2;
      }
      // Half-Cauchy of the exponential, with the Jacobian of the exponential.
      [sTrend, sMr, sVol, theta].forEach((value, i) => {
        const square = (value / scaleOf[i]) ** 2;
        logp += q[4 + i] - Math.log1p(square);
        grad[4 + i] += 1 - (2 * square) / (1 + square);
      });
      return { logp, grad };
    },
    glsl: (type) =>
      chain(
        type,
        64,
        `${math(type)}
const real HALF_LOG_2PI = real(0.91893853320467274178LF);
shared real partial[9][THREADS];
real density(uint lane) {
  real mu_trend = q[0], mu_mr = q[1], w1 = q[2], w2 = q[3];
  real s_trend = expOf(q[4]), s_mr = expOf(q[5]), s_vol = expOf(q[6]), theta = expOf(q[7]);
  real total = logOf(real(1) + expOf(w1) + expOf(w2));
  real rho = expOf(-theta);
  real sums[9];
  for (int i = 0; i < 9; i++) sums[i] = real(0);
  for (uint t = lane; t < n_obs; t += THREADS) {
    real y = extras[t];
    real away = (t == 0 ? real(0) : extras[t - 1]) - mu_mr;
    real z0 = y / s_vol, z1 = (y - mu_trend) / s_trend, z2 = (y - mu_mr - rho * away) / s_mr;
    real a0 = -total - q[6] - real(0.5) * z0 * z0;
    real a1 = w1 - total - q[4] - real(0.5) * z1 * z1;
    real a2 = w2 - total - q[5] - real(0.5) * z2 * z2;
    real top = max(a0, max(a1, a2));
    real r0 = expOf(a0 - top), r1 = expOf(a1 - top), r2 = expOf(a2 - top);
    real sum = r0 + r1 + r2;
    r0 /= sum; r1 /= sum; r2 /= sum;
    sums[8] += top + logOf(sum) - HALF_LOG_2PI;
    sums[0] += r1 * z1 / s_trend;
    sums[1] += r2 * z2 / s_mr * (real(1) - rho);
    sums[2] += r1 - expOf(w1 - total);
    sums[3] += r2 - expOf(w2 - total);
    sums[4] += r1 * (z1 * z1 - real(1));
    sums[5] += r2 * (z2 * z2 - real(1));
    sums[6] += r0 * (z0 * z0 - real(1));
    sums[7] -= r2 * z2 / s_mr * rho * theta * away;
  }
  for (int i = 0; i < 9; i++) partial[i][lane] = sums[i];
  barrier();
  for (uint span = THREADS / 2; span > 0; span /= 2) {
    if (lane < span) for (int i = 0; i < 9; i++) partial[i][lane] += partial[i][lane + span];
    barrier();
  }
  real logp = partial[8][0];
  for (uint i = 0; i < 4; i++) {
    real sd = i < 2 ? real(0.02LF) : real(1);
    logp -= real(0.5) * (q[i] / sd) * (q[i] / sd);
    if (lane == i) g[i] = partial[i][0] - q[i] / (sd * sd);
  }
  real value[4] = real[4](s_trend, s_mr, s_vol, theta);
  for (uint i = 0; i < 4; i++) {
    real ratio = value[i] / (i < 3 ? real(0.02LF) : real(0.5));
    logp += q[4 + i] - logOf(real(1) + ratio * ratio);
    if (lane == 4 + i) g[4 + i] = partial[4 + i][0] + real(1) - real(2) * ratio * ratio / (real(1) + ratio * ratio);
  }
  barrier();
  return logp;
}`,
      ),
  };
}

/** 200 returns from three regimes, drawn anew: the regime model is tested also where the reference data is absent. */
export function syntheticReturns(): number[] {
  const normal = normals(200);
  const { below } = randomFloats("f64", 201);
  let last = 0;
  return Array.from({ length: 200 }, () => {
    const regimeOf = below(10);
    const y =
      regimeOf < 3
        ? 0.045 * normal()
        : regimeOf < 8
          ? 0.009 + 0.0075 * normal()
          : 0.025 + Math.exp(-0.2) * (last - 0.025) + 0.0065 * normal();
    last = y;
    return y;
  });
}

/** The leapfrog chain in plain JavaScript. */
export interface Chain {
  readonly q: number[];
  readonly p: number[];
  readonly grad: number[];
  readonly logp: number[];
}

export function leapfrog({ density, inverseMass }: Model, { q, p }: Model["start"], steps: number, eps: number): Chain {
  const out: Chain = { q: [], p: [], grad: [], logp: [] };
  let [position, momentum] = [[...q], [...p]];
  let { grad } = density(position);
  for (let t = 0; t < steps; t++) {
    momentum = momentum.map((x, i) => x + 0.5 * eps * grad[i]);
    position = position.map((x, i) => x + eps * inverseMass[i] * momentum[i]);
    const moved = density(position);
    grad = moved.grad;
    momentum = momentum.map((x, i) => x + 0.5 * eps * grad[i]);
    out.q.push(...position);
    out.p.push(...momentum);
    out.grad.push(...grad);
    out.logp.push(moved.logp);
  }
  return out;
}

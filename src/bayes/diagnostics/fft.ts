/**
 * A small complex FFT of a power of two, in place, for autocovariances on the host. The tensor FFT is for tensors; this
 * one needs no device and no copy.
 */

interface Fft {
  readonly size: number;
  /** Replaces re + i·im by its discrete Fourier transform. */
  transform(re: Float64Array, im: Float64Array): void;
}

const plans = new Map<number, Fft>();

/** The transform of a size that is a power of two. Plans are kept: there are few sizes. */
export function fftOf(size: number): Fft {
  const known = plans.get(size);
  if (known) return known;
  const plan = makePlan(size);
  plans.set(size, plan);
  return plan;
}

function makePlan(size: number): Fft {
  const cos = Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
  const sin = Float64Array.from({ length: size / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
  const reversed = new Uint32Array(size);
  for (let i = 1; i < size; i++) reversed[i] = (reversed[i >> 1] >> 1) | (i & 1 ? size >> 1 : 0);

  const transform = (re: Float64Array, im: Float64Array) => {
    for (let i = 0; i < size; i++) {
      const j = reversed[i];
      if (j <= i) continue;
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (2 * half);
      for (let k = 0; k < half; k++) {
        const c = cos[k * stride];
        const s = sin[k * stride];
        for (let i = k; i < size; i += 2 * half) {
          const j = i + half;
          const x = re[j] * c - im[j] * s;
          const y = re[j] * s + im[j] * c;
          re[j] = re[i] - x;
          im[j] = im[i] - y;
          re[i] += x;
          im[i] += y;
        }
      }
    }
  };
  return { size, transform };
}

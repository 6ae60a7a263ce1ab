/**
 * A leapfrog chain for `leapfrogChain`, written with our assembler: d independent normals. It is the smallest model that
 * uses the whole contract; the tour and the tests run it.
 *
 * log p(q) = -½ Σ τᵢ (qᵢ - μᵢ)², up to a constant. The "observations" are the d means μ and then the d precisions τ; the d
 * inverse masses follow, as in every chain. Entry t of each chain is the state after step t + 1, with the gradient and
 * the log density of that same state.
 */

import type { FunctionBuilder } from "../spirv/function/function-builder.js";
import type { Ref } from "../spirv/function/ref.js";
import type { Value } from "../spirv/function/value.js";
import { ModuleBuilder } from "../spirv/module/builder.js";
import type { CatalogueType } from "./shaders.js";

const THREADS = 64;

/** SPIR-V to hand to `leapfrogChain`. Bindings and push block are the chain contract's; one workgroup runs all steps. */
export function gaussianChainShader(type: CatalogueType = "f32"): Uint32Array {
  const m = new ModuleBuilder({ noContraction: true });
  const real = type === "f32" ? m.f32 : m.f64;
  const input = (binding: number, name: string) => m.storageBuffer(real, { binding, writable: false, name });
  const output = (binding: number, name: string) => m.storageBuffer(real, { binding, name });
  const [q0, p0, extras] = [input(0, "q"), input(1, "p"), input(2, "extras")];
  const [qs, ps, gradients] = [output(3, "qChain"), output(4, "pChain"), output(5, "gradientChain")];
  const logDensities = output(6, "logDensityChain");
  const push = m.pushConstants([
    ["steps", m.u32],
    ["observations", m.u32],
    ["d", m.u32],
    ["padding", m.u32],
    ["stepSize", real],
  ]);
  const partial = m.shared(m.array(real, THREADS), "partial");
  const zero = m.constant(real, 0);

  m.entry("main", { localSize: [THREADS] }, (f) => {
    const lane = f.builtin("LocalInvocationIndex");
    const { d } = push;
    const half = f.mul(push.stepSize, 0.5);
    f.for(m.constant(m.u32, 0), push.steps, 1, (t) => {
      // Each thread works on the same components in every step, so it finds its last state in the chain.
      const row = f.mul(t, d);
      const isFirst = f.equal(t, 0);
      const logDensity = f.fold(lane, d, THREADS, zero, (i, total) => {
        const at = f.add(row, i);
        const last = f.sub(at, d);
        const [q, p] = f.if(
          isFirst,
          () => [q0.load(i), p0.load(i)],
          () => [qs.load(last), ps.load(last)],
        );
        const mean = extras.load(i);
        const precision = extras.load(f.add(d, i));
        const inverseMass = extras.load(f.add(push.observations, i));
        const gradientAt = (x: typeof q) => f.mul(precision, f.sub(mean, x));

        const middle = f.add(p, f.mul(half, gradientAt(q)));
        const moved = f.add(q, f.mul(push.stepSize, f.mul(inverseMass, middle)));
        const gradient = gradientAt(moved);
        qs.store(at, moved);
        ps.store(at, f.add(middle, f.mul(half, gradient)));
        gradients.store(at, gradient);
        return f.sub(total, f.mul(0.5, f.mul(gradient, f.sub(mean, moved))));
      });

      sumOverThreads(f, partial, lane, logDensity);
      f.if(f.equal(lane, 0), () => logDensities.store(t, partial.load(0)));
      // The next step's partial sums must not overtake this one's.
      f.workgroupBarrier();
    });
  });
  return m.build();
}

/** Adds up a value of each thread; the sum ends in the first element of `partial`. */
function sumOverThreads(f: FunctionBuilder, partial: Ref, lane: Value, value: Value): void {
  partial.store(lane, value);
  for (let span = THREADS / 2; span >= 1; span /= 2) {
    f.workgroupBarrier();
    f.if(f.less(lane, span), () => {
      partial.store(lane, f.add(partial.load(lane), partial.load(f.add(lane, span))));
    });
  }
}

/**
 * Facts about families of devices: the constants of estimated times, and the tilings that were measured to be better than
 * the rule's. `family` of a device's tile profile names its row; a device of an unknown family is estimated with NVIDIA's
 * constants, because the ratios between shapes are similar, and has no measured tilings.
 */

/** Constants of the estimates in workgroup-cost.ts. */
export interface FamilyCosts {
  /** Multiply-adds per cycle of a multiprocessor: of 4-byte numbers, and of 2-byte numbers on its matrix units. */
  readonly perCycle: number;
  readonly matrixPerCycle: number;
  /** Least cycles of a step: memory, barriers. */
  readonly latency: number;
  /** A last wave that is not full costs at least this share of a full one: workgroups do not all end at once. */
  readonly raggedWave: number;
  /** Cycles for adding the parts of a split summation: one more kernel, and its memory. */
  readonly splitCycles: number;
  readonly bytesPerCycle: number;
  /** Slowdown where the last part is shorter than the others, or the last step: every load tests for its end. */
  readonly raggedPart: number;
  /**
   * A multiprocessor with a share s of the workgroups it could hold computes at s to this power of its rate: few workgroups do
   * not hide each other's waiting.
   */
  readonly residency: number;
}

interface Family {
  readonly costs: FamilyCosts;
  /** Tilings by class of product (`shapeClass`), as `describeTiling` writes them. */
  readonly tilings: Readonly<Record<string, string>>;
}

/** As measured on an H200 (Hopper, 132 multiprocessors). */
const nvidia: Family = {
  costs: {
    perCycle: 128,
    matrixPerCycle: 1133,
    latency: 600,
    raggedWave: 0.6,
    splitCycles: 9000,
    bytesPerCycle: 2000,
    raggedPart: 1.25,
    residency: 0.45,
  },
  tilings: {
    // 22.2 µs; 37 deep 28.4, because fewer workgroups fit into the shared memory; the rule's 34.
    "f32 nn 1×98304+×37×53": "64×56×8 of 4×7 by 4 apart",
    // The gradient by the kernels of a 3×3 convolution of 32×64×56×56: 269 µs; the rule's 306.
    "f32 w74521072w3a4b865 1×64×98304×512": "64×64×16 of 8×4 in 98 parts",
    // The way back of an LSTM's round: 14.8 µs, the best of 93; the rule's was not among them.
    "f32 nt 1×128×2048×512": "128×64×16 of 8×4 in 16 parts",
    // 315 and 311 TFLOP/s in two runs; the rule's 311 and 304.
    "bf16 nn 1×8192×8192×8192": "matrix units 128×128×32 of 2×2",
    // 22.2 TFLOP/s; the rule's 20.
    "f64 nn 1×2048×2048×2048": "128×128×8 of 8×8 twice",
    // 45 TFLOP/s; the rule's 44.5.
    "f32 nn 64×512×512×512": "64×128×16 of 8×8",
  },
};

const FAMILIES: Readonly<Record<string, Family>> = { nvidia };

export const familyOf = (name: string | undefined): Family =>
  FAMILIES[name ?? ""] ?? { costs: nvidia.costs, tilings: {} };

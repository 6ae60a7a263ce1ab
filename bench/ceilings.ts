/**
 * What the device can do at best, measured and not read off a data sheet: bytes per second by copying in the two ways
 * there are, and f32 operations per second by multiply-adds alone. The rows of these names show the samples; other rows
 * state their figure as a share of them.
 */
import { type Context, fillRandom, timedSync } from "./harness.js";
import {
  COPY_GROUP_BYTES,
  copyVectors,
  FMA_OUTPUTS_PER_GROUP,
  fmaOperations,
  fmaResultOfFirstThread,
  multiplyAdds,
} from "./kernels.js";
import type { Ceiling } from "./row.js";
import { median } from "./statistics.js";

const MiB = 2 ** 20;

export type Rate = "copy-command" | "copy-kernel" | "multiply-adds";

/** Far more than any cache holds. Software devices copy at the speed of the host: a quarter is enough there. */
export function bulkBytes({ isSoftware, isQuick }: Pick<Context, "isSoftware" | "isQuick">): number {
  if (isQuick) return 32 * MiB;
  return isSoftware ? 256 * MiB : 1024 * MiB;
}

const measurements: Record<Rate, (context: Context) => Promise<number[]>> = {
  "copy-command": (context) => copies(context, null),
  "copy-kernel": (context) => copies(context, copyVectors()),
  "multiply-adds": multiplyAddRate,
};

const taken = new WeakMap<Context["device"], Map<Rate, Promise<readonly number[]>>>();

/** Samples in GB/s or TFLOP/s. Measured once per device, whoever asks first. */
export function rate(context: Context, which: Rate): Promise<readonly number[]> {
  const known = taken.get(context.device) ?? new Map<Rate, Promise<readonly number[]>>();
  taken.set(context.device, known);
  const samples = known.get(which) ?? measurements[which](context);
  known.set(which, samples);
  return samples;
}

/** Bytes or operations per second. */
export async function ceiling(context: Context, of: Ceiling): Promise<number> {
  if (of === "flops") return 1e12 * median(await rate(context, "multiply-adds"));
  return 1e9 * Math.max(median(await rate(context, "copy-command")), median(await rate(context, "copy-kernel")));
}

/** Bytes read plus bytes written per second, by the device's copy command or by a kernel. */
async function copies(context: Context, spirv: Uint32Array | null): Promise<number[]> {
  const { device } = context;
  const bytes = bulkBytes(context);
  // Several copies per wait: the peers queue as many, and the wait itself is no part of the bandwidth.
  const repeats = context.isSoftware ? 1 : 8;
  using from = device.upload(fillRandom(new Uint8Array(bytes)));
  using to = device.allocUninitialized(bytes);
  const kernel = spirv && device.kernel(spirv, { name: "copy-kernel" });
  const push = new BigUint64Array([from.address, to.address]);
  const copy = () => {
    if (kernel) kernel.run({ push, reads: [from], writes: [to], groups: [bytes / COPY_GROUP_BYTES] });
    else to.copyFrom(from);
  };
  const samples = await context.sample(() => {
    const ms = timedSync(() => {
      for (let i = 0; i < repeats; i++) copy();
      device.finishSync();
    });
    return (2 * bytes * repeats) / (1e6 * ms);
  });
  if (Buffer.compare(await to.read(), await from.read()) !== 0) throw new Error("The copy differs from its source.");
  return samples;
}

async function multiplyAddRate(context: Context): Promise<number[]> {
  const { device } = context;
  const [groups, rounds, repeats] = context.isSoftware ? [64, 16, 1] : [8192, 256, 8];
  const [scale, shift] = [Math.fround(0.999), Math.fround(Math.random())];
  const kernel = device.kernel(multiplyAdds(), { name: "multiply-adds" });
  using out = device.alloc(4 * groups * FMA_OUTPUTS_PER_GROUP);
  const push = new DataView(new ArrayBuffer(kernel.pushBytes));
  push.setBigUint64(0, out.address, true);
  push.setUint32(8, rounds, true);
  push.setFloat32(12, scale, true);
  push.setFloat32(16, shift, true);
  const samples = await context.sample(() => {
    const ms = timedSync(() => {
      for (let i = 0; i < repeats; i++) kernel.run({ push, writes: [out], groups: [groups] });
      device.finishSync();
    });
    return (fmaOperations(groups, rounds) * repeats) / (1e9 * ms);
  });
  const [first] = new Float32Array((await out.read()).buffer);
  const right = fmaResultOfFirstThread(rounds, scale, shift);
  if (!(Math.abs(first! / right - 1) < 1e-3)) throw new Error(`The chains end at ${first}; ${right} is right.`);
  return samples;
}

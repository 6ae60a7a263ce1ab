/**
 * Bytes in motion: a scalar there and back, copies inside the device, and large transfers between host and device from
 * memory the driver knows (pinned) and from plain arrays. The rows that say what the device can do at best are here too.
 */
import { bulkBytes, rate } from "../ceilings.js";
import { type Context, fillRandom, timed } from "../harness.js";
import { addByAddress } from "../kernels.js";
import type { Row } from "../row.js";

/** Microseconds to upload 4 bytes, add to them on the device and have the 4 bytes of the result. */
async function roundTrip(context: Context, isAsync: boolean): Promise<number[]> {
  const { device } = context;
  const kernel = device.kernel(addByAddress(), { name: "add" });
  using input = device.alloc(4);
  using step = device.upload(new Float32Array([1]));
  using output = device.alloc(4);
  const push = new Uint32Array(8);
  new BigUint64Array(push.buffer, 0, 3).set([input.address, step.address, output.address]);
  push[6] = 1;
  const operands = { push, reads: [input, step], writes: [output], groups: [1] as const };
  const sent = new Float32Array(1);
  const received = new Uint8Array(new ArrayBuffer(4));
  const result = new Float32Array(received.buffer);
  return await context.sample(async () => {
    sent[0] = Math.random();
    const start = performance.now();
    input.write(sent);
    kernel.run(operands);
    // Awaiting a blocking read would add turns of the event loop to it.
    if (isAsync) await output.read(received);
    else output.readSync(received);
    const ms = performance.now() - start;
    if (result[0] !== Math.fround(sent[0]! + 1)) throw new Error(`${sent[0]} + 1 came back as ${result[0]}.`);
    return 1000 * ms;
  });
}

type Direction = "upload" | "download";

/** GB/s over the bus. An upload counts as done when the device has the bytes, not when ours may be reused. */
async function transfer(context: Context, direction: Direction, isPinned: boolean): Promise<number[]> {
  const { device } = context;
  const bytes = bulkBytes(context);
  if (bytes !== 2 ** 30) context.note(`${bytes / 2 ** 20} MiB instead of 1 GiB on this device or at this pace`);
  using pinned = isPinned ? device.hostBuffer(bytes) : null;
  const host = pinned?.bytes ?? new Uint8Array(bytes);
  using buffer = device.upload(fillRandom(new Uint8Array(bytes)));
  if (direction === "upload") fillRandom(host);
  const samples = await context.sample(async () => {
    const ms = await timed(() => {
      if (direction === "download") return buffer.read(host);
      buffer.write(host);
      device.finishSync();
    });
    return bytes / (1e6 * ms);
  });
  if (Buffer.compare(host, await buffer.read()) !== 0) throw new Error(`What the ${direction} brought differs.`);
  return samples;
}

const rateRow = { unit: "GB/s", better: "higher" } as const;

export const transferRows: readonly Row[] = [
  {
    name: "roundtrip-4B",
    title: "upload 4 bytes, one dispatch, read 4 bytes, blocking",
    unit: "µs",
    better: "lower",
    targets: [{ atMost: 60 }],
    peers: { torch: "torch/roundtrip", jax: "jax/roundtrip" },
    run: (context) => roundTrip(context, false),
  },
  {
    name: "roundtrip-4B-async",
    title: "the same, the result awaited",
    unit: "µs",
    better: "lower",
    targets: [{ atMost: 60 }],
    peers: { torch: "torch/roundtrip", jax: "jax/roundtrip" },
    run: (context) => roundTrip(context, true),
  },
  {
    name: "device-copy",
    title: "buffer.copyFrom of 1 GiB on the device, bytes read plus bytes written",
    ...rateRow,
    limit: { of: "bandwidth" },
    targets: [{ ratio: 0.9, to: ["torch clone"] }],
    peers: { "torch clone": "torch/clone" },
    run: (context) => rate(context, "copy-command"),
  },
  {
    name: "device-copy-kernel",
    title: "the same by a kernel of 16-byte loads and stores",
    ...rateRow,
    limit: { of: "bandwidth" },
    targets: [{ ratio: 0.9, to: ["torch clone"] }],
    peers: { "torch clone": "torch/clone" },
    run: (context) => rate(context, "copy-kernel"),
  },
  {
    name: "fma-f32",
    title: "multiply-adds alone: the f32 rate that other rows' limits refer to",
    unit: "TFLOP/s",
    better: "higher",
    run: (context) => rate(context, "multiply-adds"),
  },
  {
    name: "upload-1GiB",
    title: "host to device from pinned memory (device.hostBuffer)",
    ...rateRow,
    targets: [{ ratio: 0.8, to: ["torch pinned"] }],
    peers: { "torch pinned": "torch/upload-pinned" },
    run: (context) => transfer(context, "upload", true),
  },
  {
    name: "download-1GiB",
    title: "device to host into pinned memory (device.hostBuffer)",
    ...rateRow,
    targets: [{ ratio: 0.8, to: ["torch pinned"] }],
    peers: { "torch pinned": "torch/download-pinned" },
    run: (context) => transfer(context, "download", true),
  },
  {
    name: "upload-plain",
    title: "host to device, 1 GiB from a plain Uint8Array",
    ...rateRow,
    peers: { "torch pageable": "torch/upload-plain" },
    run: (context) => transfer(context, "upload", false),
  },
  {
    name: "download-plain",
    title: "device to host, 1 GiB into a plain Uint8Array",
    ...rateRow,
    peers: { "torch pageable": "torch/download-plain" },
    run: (context) => transfer(context, "download", false),
  },
];

/**
 * A whole program: opens a device, adds two numbers on it, prints the sum. The `start` rows measure how long a process
 * takes to get there. Arguments: the device's position in the list. The line it prints is the sum and, as JSON, the
 * milliseconds since the process began at which each stage was over.
 */
const stages: Record<string, number> = { node: performance.now() };
const mark = (name: string) => {
  stages[name] = performance.now();
};

const { openDevice } = await import("../src/vulkan/index.js");
const { addByAddress } = await import("./kernels.js");
mark("modules");
const device = await openDevice({ index: Number(process.argv[2] ?? 0) });
mark("device");
const kernel = device.kernel(addByAddress());
mark("kernel");
const one = device.upload(new Float32Array([1]));
const sum = device.alloc(4);
const push = new Uint32Array(8);
new BigUint64Array(push.buffer, 0, 3).set([one.address, one.address, sum.address]);
push[6] = 1;
kernel.run({ push, reads: [one], writes: [sum], groups: [1] });
const [value] = new Float32Array((await sum.read()).buffer);
mark("result");
process.stdout.write(`${value} ${JSON.stringify(stages)}\n`);
await device.close();

export {};

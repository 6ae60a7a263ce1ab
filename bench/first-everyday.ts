/**
 * Runs one everyday program in a new process, for the `everyday-` rows. Arguments: the device, the program's name, "plain"
 * or "expert", and perhaps the rounds. The line it prints is JSON: milliseconds by the clock and by the time that the main thread
 * ran, what was compiled, and the result. Caches
 * on disk are off: the time is that of a program nobody has run before.
 */
process.env.PUMICE_CACHE = "off";

const { setDefaultDevice } = await import("../src/index.js");
const { backendFor } = await import("../src/tensor/index.js");
const { everydayPrograms } = await import("./everyday/index.js");
const { threadMilliseconds } = await import("./thread-time.js");

const [, , device = "cpu", name = "", way = "plain", rounds = ""] = process.argv;
const program = everydayPrograms.find((one) => one.name === name);
if (!program) throw new Error(`There is no everyday program ${name}.`);

setDefaultDevice(device);
const { counters } = backendFor(device);
const [began, busyBefore] = [performance.now(), threadMilliseconds()];
const result = await program[way as "plain" | "expert"](rounds === "" ? program.rounds : Number(rounds));
const [ms, busy] = [performance.now() - began, threadMilliseconds() - busyBefore];
process.stdout.write(
  `${JSON.stringify({ ms, busy, compiled: counters.compiled, kernels: counters.kernels, result })}\n`,
);
process.exit(0);

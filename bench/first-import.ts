/**
 * A program that imports the file an argument names, for the `import` rows. The line it prints is JSON, in milliseconds: the
 * import by the clock; the time of all threads, user and system, that it took; and the time the process had run before.
 */
const [, , path = ""] = process.argv;
const before = process.cpuUsage();
const start = performance.now();
await import(path);
const clock = performance.now() - start;
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ clock, cpu: (user + system) / 1000, node: start })}\n`);

export {};

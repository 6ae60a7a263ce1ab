/**
 * A program that imports what an argument names ("index", "bayes/index"), for the `import` rows. The line it prints is JSON,
 * in milliseconds: the import by the clock; and the time of all threads, user and system, that it took.
 */
const [, , name = "index"] = process.argv;
const before = process.cpuUsage();
const start = performance.now();
await import(`../src/${name}.js`);
const clock = performance.now() - start;
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${JSON.stringify({ clock, cpu: (user + system) / 1000, node: start })}\n`);

export {};

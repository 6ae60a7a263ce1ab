/**
 * `PUMICE_DEBUG` prints what the runtime decides and does, to standard error:
 * 1 devices, caches and memory blocks; 2 also pipelines and submissions; 3 also every command.
 */
const level = Number(process.env.PUMICE_DEBUG ?? 0) || 0;

export const debugLevel = level;

export function debug(at: 1 | 2 | 3, message: () => string): void {
  if (level >= at) process.stderr.write(`pumice: ${message()}\n`);
}

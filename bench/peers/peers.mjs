/**
 * Measures JavaScript peers, by the protocol that bench/peers.ts describes: a JSON list of "js:package/row" names on
 * standard input, a JSON object per line on standard output. Their packages are this folder's own dependencies, which
 * `npm run bench -- --js-peers` installs here. There are no rows yet: one is an entry "js:package/row" →
 * { unit, run(pace) → samples } in PEERS, which imports its package inside `run`, so that a missing one is absent and
 * not fatal.
 */
import { readFileSync } from "node:fs";

/** @type {Record<string, { unit: string, run: (pace: { isQuick: boolean }) => Promise<number[]> }>} */
const PEERS = {};

const isQuick = process.argv.includes("--quick");

for (const row of JSON.parse(readFileSync(0, "utf8"))) {
  console.log(JSON.stringify({ row, ...(await measure(row)) }));
}

/** @param {string} row */
async function measure(row) {
  const peer = PEERS[row];
  if (!peer) return { error: `bench/peers has no row ${row}` };
  try {
    return { unit: peer.unit, samples: await peer.run({ isQuick }) };
  } catch (error) {
    if (error.code === "ERR_MODULE_NOT_FOUND") return { absent: error.message };
    return { error: error.message };
  }
}

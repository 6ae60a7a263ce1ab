/** How many bytes of a pretended card (fault-injection.ts) are taken, counted for the threads or the processes that share it. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TakenBytes {
  /** Takes some more, or returns some where negative. The sum of all who share the card, afterwards. */
  add(bytes: number): number;
  /** That sum. */
  total(): number;
}

/** Devices of several threads: `shared` has 8 bytes. */
export function takenByThreads(shared: SharedArrayBuffer): TakenBytes {
  const taken = new BigInt64Array(shared);
  return {
    add: (bytes) => Number(Atomics.add(taken, 0, BigInt(bytes))) + bytes,
    total: () => Number(Atomics.load(taken, 0)),
  };
}

/** Devices of several processes: each writes down what it has taken, in a file of its own in the folder. */
export function takenByProcesses(folder: string): TakenBytes {
  const name = String(process.pid);
  let own = 0;
  const others = () => readdirSync(folder).filter((each) => each !== name && !each.endsWith(".new"));
  const total = () => own + others().reduce((sum, each) => sum + Number(readFileSync(join(folder, each), "utf8")), 0);
  return {
    add: (bytes) => {
      own += bytes;
      // Renamed, so that nobody reads half a number.
      writeFileSync(join(folder, `${name}.new`), String(own));
      renameSync(join(folder, `${name}.new`), join(folder, name));
      return total();
    },
    total,
  };
}

/** The command line of the benchmarks: what may be asked for, and the help text that says so. */
import { parseArgs } from "node:util";

export interface Options {
  /** Position in the list of Vulkan devices, part of a name, or "software"; null for the best GPU. */
  readonly device: string | null;
  /** Patterns of row names; empty for all. */
  readonly only: readonly string[];
  readonly list: boolean;
  readonly json: string | null;
  readonly peers: boolean;
  readonly jsPeers: boolean;
  /** Seconds of samples per row, ours and the peers'; null for what the device deserves. */
  readonly budget: number | null;
  readonly quick: boolean;
  readonly help: boolean;
}

/** A mistake on the command line: shown without a stack trace. */
export class UsageError extends Error {}

export const HELP = `Usage: npm run bench -- [options]      (or: node dist/bench/main.js [options])

  --device <d>     a position in the list of Vulkan devices, part of a device's name, or "software";
                   without it the best GPU, and software Vulkan where there is none
  --only <a,b>     only rows whose name contains a or b; with * the pattern must match the whole name
  --list           names the rows and what they measure, and measures nothing
  --json <file>    also writes everything, samples included, to a file
  --peers          also measures PyTorch, JAX and NumPyro with python3, where installed
  --js-peers       also measures JavaScript peers; installs them under bench/peers, which needs npm and a registry
  --budget <s>     seconds of samples per row, after the warm-up (2 on a GPU, 1.5 on the CPU engine)
  --quick          short warm-up and few samples: to try the harness, not for figures
  --help           this text

PYTHON names another Python than python3. docs/benchmarks.md says what the rows mean.`;

export function parseOptions(args: readonly string[]): Options {
  const options = {
    device: { type: "string" },
    only: { type: "string", multiple: true },
    list: { type: "boolean", default: false },
    json: { type: "string" },
    peers: { type: "boolean", default: false },
    "js-peers": { type: "boolean", default: false },
    budget: { type: "string" },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", default: false, short: "h" },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true });
    const budget = values.budget === undefined ? null : Number(values.budget);
    if (budget !== null && !(budget > 0))
      throw new Error(`--budget ${values.budget}: a number of seconds is positive.`);
    return {
      device: values.device ?? null,
      only: (values.only ?? []).flatMap((list) => list.split(",")).filter((pattern) => pattern !== ""),
      list: values.list,
      json: values.json ?? null,
      peers: values.peers,
      jsPeers: values["js-peers"],
      budget,
      quick: values.quick,
      help: values.help,
    };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${HELP}`, { cause: error });
  }
}

/**
 * The state of a run in files: on demand by `fit.save`, now and then as checkpoints, and what must be the same for a run to go on
 * from one. The format is in saved-fit.ts.
 */
import { createHash } from "node:crypto";
import { ArgumentError } from "../../core/errors.js";
import { type Shape, sameShape } from "../../core/shape.js";
import { CheckpointTimes } from "../../runs/checkpoint-times.js";
import type { Draws } from "../draws/draws.js";
import type { ChainDensity } from "../kernels/density.js";
import type { SampledTarget } from "../target/target.js";
import { variablesOf } from "../target/values.js";
import { initsOf, type RunOptions } from "./options.js";
import type { Sampling } from "./sampling.js";
import { type SavedFit, type Spent, writeFit } from "./saved-fit.js";

export class Checkpoints {
  private readonly times = new CheckpointTimes();

  constructor(private readonly sampling: Sampling) {}

  /** A run begins: its first checkpoint is due when the time between two has passed. */
  restart(): void {
    this.times.restart();
  }

  async save(draws: Draws, spent: Spent, path: string): Promise<void> {
    await writeFit("save: the fit", path, await stateOf(this.sampling, draws, spent));
  }

  isDue(options: RunOptions): boolean {
    return this.times.isDue(options);
  }

  /** Writes a checkpoint. Where that fails, the run goes on, with a warning. */
  async write(draws: Draws, spent: Spent, path: string): Promise<void> {
    const saved = await stateOf(this.sampling, draws, spent);
    await this.times.write(() => writeFit("sample: a checkpoint", path, saved));
  }
}

async function stateOf({ options, density, chains }: Sampling, draws: Draws, spent: Spent): Promise<SavedFit> {
  const state = await chains.saved();
  const { signal: _, progress: __, checkpoint: ___, checkpointSeconds: ____, inits, ...rest } = options;
  const { dim } = density;
  const flat = inits && (initsOf(options, dim) as Float64Array);
  const rows =
    flat && Array.from({ length: options.chains }, (_, c) => Array.from(flat.subarray(c * dim, (c + 1) * dim)));
  return {
    options: { ...rest, ...(rows && { inits: rows }) },
    draws,
    kernel: chains.address,
    data: await dataAddress(density),
    spent: { ...spent },
    chains: state,
  };
}

const dataAddresses = new WeakMap<ChainDensity, Promise<string>>();

/** The SHA-256 of the data that the kernel reads. */
function dataAddress(density: ChainDensity): Promise<string> {
  const known = dataAddresses.get(density);
  if (known) return known;
  const { backend, data } = density;
  const found = Promise.all(data.map((memory) => backend.read(memory))).then((contents) => {
    const hash = createHash("sha256");
    for (const bytes of contents) hash.update(`${bytes.byteLength} `).update(bytes);
    return hash.digest("hex");
  });
  dataAddresses.set(density, found);
  return found;
}

/** Throws where a saved fit has other variables than a posterior. */
export function checkVariables(posterior: SampledTarget, saved: ReadonlyMap<string, Shape>): void {
  const variables = Object.entries(variablesOf(posterior));
  const isSame = ([name, shape]: readonly [string, Shape]) => sameShape(saved.get(name) ?? [-1], shape);
  if (variables.length === saved.size && variables.every(isSame)) return;
  const named = (all: Iterable<readonly [string, Shape]>) =>
    [...all].map(([name, shape]) => (shape.length > 0 ? `${name} [${shape}]` : name)).join(", ");
  throw new ArgumentError(`resume: the saved fit is of ${named(saved)}; this posterior has ${named(variables)}.`);
}

/** Throws where chains cannot go on from a saved fit: of another kernel or other data. */
export async function checkSameRun({ density, chains }: Sampling, saved: SavedFit): Promise<void> {
  const { kernel, data } = saved;
  if (kernel !== chains.address) {
    throw new ArgumentError(
      "resume: the fit was drawn by another kernel: another model, device or version of Pumice. Its draws can only be " +
        "continued by the one that made them.",
    );
  }
  if (data !== (await dataAddress(density))) {
    throw new ArgumentError("resume: the fit was made with other data; give the posterior those it was made with.");
  }
}

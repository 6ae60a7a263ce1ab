/** What sampling returns: draws with their diagnostics, and the chains, which can go on. */
import { readFile, writeFile } from "node:fs/promises";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { type Check, check } from "../diagnostics/check.js";
import { type Summary, summary } from "../diagnostics/summary.js";
import { Draws, type NameFilter, type Statistic } from "../draws.js";
import type { ReportOptions } from "../report/page.js";
import { report } from "../report/report.js";
import type { SampleOptions, Sampler } from "./sample.js";

export class Fit {
  /** @internal Made by `posterior.sample`. */
  constructor(
    readonly draws: Draws,
    /** What was asked for, with defaults filled in. */
    readonly options: SampleOptions,
    /** The SHA-256 of the sampler's kernel. */
    readonly kernel: string,
    private readonly sampler: Sampler,
  ) {}

  /** Means, standard errors, quantiles, effective sample sizes and R-hat of every scalar, or of some. */
  summary(filter?: NameFilter): Summary {
    return summary(this.draws, filter);
  }

  /** In words: what is wrong with the draws, and what to try. */
  check(): Check {
    return check(this.draws);
  }

  /** Writes a page with plots and diagnostics. */
  report(path: string, options: ReportOptions = {}): Promise<void> {
    return report(this.draws, path, options);
  }

  /** Draws `count` more from every chain, which go on where they stopped. */
  async extend(count: number): Promise<this> {
    await this.sampler.extend(this.draws, count);
    return this;
  }

  /** Writes draws and chains to a file, from which `posterior.resume` goes on. */
  async save(path: string): Promise<void> {
    const { draws } = this;
    const values = Object.fromEntries([...draws.variables.keys()].map((name) => [name, encoded(draws.values(name))]));
    const stats = Object.fromEntries(
      draws.stats.map((name) => [name, encoded((draws.stat(name) as { values: Float64Array }).values)]),
    );
    const { signal: _, ...options } = this.options;
    const state = await this.sampler.saved();
    const chains = Object.fromEntries(Object.entries(state).map(([name, bytes]) => [name, base64(bytes)]));
    const variables = Object.fromEntries(draws.variables);
    const file = { format: FORMAT, options, variables, length: draws.length, values, stats, chains };
    await writeFile(path, JSON.stringify(file));
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Fit(${this.draws.chains} chains × ${this.draws.length} draws)\n${this.summary()}`;
  }
}

const FORMAT = "pumice fit 1";

export interface SavedFit {
  readonly options: SampleOptions;
  readonly draws: Draws;
  readonly chains: Readonly<Record<string, Uint8Array>>;
}

export async function loadFit(path: string): Promise<SavedFit> {
  let file: Record<string, unknown>;
  try {
    file = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  } catch (error) {
    throw new FormatError(`resume: ${path} is not a saved fit: ${(error as Error).message}`, { cause: error });
  }
  if (file.format !== FORMAT) throw new FormatError(`resume: ${path} is not a saved fit.`);
  const options = file.options as SampleOptions;
  const variables = file.variables as Readonly<Record<string, readonly number[]>>;
  if (options.chains === undefined) throw new ArgumentError(`resume: ${path} does not say how many chains there are.`);
  const draws = new Draws({
    chains: options.chains,
    variables,
    maxTreeDepth: options.maxTreeDepth,
  });
  const decode = (record: unknown) =>
    Object.fromEntries(Object.entries(record as Record<string, string>).map(([name, text]) => [name, decoded(text)]));
  draws.append({ values: decode(file.values), stats: decode(file.stats) as Partial<Record<Statistic, Float64Array>> });
  const chains = Object.fromEntries(
    Object.entries(file.chains as Record<string, string>).map(([name, text]) => [name, bytesIn(text)]),
  );
  return { options, draws, chains };
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
const bytesIn = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
const encoded = (values: Float64Array): string =>
  base64(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
const decoded = (text: string): Float64Array => new Float64Array(bytesIn(text).buffer);

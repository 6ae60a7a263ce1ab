/** Bundles a program with webpack, as a program for Node. `module`: webpack itself. */
type Webpack = (options: object, done: (error: Error | null, stats?: Stats) => void) => void;
interface Stats {
  hasErrors(): boolean;
  toString(): string;
}

export async function bundle(module: unknown, entry: string, outfile: string): Promise<void> {
  const [, folder, name] = /^(.*)[\\/]([^\\/]+)$/.exec(outfile) as unknown as [string, string, string];
  const options = {
    mode: "production",
    target: "node20",
    entry,
    experiments: { outputModule: true },
    output: { path: folder, filename: name, module: true, chunkFormat: "module" },
  };
  await new Promise<void>((resolve, reject) => {
    (module as Webpack)(options, (error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors()) reject(new Error(stats.toString()));
      else resolve();
    });
  });
}

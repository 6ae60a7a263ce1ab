/** Bundles a program with vite, as a program for Node. `module`: vite itself. */
interface Vite {
  build(options: object): Promise<unknown>;
}

export async function bundle(module: unknown, entry: string, outfile: string): Promise<void> {
  const [, folder, name] = /^(.*)[\\/]([^\\/]+)$/.exec(outfile) as unknown as [string, string, string];
  await (module as Vite).build({
    configFile: false,
    logLevel: "error",
    root: folder,
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir: folder,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: name, inlineDynamicImports: true } },
    },
  });
}

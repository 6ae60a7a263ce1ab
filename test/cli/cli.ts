/** Runs the compiled `pumice` program as a shell would. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The variables of this process that would change what the program says are left out. */
export function pumice(args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const clean = Object.entries(process.env).filter(([name]) => !/^(PUMICE_|NODE_|NO_COLOR|FORCE_COLOR)/.test(name));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: { ...Object.fromEntries(clean), ...env },
    encoding: "utf8",
    timeout: 120_000,
  });
  return { code: status, stdout, stderr };
}

/** NODE_OPTIONS that make `import "koffi"` and `require("koffi")` run this text instead. */
export function withKoffi(text: string): string {
  const replacement = `data:text/javascript,${encodeURIComponent(`${text}; export default {};`)}`;
  const hooks = `export async function resolve(name, context, next) {
    return name === "koffi" ? { url: ${JSON.stringify(replacement)}, shortCircuit: true } : next(name, context);
  }`;
  const setup = `import Module, { register } from "node:module";
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});
    const load = Module._load;
    Module._load = (name, ...rest) => {
      if (name !== "koffi") return load(name, ...rest);
      ${text};
      return {};
    };`;
  return `--import "data:text/javascript,${encodeURIComponent(setup)}"`;
}

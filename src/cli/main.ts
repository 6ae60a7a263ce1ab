#!/usr/bin/env node
/**
 * The `pumice` program. It finds the command, checks its arguments, runs it and sets the exit code: 0 success, 1 failure, 2
 * wrong usage. To add a command, write its file and add it to the table.
 */
import { parseArgs } from "node:util";
import { cache } from "./cache.js";
import { type Command, UsageError } from "./command.js";
import { doctor } from "./doctor.js";
import { info } from "./info.js";
import { isExpected } from "./surface.js";
import { columns, openTerminal, type Terminal } from "./terminal.js";
import { tour } from "./tour.js";
import { tune } from "./tune.js";

const commands: readonly Command[] = [info, doctor, cache, tune, tour];

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const asked = name === "help" && rest[0] !== undefined ? find(rest[0]) : null;
    terminal.print(asked ? commandHelp(asked) : programHelp());
    return 0;
  }
  if (name === "--version" || name === "-v") {
    terminal.print((await import("../index.js")).version);
    return 0;
  }
  if (name.startsWith("-")) throw new UsageError(`There is no option ${name}. \`pumice --help\` lists what there is.`);

  const command = find(name);
  const { switches, words } = parse(command, rest);
  if (switches.has("help")) {
    terminal.print(commandHelp(command));
    return 0;
  }
  return command.run({ has: (key) => switches.has(key) || words.has(key), words: [...words] }, terminal);
}

function find(name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command) return command;
  throw new UsageError(`There is no command "${name}". There are: ${commands.map((one) => one.name).join(", ")}.`);
}

function parse(command: Command, args: string[]): { switches: Set<string>; words: Set<string> } {
  const known = ["help", ...Object.keys(command.switches)];
  const options = Object.fromEntries(known.map((key) => [key, { type: "boolean" as const }]));
  const { tokens } = parseArgs({
    args,
    options: { ...options, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const switches = new Set<string>();
  const words = new Set<string>();
  const hint = `\`pumice ${command.name} --help\` shows what there is.`;
  for (const token of tokens) {
    if (token.kind === "option") {
      if (!known.includes(token.name)) throw new UsageError(`${command.name} has no option ${token.rawName}. ${hint}`);
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value. ${hint}`);
      switches.add(token.name);
    } else if (token.kind === "positional") {
      if (command.words !== "any" && !command.words?.includes(token.value)) {
        throw new UsageError(`${command.name} does not know "${token.value}". ${hint}`);
      }
      words.add(token.value);
    }
  }
  return { switches, words };
}

function programHelp(): string {
  return [
    "pumice: tensor computing on any GPU",
    "",
    "Usage: pumice <command> [options]",
    "",
    ...columns(commands.map(({ name, summary }) => [`  ${name}`, summary])),
    "",
    "`pumice <command> --help` tells more of one. `pumice --version` prints the version.",
  ].join("\n");
}

function commandHelp({ name, usage, summary, help, switches }: Command): string {
  const rows = [...Object.entries(switches), ["help", "show this"] as const];
  return [
    `pumice ${name}: ${summary}`,
    "",
    `Usage: pumice ${name}${usage && ` ${usage}`}`,
    "",
    ...columns(rows.map(([key, effect]) => [`  --${key}`, effect])),
    "",
    help.trim(),
  ].join("\n");
}

// The reader closed the pipe (`pumice info | head`): end quietly.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const terminal = openTerminal(process.stdout, process.env);
try {
  const code = await main(process.argv.slice(2), terminal);
  // An exit code 1 set by the validation layer (PUMICE_VALIDATE) stays.
  if (code !== 0) process.exitCode = code;
} catch (error) {
  const errors = openTerminal(process.stderr, process.env);
  if (error instanceof UsageError) {
    errors.print(`pumice: ${error.message}`);
    process.exitCode = 2;
  } else if (await isExpected(error)) {
    errors.print(`${errors.paint("red", "pumice:")} ${(error as Error).message}`);
    process.exitCode = 1;
  } else {
    errors.print(`pumice: this is a fault of Pumice itself; please report it.\n${(error as Error).stack ?? error}`);
    process.exitCode = 1;
  }
}

/** The command lines of the examples: flags that are numbers or text, a device, and `--help`. */
import { parseArgs } from "node:util";
import { devices, setDefaultDevice } from "pumice";

/** A flag: its value unless told, and what it means. */
export type Flags = Readonly<Record<string, readonly [value: number | string, meaning: string]>>;

type Values<F extends Flags> = { readonly [K in keyof F]: F[K][0] extends number ? number : string };

/** The values of the flags. Ends the program when help was asked for, or a flag makes no sense. `--device` is set at once. */
export function settings<const F extends Flags>(name: string, about: string, flags: F): Values<F> {
  const all: Flags = {
    ...flags,
    device: ["", "where to compute, such as cpu or vulkan; the best there is unless told"],
  };
  const leave = (code: number, complaint?: string): never => {
    const lines = Object.entries(all).map(([flag, [value, meaning]]) => `  --${flag.padEnd(10)} ${meaning} (${value})`);
    const usage = `npm run example -- ${name} [options]: ${about}\n\n${lines.join("\n")}`;
    if (complaint === undefined) console.log(usage);
    else console.error(`${complaint}\n\n${usage}`);
    return process.exit(code);
  };
  const options = Object.fromEntries(Object.keys(all).map((flag) => [flag, { type: "string" as const }]));
  let given: Record<string, unknown> = {};
  try {
    given = parseArgs({ options: { ...options, help: { type: "boolean", short: "h" } } }).values;
  } catch (error) {
    leave(2, (error as Error).message);
  }
  if (given.help) leave(0);
  const { device } = given;
  if (device !== undefined) {
    const isThere = devices().some((each) => each === device || each.startsWith(`${device}:`));
    if (!isThere) leave(2, `--device ${device}: there are ${devices().join(", ")}.`);
    setDefaultDevice(device as string);
  }
  const entries = Object.entries(flags).map(([flag, [value]]) => {
    const text = given[flag] as string | undefined;
    if (text === undefined || typeof value === "string") return [flag, text ?? value];
    const number = Number(text);
    if (text.trim() === "" || !(number >= 0)) leave(2, `--${flag} ${text}: a number from 0 on.`);
    return [flag, number];
  });
  return Object.fromEntries(entries) as Values<F>;
}

/**
 * Questions of the doctor whose answers run a driver's code. Each runs in a process of its own, because the doctor must also
 * find drivers that crash or hang. `ask` starts the process; this same file, run as a program, answers.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { driverOf } from "./description.js";
import type { DeviceFacts, LoaderFacts, Outcome } from "./machine.js";
import { firstLine, reason } from "./surface.js";

interface Answers {
  koffi: { version: string };
  /** Libraries that cannot be loaded, with the reason. */
  libraries: { failures: Record<string, string> };
  loader: { loader: LoaderFacts };
  devices: { devices: DeviceFacts[] };
  trial: { milliseconds: number };
}

const ANSWER = "pumice-probe:";
const PATIENCE_MS = 60_000;

/** Runs a question in a process of its own. */
export function ask<Q extends keyof Answers>(question: Q, ...args: string[]): Promise<Outcome<Answers[Q]>> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), question, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.resume(); // drivers chat there
    const start = performance.now();
    child.on("error", (error) => resolve({ ok: false, why: firstLine(error) }));
    child.on("close", (code, signal) => {
      const answer = output.split("\n").find((line) => line.startsWith(ANSWER));
      // An answer given before a crash at the exit of the process still counts.
      if (answer) resolve(JSON.parse(answer.slice(ANSWER.length)));
      else if (performance.now() - start >= PATIENCE_MS) resolve({ ok: false, why: "it did not answer for a minute" });
      else resolve({ ok: false, why: `it crashed (${signal ?? `exit code ${code}`})` });
    });
  });
}

type Answerers = { [Q in keyof Answers]: (...args: string[]) => Promise<Answers[Q]> };

const answerers: Answerers = {
  async koffi() {
    const { default: koffi } = await import("koffi");
    return { version: koffi.version };
  },

  async libraries(...paths) {
    const { default: koffi } = await import("koffi");
    const failures: Record<string, string> = {};
    for (const path of paths) {
      try {
        koffi.load(path);
      } catch (error) {
        failures[path] = firstLine(error);
      }
    }
    return { failures };
  },

  async loader() {
    const { inspectLoader, loaderRemedy } = await import("../vulkan/index.js");
    try {
      return { loader: { state: "found", ...inspectLoader() } };
    } catch (error) {
      const remedy = loaderRemedy(process.platform);
      return { loader: { state: "missing", why: reason(error).replace(remedy.replace(/\.$/, ""), "").trim(), remedy } };
    }
  },

  async devices() {
    const { listDevices } = await import("../vulkan/index.js");
    const devices = listDevices().map(({ index, properties, refusal }) => ({
      index,
      name: properties.name,
      type: properties.type,
      vendorId: properties.vendorId,
      vulkan: properties.apiVersion.join("."),
      driver: driverOf(properties),
      refusal,
      trial: null,
    }));
    return { devices };
  },

  /** Uploads a kibibyte, copies it on the device and reads it back. */
  async trial(index) {
    const { openDevice } = await import("../vulkan/index.js");
    const sent = Uint8Array.from({ length: 1024 }, (_, i) => (i * 167 + 13) % 256);
    const start = performance.now();
    const device = await openDevice({ index: Number(index) });
    const copy = device.alloc(sent.byteLength);
    copy.copyFrom(device.upload(sent));
    const received = await copy.read();
    const milliseconds = performance.now() - start;
    const wrong = sent.filter((byte, i) => byte !== received[i]).length;
    if (wrong > 0) throw new Error(`${wrong} of ${sent.length} bytes came back wrong`);
    await device.close();
    return { milliseconds };
  },
};

async function answer(question: keyof Answers, args: string[]): Promise<Outcome<object>> {
  try {
    return { ok: true, ...(await answerers[question](...args)) };
  } catch (error) {
    return { ok: false, why: reason(error) };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [question, ...args] = process.argv.slice(2);
  console.log(`\n${ANSWER}${JSON.stringify(await answer(question as keyof Answers, args))}`);
}

/** Kills trainings with SIGKILL at random moments, and lets each go on until it is through: how often it was killed, and its hash. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomFrom } from "../../support/random.js";

const PROGRAM = fileURLToPath(new URL("./killed-training.js", import.meta.url));

/** One life of the training: killed after some milliseconds (from the first checkpoint of this life on), or through. */
function lived(checkpoint: string, device: string, milliseconds: number, cache: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PUMICE_CACHE: cache };
    const child = spawn(process.execPath, [PROGRAM, checkpoint, device], { env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve(null);
      else if (code === 0) resolve(text.trim());
      else reject(new Error(`The training ended with code ${code}.`));
    });
  });
}

/** A training that is killed at most so often; the lives are between `from` and `to` milliseconds long. */
export async function killedOften(
  device: string,
  kills: number,
  seed: number,
  [from, to]: readonly [from: number, to: number],
): Promise<{ readonly hash: string; readonly kills: number }> {
  const folder = await mkdtemp(join(tmpdir(), "pumice-kill-"));
  const random = randomFrom(seed);
  try {
    const checkpoint = join(folder, "run.safetensors");
    for (let done = 0; ; done++) {
      const milliseconds = done < kills ? from + random.below(to - from) : 2 ** 30;
      const hash = await lived(checkpoint, device, milliseconds, join(folder, "cache"));
      if (hash !== null) return { hash, kills: done };
      if (!existsSync(checkpoint) && done > 0 && done % 5 === 0) console.log("no checkpoint yet");
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

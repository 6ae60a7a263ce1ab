/** Kills trainings with SIGKILL at random moments, and lets each go on until it is through: how often it was killed, and its hash. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomFrom } from "../../support/random.js";

const PROGRAM = fileURLToPath(new URL("./killed-training.js", import.meta.url));

/** One life of the training: its hash where it came through, and whether it came as far as its first step. */
interface Life {
  readonly hash: string | null;
  readonly hasStarted: boolean;
}

/** One life of the training, of so many milliseconds at most. */
function lived(checkpoint: string, device: string, milliseconds: number, cache: string): Promise<Life> {
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
      const hasStarted = text.startsWith("started");
      if (signal === "SIGKILL") resolve({ hash: null, hasStarted });
      else if (code === 0) resolve({ hash: text.trim().split("\n").at(-1) as string, hasStarted });
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
): Promise<{ readonly hash: string; readonly kills: number; readonly whileTraining: number }> {
  const folder = await mkdtemp(join(tmpdir(), "pumice-kill-"));
  const random = randomFrom(seed);
  try {
    const checkpoint = join(folder, "run.safetensors");
    let whileTraining = 0;
    for (let done = 0; ; done++) {
      const milliseconds = done < kills ? from + random.below(to - from) : 2 ** 30;
      const { hash, hasStarted } = await lived(checkpoint, device, milliseconds, join(folder, "cache"));
      if (hash !== null) return { hash, kills: done, whileTraining };
      if (hasStarted) whileTraining++;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

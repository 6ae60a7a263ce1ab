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

/** When a life ends: so many milliseconds after the start of the process, or after its first step. */
interface End {
  readonly milliseconds: number;
  readonly isFromStart: boolean;
}

/** One life of the training; null for `end` lets it come through. */
function lived(checkpoint: string, device: string, end: End | null, cache: string): Promise<Life> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PUMICE_CACHE: cache };
    const child = spawn(process.execPath, [PROGRAM, checkpoint, device], { env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    let timer: NodeJS.Timeout | undefined;
    const kill = () => {
      if (end) timer = setTimeout(() => child.kill("SIGKILL"), end.milliseconds);
    };
    if (end?.isFromStart) kill();
    child.stdout.on("data", (part) => {
      if (text === "" && !end?.isFromStart) kill();
      text += part;
    });
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

/** A training that is killed at most so often: one time in five while it starts, and else within `most` milliseconds of its steps. */
export async function killedOften(
  device: string,
  kills: number,
  seed: number,
  most = 900,
): Promise<{ readonly hash: string; readonly kills: number; readonly whileTraining: number }> {
  const folder = await mkdtemp(join(tmpdir(), "pumice-kill-"));
  const random = randomFrom(seed);
  try {
    const checkpoint = join(folder, "run.safetensors");
    let whileTraining = 0;
    for (let done = 0; ; done++) {
      const end = { milliseconds: random.below(most), isFromStart: random.below(5) === 0 };
      const life = await lived(checkpoint, device, done < kills ? end : null, join(folder, "cache"));
      if (life.hash !== null) return { hash: life.hash, kills: done, whileTraining };
      if (life.hasStarted) whileTraining++;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

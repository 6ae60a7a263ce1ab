/**
 * Turns of the event loop: timers, sockets and signals are served in them, and finalisers run between them. An `await` alone
 * does not turn the loop when what it waits for is there already, so work that runs on the main thread looks at this clock
 * and gives way when the last turn is too long ago. Engines and the runtime call it.
 */

/** Work on the main thread gives way after so many milliseconds. */
const TURN_MILLISECONDS = 4;

let turnedAt = performance.now();
let turning: Promise<void> | null = null;

/** Whether the loop should turn before more work runs in place. */
export const isTurnDue = (since = turnedAt): boolean =>
  performance.now() - Math.max(since, turnedAt) >= TURN_MILLISECONDS;

/** Resolves when the event loop has turned. */
export function turn(): Promise<void> {
  turning ??= new Promise((resolve) =>
    setImmediate(() => {
      turnedAt = performance.now();
      turning = null;
      resolve();
    }),
  );
  return turning;
}

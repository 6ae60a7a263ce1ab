/**
 * Ctrl-C while a run is under way: the first SIGINT asks the run to save itself and end, the second one kills the process as if
 * nobody listened.
 */

interface Interrupt {
  /** Whether a SIGINT has come. */
  readonly hasCome: boolean;
  /** Listens no more. */
  stop(): void;
}

/** Listens for one SIGINT. `message` goes to stderr when it comes. */
export function listenForInterrupt(message: string): Interrupt {
  let hasCome = false;
  const heard = () => {
    hasCome = true;
    process.stderr.write(`\n${message}\n`);
  };
  // Once: where nobody else listens, the next one has the system's effect.
  process.once("SIGINT", heard);
  return {
    get hasCome() {
      return hasCome;
    },
    stop: () => void process.removeListener("SIGINT", heard),
  };
}

/**
 * Programs as people write them, for the `everyday-` rows: no jit, no realize, no dispose. Beside each stands the same
 * program by someone who knows when to use them. Both return the number they arrive at.
 */
export interface EverydayProgram {
  readonly name: string;
  /** What it does, in a line. */
  readonly title: string;
  /** Rounds in a measurement. */
  readonly rounds: number;
  plain(rounds: number): Promise<number>;
  expert(rounds: number): Promise<number>;
}

/**
 * Notices when a program does nothing with a device for a while, so that the device can return memory that other processes may
 * need. Calls back once a second while there is something to look after; it keeps no process alive.
 */

const INTERVAL = 1000;

export class Rest {
  private timer: NodeJS.Timeout | null = null;
  private events = 0;
  private seen = 0;
  private isOver = false;

  /** `look` learns whether nothing happened since the last call, and says whether to call it again. */
  constructor(
    private readonly look: (isQuiet: boolean) => boolean,
    private readonly interval = INTERVAL,
  ) {}

  /** Something happened. */
  note(): void {
    this.events++;
    if (!this.timer && !this.isOver) this.schedule();
  }

  end(): void {
    this.isOver = true;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private schedule(): void {
    this.timer = setTimeout(() => {
      this.timer = null;
      const isQuiet = this.events === this.seen;
      this.seen = this.events;
      if (this.look(isQuiet)) this.schedule();
    }, this.interval).unref();
  }
}

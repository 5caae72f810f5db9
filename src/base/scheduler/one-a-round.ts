/** Work of which one piece runs a round of the event loop, in the order in which it was asked for. */
import type { Soon } from "../clock.ts";

/** See the file header. */
export class OneARound {
  /** As many as there is work that waits: requests whose bodies are in memory, queries that run. */
  private readonly waiting: (() => void)[] = [];
  private readonly soon: Soon;
  private readonly onPiece: (() => void) | undefined;
  /** Whether this round has had its piece, or one waits for the next round. */
  private isTaken = false;

  /** @param onPiece called when a piece that had to wait may run */
  constructor(soon: Soon, onPiece?: () => void) {
    this.soon = soon;
    this.onPiece = onPiece;
  }

  /** Resolves when a piece may run; undefined: now. */
  take(): Promise<void> | undefined {
    if (this.isTaken) return this.next();
    this.begin();
    return undefined;
  }

  /** Resolves in a later round, after all that asked before. */
  next(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.waiting.push(resolve);
      if (!this.isTaken) this.begin();
    });
  }

  private begin(): void {
    this.isTaken = true;
    this.soon(() => this.pass()); // After the sockets were looked at.
  }

  private pass(): void {
    const next = this.waiting.shift();
    this.isTaken = false;
    if (next === undefined) return;
    this.begin();
    this.onPiece?.();
    next();
  }
}

/**
 * What a client makes the server do for nothing, between two looks: frames that bring nothing, less those that do, and streams that it
 * takes back (CVE-2023-44487) or breaks so that the server ends them (CVE-2025-8671).
 */
import { IDLE_FRAMES_MAX } from "./limits.ts";

/** See the file header. */
export class FloodGuard {
  private readonly resetsMax: number;
  /** DATA frames that were sent to the client: it may answer each. */
  private readonly sentFrames: () => number;
  private idleFrames = 0;
  private resets = 0;
  private sentBefore = 0;

  constructor(resetsMax: number, sentFrames: () => number) {
    this.resetsMax = resetsMax;
    this.sentFrames = sentFrames;
  }

  /** Begins to count anew. */
  look(): void {
    this.idleFrames = 0;
    this.resets = 0;
    this.sentBefore = this.sentFrames();
  }

  /** A frame brought something. */
  useful(): void {
    if (this.idleFrames > 0) this.idleFrames--;
  }

  /** A frame brought nothing. @returns whether that is too many */
  idle(): boolean {
    if (++this.idleFrames <= IDLE_FRAMES_MAX) return false;
    const sent = this.sentFrames();
    this.idleFrames = Math.max(0, this.idleFrames - (sent - this.sentBefore));
    this.sentBefore = sent;
    return this.idleFrames > IDLE_FRAMES_MAX;
  }

  /** A stream was taken back, or broken. @returns whether that is too many */
  reset(): boolean {
    return ++this.resets > this.resetsMax;
  }
}

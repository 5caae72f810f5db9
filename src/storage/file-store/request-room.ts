/** Bounds requests under way, by count and by the bytes that they hold; others wait in the order in which they came. */
import { assert } from "../../base/assert.ts";

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/** See the file header. */
export class RequestRoom {
  private readonly countMax: number;
  private readonly bytesMax: number;
  private readonly waiting: Waiting[] = [];
  private count = 0;
  private bytes = 0;

  constructor(countMax: number, bytesMax: number) {
    this.countMax = countMax;
    this.bytesMax = bytesMax;
  }

  /** Runs `work` once there is room; a request of more bytes than all may hold runs alone. Throws what `work` does. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const wanted = Math.min(bytes, this.bytesMax);
    if (this.waiting.length > 0 || !this.fits(wanted)) {
      await new Promise<void>((enter) => this.waiting.push({ bytes: wanted, enter })); // Its room is taken for it.
    } else this.take(wanted);
    try {
      return await work();
    } finally {
      this.give(wanted);
    }
  }

  private fits(bytes: number): boolean {
    return this.count < this.countMax && this.bytes + bytes <= this.bytesMax;
  }

  private take(bytes: number): void {
    this.count++;
    this.bytes += bytes;
  }

  private give(bytes: number): void {
    this.count--;
    this.bytes -= bytes;
    assert(this.count >= 0 && this.bytes >= 0, "requests end once");
    for (let next = this.waiting[0]; next !== undefined && this.fits(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.take(next.bytes);
      next.enter();
    }
  }
}

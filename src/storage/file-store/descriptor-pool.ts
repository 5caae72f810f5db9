/**
 * Descriptors of files that are being read: the least recently used is closed when there are too many, and opened again when it is needed.
 * A table of years has more files than a process may have open.
 */
import { closeSync, openSync } from "node:fs";
import { assert } from "../../base/assert.ts";
import { isOutOfDescriptors } from "../../base/process/descriptors.ts";

/** See the file header. Files must keep their path and content while they are read. */
export class DescriptorPool {
  private readonly openMax: number;
  /** Least recently used first. */
  private readonly open: Map<object, number> = new Map();

  /** @param openMax most descriptors open at a time, from 1 on */
  constructor(openMax: number) {
    assert(openMax >= 1, `at least one open file; got ${openMax}`);
    this.openMax = openMax;
  }

  /** Descriptors open now. */
  get size(): number {
    return this.open.size;
  }

  /** The descriptor of `owner`'s file, valid until the next call. @throws the system's error when it cannot be opened */
  use(owner: object, path: string): number {
    let fd = this.open.get(owner);
    if (fd === undefined) fd = this.opened(path);
    else this.open.delete(owner);
    this.open.set(owner, fd);
    for (const oldest of this.open.keys()) {
      if (this.open.size <= this.openMax) break;
      this.close(oldest);
    }
    return fd;
  }

  /** Opens a file; where the process has no descriptor left, in the place of those that were used longest ago. */
  private opened(path: string): number {
    for (;;) {
      try {
        return openSync(path, "r");
      } catch (error) {
        const [oldest] = this.open.keys();
        if (oldest === undefined || !isOutOfDescriptors(error)) throw error;
        this.close(oldest);
      }
    }
  }

  /** Closes the owner's file if it is open. */
  close(owner: object): void {
    const fd = this.open.get(owner);
    if (fd === undefined) return;
    this.open.delete(owner);
    closeSync(fd);
  }
}

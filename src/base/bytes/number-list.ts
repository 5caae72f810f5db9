import { longer } from "./longer-array.ts";

/** A list of whole numbers that grows at its end: 4 B each. */
export class NumberList {
  private array: Uint32Array<ArrayBuffer> = new Uint32Array(4);
  private size = 0;

  get length(): number {
    return this.size;
  }

  /** The numbers; its first `length` elements are valid. Read it again after `push`. */
  get values(): Uint32Array {
    return this.array;
  }

  push(value: number): void {
    if (this.size === this.array.length) this.array = longer(this.array);
    this.array[this.size++] = value;
  }
}

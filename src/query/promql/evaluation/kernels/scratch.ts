/**
 * Arrays that the kernels of one call use for one series after the other: grown, counted, and given back together. Never shared by two
 * calls, as kernels yield in between.
 */
import type { EvaluationRun } from "../series-source.ts";

/** Bytes of an array beside its elements. */
const ARRAY_BYTES = 64;

/** See the file header. */
export class Scratch {
  private readonly run: Pick<EvaluationRun, "reserve" | "release">;
  private readonly floats = new Map<string, Float64Array>();
  private readonly ints = new Map<string, Int32Array>();
  private readonly blocks: Float64Array[] = [];
  private bytes = 0;

  constructor(run: Pick<EvaluationRun, "reserve" | "release">) {
    this.run = run;
  }

  /** An array of at least so many numbers, whatever they are. The same one again for the same name. @throws DbError for memory */
  float64(name: string, length: number): Float64Array {
    const known = this.floats.get(name);
    if (known !== undefined && known.length >= length) return known;
    const made = new Float64Array(this.counted(8, length, known?.length ?? 0));
    this.floats.set(name, made);
    return made;
  }

  /** The same of integers. @throws DbError for memory */
  int32(name: string, length: number): Int32Array {
    const known = this.ints.get(name);
    if (known !== undefined && known.length >= length) return known;
    const made = new Int32Array(this.counted(4, length, known?.length ?? 0));
    this.ints.set(name, made);
    return made;
  }

  /** The array of a number, from 0 on without gaps; all have the same length. @throws DbError for memory */
  block(index: number, length: number): Float64Array {
    const known = this.blocks[index];
    if (known !== undefined) return known;
    this.count(8 * length + ARRAY_BYTES);
    const made = new Float64Array(length);
    this.blocks[index] = made;
    return made;
  }

  private count(bytes: number): void {
    this.run.reserve(bytes);
    this.bytes += bytes;
  }

  /** Everything goes. */
  release(): void {
    this.floats.clear();
    this.ints.clear();
    this.blocks.length = 0;
    this.run.release(this.bytes);
    this.bytes = 0;
  }

  /** The length to make: half as much again as before, so that growth costs little. */
  private counted(width: number, length: number, before: number): number {
    const longer = Math.max(length, Math.ceil(before * 1.5));
    this.count(width * longer + ARRAY_BYTES);
    if (before > 0) {
      this.run.release(width * before + ARRAY_BYTES);
      this.bytes -= width * before + ARRAY_BYTES;
    }
    return longer;
  }
}

import { longer } from "../../../base/bytes/longer-array.ts";

/** Runs that there is room for at first: a query of one series has one a file. */
const FIRST_RUNS = 32;

/**
 * Runs of rows that a scan is made of, as parallel arrays: run i is rows `[starts[i], ends[i])` of source `sources[i]`, all of the
 * series in slot `slots[i]` (`series-selection.ts`), with times from `firsts[i]` to `lasts[i]` as offsets from the scan group's base.
 */
export class RunList {
  count = 0;
  slots: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_RUNS);
  sources: Uint16Array<ArrayBuffer> = new Uint16Array(FIRST_RUNS);
  starts: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_RUNS);
  ends: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_RUNS);
  firsts: Float64Array<ArrayBuffer> = new Float64Array(FIRST_RUNS);
  lasts: Float64Array<ArrayBuffer> = new Float64Array(FIRST_RUNS);

  push(slot: number, source: number, start: number, end: number, first: number, last: number): void {
    const i = this.count++;
    if (i === this.slots.length) this.grow();
    this.slots[i] = slot;
    this.sources[i] = source;
    this.starts[i] = start;
    this.ends[i] = end;
    this.firsts[i] = first;
    this.lasts[i] = last;
  }

  private grow(): void {
    this.slots = longer(this.slots);
    this.sources = longer(this.sources);
    this.starts = longer(this.starts);
    this.ends = longer(this.ends);
    this.firsts = longer(this.firsts);
    this.lasts = longer(this.lasts);
  }
}

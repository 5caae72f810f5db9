/** Rows that were found in bytes of a client, and not read yet. */

/** Values of rows: value `c` of row `r` is `[starts[r * width + c], ends[…])`, NULL where it ends before it begins. */
export interface ScannedRows {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  rows: number;
  /** Where the next row begins. */
  next: number;
  /** What is wrong with the row that begins there, 0 for nothing: a number of whoever looked for rows. */
  flaw: number;
}

/** Room for so many values of rows. */
export function scannedRows(values: number): ScannedRows {
  return { starts: new Uint32Array(values), ends: new Uint32Array(values), rows: 0, next: 0, flaw: 0 };
}

/** Begins a piece. */
export function beginRows(found: ScannedRows, from: number): void {
  found.rows = 0;
  found.next = from;
  found.flaw = 0;
}

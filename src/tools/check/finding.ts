/** What a check finds. */

/** Something that is not as it was written, or missing. */
export interface Finding {
  /** Path below the data directory, or of the log's folder. */
  readonly file: string;
  /** Byte of the file; undefined where it is about all of it. */
  readonly offset?: number | undefined;
  /** What is wrong. */
  readonly what: string;
  /** What that means for rows and for the next start. */
  readonly means: string;
  /** What to do. */
  readonly advice: string;
}

/** Bytes `[from, to)` of a file that no reader uses: damage of them changes nothing. */
export interface UnusedBytes {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

/** Takes what a check comes upon. */
export interface CheckSink {
  finding(found: Finding): void;
  unused(bytes: UnusedBytes): void;
  /** Something an operator may want to know that is no damage. */
  note(text: string): void;
  /** So many bytes were read. @throws Error when the check is to end */
  read(byteLength: number): void;
}

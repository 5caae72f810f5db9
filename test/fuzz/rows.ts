/** What is sent: rows that are told apart whatever table they end in. */

/** A row. Where a protocol has no numbers, its value is the text `n<value>`. */
export interface SentRow {
  /** Decimal digits, so that a column of numbers can hold it. Never sent twice. */
  readonly id: string;
  readonly value: number;
  /** Seconds since 1970. Never sent twice: tables without the id as a tag keep both of two rows. */
  readonly second: number;
}

/** Rows of one table. */
export interface TableRows {
  readonly table: string;
  readonly rows: readonly SentRow[];
}

/** The value as a protocol of texts sends it. */
export function valueText({ value }: Pick<SentRow, "value">): string {
  return `n${value}`;
}

/** Nanoseconds since 1970. */
export function nanosOf({ second }: SentRow): string {
  return `${second}000000000`;
}

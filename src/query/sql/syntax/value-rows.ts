/**
 * Rows of VALUES. The tree of a value is an object or two, and a row another: 300,000 rows would be three million of them, which the
 * collector goes over while everybody waits. So only few rows are trees at a time; long lists are blocks of about 16,000 values:
 *
 *   VALUES (1, 'it''s'), (-2, NULL)      kinds  [Whole, QuotedString, Whole, Null]
 *           ├┤ ├─────┤    ├┤  ├──┤       starts [8, 11, 21, 25]      where each begins in the text
 *                                        ends   [9, 18, 23, 29]
 */

/** What a value of a block is. */
export const Cell = {
  Null: 0,
  /** At most 15 digits, with `-` before them or without. */
  Whole: 1,
  /** Any other number, with `-` or without. */
  Number: 2,
  /** Text between quotes, as it is. */
  String: 3,
  /** Text between quotes with doubled quotes in it. */
  QuotedString: 4,
  True: 5,
  False: 6,
  /** The word DEFAULT: of INSERT alone. */
  Default: 7,
} as const;

/** Rows of plain constants, one after the other: value `c` of row `r` is the one at `r * width + c`. */
export interface ConstantBlock {
  readonly kind: "constants";
  /** What the values are read from. */
  readonly text: string;
  readonly rowCount: number;
  readonly width: number;
  /** `rowCount * width` of `Cell`. */
  readonly kinds: Uint8Array;
  /** As many places in `text`, ascending, quotes included. */
  readonly starts: Uint32Array;
  /** And behind each. */
  readonly ends: Uint32Array;
  /** Of `text` where the first row begins; line and column count from 1. */
  readonly from: { readonly offset: number; readonly line: number; readonly column: number };
}

/** Rows as trees: of short texts, and where there is a placeholder. */
export interface TreeBlock<Tree> {
  readonly kind: "trees";
  readonly rows: readonly (readonly Tree[])[];
}

/** Rows with computations, some hundred of a long text: they were read, and are read again when they are wanted, 5 µs a row. */
export interface UnreadBlock<Tree> {
  readonly kind: "unread";
  readonly rowCount: number;
  readonly read: () => readonly (readonly Tree[])[];
}

/** Some rows of VALUES. */
export type RowBlock<Tree> = ConstantBlock | TreeBlock<Tree> | UnreadBlock<Tree>;

/** The rows of VALUES in order. */
export type ValueRows<Tree> = readonly RowBlock<Tree>[];

/** How many rows there are. */
export function rowCountOf(rows: ValueRows<unknown>): number {
  return rows.reduce((sum, block) => sum + (block.kind === "trees" ? block.rows.length : block.rowCount), 0);
}

/** The number or the text of a value of a block. */
export function cellText({ text, kinds, starts, ends }: ConstantBlock, at: number): string {
  const kind = kinds[at];
  const [start = 0, end = 0] = [starts[at], ends[at]];
  if (kind !== Cell.String && kind !== Cell.QuotedString) return text.slice(start, end);
  const inner = text.slice(start + 1, end - 1);
  return kind === Cell.String ? inner : inner.replaceAll("''", "'");
}

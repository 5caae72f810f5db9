/** What clients of the measurement of wires are told to do, and what they tell. */

/** What is spoken. */
export type WireName = "mysql" | "postgres";

/** Where a server listens. */
export interface WireAddress {
  readonly wire: WireName;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** What a client is to do. */
export type WirePlan =
  | { readonly kind: "select"; readonly text: string; readonly form: "text" | "binary" | "driver" }
  | { readonly kind: "run"; readonly texts: readonly string[] }
  | { readonly kind: "load"; readonly table: string; readonly rows: number; readonly rowsPerInsert: number }
  | {
      readonly kind: "points";
      readonly table: string;
      readonly rows: number;
      readonly clients: number;
      readonly seconds: number;
      readonly isPrepared: boolean;
    }
  | { readonly kind: "idle"; readonly clients: number }
  | { readonly kind: "copy"; readonly statement: string; readonly rows: number }
  | { readonly kind: "insert"; readonly table: string; readonly rows: number; readonly rowsPerInsert: number; readonly clients: number };

/** What it did. */
export interface WireReport {
  /** Rows, or answers. */
  readonly count: number;
  readonly seconds: number;
  /** Milliseconds of answers, where each was timed. */
  readonly msP50: number;
  readonly msP99: number;
}

/** One line of stdin. */
export type WireRequest = WirePlan & { readonly server: WireAddress };

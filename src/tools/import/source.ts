/** What is imported: a source that can be read from any place at which one of its pieces ended. */

/** Some rows as one request. Places count in the source's own unit: bytes of a text, rows of a file, chunks of a block. */
export interface Piece {
  readonly from: number;
  /** Where the next piece begins. */
  readonly to: number;
  readonly rowCount: number;
  readonly database: string;
  /** Path and query of the request, without the database. */
  readonly path: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Where its first row stands, for people: "line 12". */
  readonly place: string;
  /** What a reader has to know that begins at `to`. */
  readonly context: SourceContext;
  /** Tables that its rows go into. */
  tables(): ReadonlySet<string>;
}

/** What of a source's earlier parts its later ones depend on, to be kept in a state file. */
export type SourceContext = Readonly<Record<string, string>>;

/** Where reading begins. */
export interface Start {
  readonly at: number;
  readonly context: SourceContext;
}

/** See the file header. */
export interface Source {
  /** For people, and for the state: an absolute path, or an address. */
  readonly name: string;
  /** What tells this source from another one of its name; the state of another one is not used. */
  readonly identity: string;
  /** All of it, in the unit of places; undefined: not known before its end. */
  readonly size: number | undefined;
  /** False: pieces may be others when they are read again, so that only their order counts. */
  readonly isStable?: boolean;
  /** How far a place is within `size`. Absent: it is the place itself. */
  readonly progressOf?: (place: number) => number;
  /** @throws DbError, Refusal for what cannot be read */
  pieces(start: Start): AsyncGenerator<Piece>;
  close(): Promise<void>;
}

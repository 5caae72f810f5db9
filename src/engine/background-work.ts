/** A flush or a merge that ended well. */
export interface BackgroundWork {
  readonly kind: "flush" | "merge";
  readonly table: string;
  readonly millis: number;
  /** Rows written; files and bytes of a flush are those made, files of a merge those that it read. */
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

/** Is told of it. */
export type OnBackgroundWork = (work: BackgroundWork) => void;

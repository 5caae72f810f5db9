/** What a bulk request holds. */
import type { PipelineValue } from "../common/value.ts";

/** Documents of one table, in the order of the request. */
export interface TableDocuments {
  readonly table: string;
  readonly rows: readonly PipelineValue[];
}

/** A bulk request. */
export interface Bulk {
  /** In the order of their first documents. */
  readonly tables: readonly TableDocuments[];
  readonly documentCount: number;
}

/** How to read one. */
export interface BulkOptions {
  /** The index of the URL: for actions that name none. */
  readonly index: string | undefined;
  /** The field of a document that replaces it. */
  readonly messageField: string | undefined;
}

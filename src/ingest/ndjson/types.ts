/** What bodies of documents look like. */

/** Content types of log ingestion. */
export type DocumentType = "application/json" | "application/x-ndjson" | "text/plain";

/** All of them, as messages list them. */
export const DOCUMENT_TYPES: readonly DocumentType[] = ["application/json", "application/x-ndjson", "text/plain"];

/**
 * Limits of bodies of documents. Each ends in a refused request.
 */

/** Most values of one body. Reason: `{}` is 2 bytes in a body and 50 in memory. */
export const DOCUMENTS_MAX = 1_000_000;

/** Deepest nesting of a document. Reason: everything that walks documents recurses. */
export const DOCUMENT_DEPTH_MAX = 128;

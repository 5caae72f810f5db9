/**
 * The body of `_bulk` to documents by table (contract ingest.md 7.1): an action, its document, the next action. Line ends mean nothing.
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import { eachJson } from "../common/json-sequence.ts";
import { fieldOf, isObject, type PipelineValue } from "../common/value.ts";
import { BULK_TABLES_MAX } from "./limits.ts";
import type { Bulk, BulkOptions, TableDocuments } from "./types.ts";

/** Reads a bulk request. @throws DbError InvalidArguments */
export function decodeBulk(text: string, options: BulkOptions): Bulk {
  const tables = new Map<string, PipelineValue[]>();
  let rows: PipelineValue[] | undefined;
  let documentCount = 0;
  let place = 0;
  eachJson(text, (value) => {
    place++;
    if (rows === undefined) {
      const table = tableOf(value, options.index, place);
      rows = tables.get(table) ?? [];
      tables.set(table, rows);
      if (tables.size > BULK_TABLES_MAX) throw refused(`more than ${BULK_TABLES_MAX} indices in one request`);
      return;
    }
    if (!isObject(value)) throw refused(`value ${place} is no document: it must be an object`);
    rows.push(options.messageField === undefined ? value : messageOf(value, options.messageField));
    rows = undefined;
    documentCount++;
  });
  const filled = [...tables].filter(([, documents]) => documents.length > 0);
  return { tables: filled.map(([table, documents]): TableDocuments => ({ table, rows: documents })), documentCount };
}

/** The table that an action writes to. */
function tableOf(action: PipelineValue, index: string | undefined, place: number): string {
  if (!isObject(action)) throw refused(`value ${place} is no action: it must be an object`);
  const detail = fieldOf(action, "create") ?? fieldOf(action, "index");
  if (detail === undefined) {
    const kind = Object.keys(action)[0] ?? "{}";
    throw refused(`value ${place} is the action '${kind.slice(0, 40)}': only 'create' and 'index' are supported`);
  }
  const named = isObject(detail) ? fieldOf(detail, "_index") : undefined;
  const table = typeof named === "string" && named !== "" ? named : index;
  if (table === undefined || table === "") throw refused(`action ${place} names no index, and neither does the URL`);
  return table;
}

/** The field's document: its object, its text as JSON, else the text under its own name. Without the field: the whole document. */
function messageOf(document: PipelineValue, field: string): PipelineValue {
  const message = isObject(document) ? fieldOf(document, field) : undefined;
  if (message === undefined || message === null) return document;
  if (typeof message !== "string") return isObject(message) ? message : { [field]: message };
  const inner = jsonIn(message);
  return isObject(inner) ? inner : { [field]: message };
}

/** The JSON object that a text is; undefined when it is something else. */
function jsonIn(text: string): PipelineValue {
  if (!text.trimStart().startsWith("{")) return undefined;
  const values: PipelineValue[] = [];
  try {
    eachJson(text, (value) => values.push(value));
  } catch (error) {
    if (!(error instanceof DbError)) throw error; // Text that is no JSON is a message like any other.
    return undefined;
  }
  return values.length === 1 ? values[0] : undefined;
}

function refused(why: string): DbError {
  return invalidArguments(`Invalid Elasticsearch input, reason: ${why}`);
}

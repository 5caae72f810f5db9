/**
 * Bodies of log ingestion to the items that pipelines take (contract ingest.md 8.1):
 *
 *   application/json      any sequence of objects and arrays; the elements of arrays are items
 *   application/x-ndjson  one JSON value a line
 *   text/plain            `{"message": line}` for each line
 */
import { DbError, invalidArguments } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { utf8Document } from "../../base/bytes/utf8.ts";
import { jsonValue } from "../common/json-value.ts";
import type { PipelineValue } from "../common/value.ts";
import { JsonFailure, eachJson, mayBeTooDeep } from "../common/json-sequence.ts";
import { DOCUMENTS_MAX, DOCUMENT_DEPTH_MAX } from "../common/limits.ts";
import { DOCUMENT_TYPES, type DocumentType } from "./types.ts";

/** The type that a Content-Type header names, parameters apart; undefined for any other. */
export function documentTypeOf(header: string): DocumentType | undefined {
  const type = header.split(";", 1)[0]?.trim().toLowerCase();
  return DOCUMENT_TYPES.find((known) => known === type);
}

/** The text of a body. @throws DbError InvalidArguments when it is no UTF-8 */
export function textOf(body: Uint8Array): string {
  const text = utf8Document(body);
  if (text === undefined) throw invalidArguments("Failed to parse payload: the body is not valid UTF-8");
  return text;
}

/**
 * The items of a body, in order.
 *
 * @param ignoreErrors lines that cannot be read are left out, and so is all JSON from the first syntax error on
 * @throws DbError InvalidArguments
 */
export function decodeDocuments(text: string, type: DocumentType, ignoreErrors: boolean): PipelineValue[] {
  switch (type) {
    case "application/json":
      return jsonDocuments(text, ignoreErrors);
    case "application/x-ndjson":
      return lineDocuments(text, ignoreErrors);
    case "text/plain":
      return textDocuments(text, ignoreErrors);
  }
}

function jsonDocuments(text: string, ignoreErrors: boolean): PipelineValue[] {
  const items: PipelineValue[] = [];
  try {
    eachJson(text, (value) => {
      if (typeof value !== "object" || value === null) {
        throw invalidArguments("Invalid request parameter: json format error, please check the date is valid JSON.");
      }
      if (Array.isArray(value)) for (const item of value as readonly PipelineValue[]) items.push(item);
      else items.push(value);
      checkCount(items.length);
    });
  } catch (error) {
    if (!ignoreErrors || !(error instanceof DbError)) throw error;
  }
  return items;
}

function lineDocuments(text: string, ignoreErrors: boolean): PipelineValue[] {
  const items: PipelineValue[] = [];
  let index = 0;
  for (let at = 0; at < text.length; ) {
    const end = endOfLine(text, at);
    const line = text.slice(at, end);
    at = end + 1;
    if (isBlank(line)) continue;
    checkCount(++index);
    const why = refusalOf(line);
    if (why === undefined) {
      try {
        items.push(jsonValue(line));
        continue;
      } catch (error) {
        if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
      }
    }
    if (!ignoreErrors) {
      const more = why === undefined ? "" : `: ${why}`;
      throw invalidArguments(`Invalid request parameter: invalid JSON at index: ${index - 1}${more}`);
    }
  }
  return items;
}

function textDocuments(text: string, ignoreErrors: boolean): PipelineValue[] {
  const items: PipelineValue[] = [];
  for (let at = 0; at < text.length; ) {
    const end = endOfLine(text, at);
    const last = text.charCodeAt(end - 1) === 0x0d && end > at ? end - 1 : end; // CR LF
    if (last - at > FIELD_TEXT_BYTES_MAX && !ignoreErrors) {
      const rule = `a line holds at most ${FIELD_TEXT_BYTES_MAX} characters`;
      throw invalidArguments(`Failed to parse payload: line ${items.length + 1} has ${last - at} characters, ${rule}`);
    }
    if (last > at && last - at <= FIELD_TEXT_BYTES_MAX) items.push({ message: text.slice(at, last) });
    checkCount(items.length);
    at = end + 1;
  }
  return items;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Whether a line holds nothing. */
export function isBlank(line: string): boolean {
  const first = line.charCodeAt(0);
  return first !== 0x7b /* { */ && line.trim() === "";
}

/** Why a line is not even parsed; undefined when it is. */
export function refusalOf(line: string): string | undefined {
  if (line.length > FIELD_TEXT_BYTES_MAX) return `the line has ${line.length} characters, at most ${FIELD_TEXT_BYTES_MAX}`;
  return mayBeTooDeep(line) && isTooDeep(line) ? `nested deeper than ${DOCUMENT_DEPTH_MAX} levels` : undefined;
}

function isTooDeep(line: string): boolean {
  try {
    eachJson(line, () => undefined);
    return false;
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return error instanceof JsonFailure && error.isTooDeep;
  }
}

/** @throws DbError InvalidArguments */
function checkCount(count: number): void {
  if (count <= DOCUMENTS_MAX) return;
  throw invalidArguments(`Failed to parse payload: more than ${DOCUMENTS_MAX} documents in one request; send fewer`);
}

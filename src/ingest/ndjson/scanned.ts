/**
 * Bodies of documents through a pipeline. JSON whose rows need no processor is read where it lies, object by object; what cannot be
 * read so is parsed, one document at a time, and the rest of the body goes on in place. A body with an error in it is read again the long
 * way, which knows what the error is called and which rows may be left out.
 */
import { isUtf8 } from "node:buffer";
import { assert } from "../../base/assert.ts";
import { DbError } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { utf8Text } from "../../column/text-table.ts";
import { skipBlank } from "../common/json-columns.ts";
import { jsonValue } from "../common/json-value.ts";
import type { CompiledPipeline, DocumentScan, PipelineResult, PipelineRunOptions } from "../pipeline/types.ts";
import { decodeDocuments, isBlank, refusalOf, textOf } from "./decode.ts";
import { DOCUMENT_DEPTH_MAX, DOCUMENTS_MAX } from "../common/limits.ts";
import type { DocumentType } from "./types.ts";

/**
 * Runs the documents of a body through a pipeline.
 *
 * @param ignoreErrors as for `decodeDocuments`
 * @throws DbError InvalidArguments, IllegalState
 */
export function runDocuments(
  body: Uint8Array,
  type: DocumentType,
  ignoreErrors: boolean,
  pipeline: CompiledPipeline,
  options: PipelineRunOptions,
): PipelineResult {
  return scanned(body, type, pipeline, options) ?? pipeline.run(decodeDocuments(textOf(body), type, ignoreErrors), options);
}

/** Undefined when the body must be read the long way. */
function scanned(
  body: Uint8Array,
  type: DocumentType,
  pipeline: CompiledPipeline,
  options: PipelineRunOptions,
): PipelineResult | undefined {
  if (type === "text/plain") return undefined;
  const scan = pipeline.scan(body, options);
  if (scan === undefined || !isUtf8(body)) return undefined;
  const isMarked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf; // U+FEFF, which decoders leave out
  try {
    const isRead = type === "application/json" ? takeJson(body, isMarked ? 3 : 0, scan) : takeLines(body, isMarked ? 3 : 0, scan);
    return isRead ? scan.result() : undefined;
  } catch (error) {
    if (error instanceof DbError || error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function takeLines(body: Uint8Array, from: number, scan: DocumentScan): boolean {
  let count = 0;
  for (let at = from; at < body.length; ) {
    const first = skipBlank(body, at);
    const behind = body[first] === 0x7b ? scan.take(first) : -1;
    const next = behind < 0 ? -1 : skipBlank(body, behind);
    if (next >= 0 && (next === body.length || body[next] === 0x0a) && next - at <= FIELD_TEXT_BYTES_MAX) {
      at = next + 1;
      count++;
    } else {
      if (behind >= 0) return false; // The row is kept already.
      const feed = body.indexOf(0x0a, at);
      const end = feed < 0 ? body.length : feed;
      const line = utf8Text(body, at, end);
      at = end + 1;
      if (isBlank(line)) continue;
      count++;
      if (refusalOf(line) !== undefined) return false;
      scan.add(jsonValue(line));
    }
    if (count > DOCUMENTS_MAX) return false;
  }
  return true;
}

/** Objects and arrays of objects, one after the other. */
function takeJson(body: Uint8Array, from: number, scan: DocumentScan): boolean {
  let count = 0;
  let values = 0;
  let inArray = false;
  for (let at = skipSpace(body, from); at < body.length; ) {
    if (!inArray && ++values > DOCUMENTS_MAX) return false;
    if (!inArray && body[at] === 0x5b /* [ */) {
      at = skipSpace(body, at + 1);
      inArray = body[at] !== 0x5d; // ]
      if (!inArray) at = skipSpace(body, at + 1);
      continue;
    }
    if (body[at] !== 0x7b || ++count > DOCUMENTS_MAX) return false;
    let behind = scan.take(at);
    if (behind < 0) {
      behind = endOfObject(body, at, inArray ? DOCUMENT_DEPTH_MAX - 1 : DOCUMENT_DEPTH_MAX);
      if (behind < 0) return false;
      scan.add(jsonValue(utf8Text(body, at, behind)));
    }
    if (behind - at > FIELD_TEXT_BYTES_MAX) return false;
    at = skipSpace(body, behind);
    if (!inArray) continue;
    const mark = body[at];
    if (mark !== 0x2c && mark !== 0x5d) return false;
    inArray = mark === 0x2c;
    at = skipSpace(body, at + 1);
  }
  return !inArray;
}

function skipSpace(body: Uint8Array, from: number): number {
  let at = skipBlank(body, from);
  while (body[at] === 0x0a) at = skipBlank(body, at + 1);
  return at;
}

/** The place behind the object at `start`; -1 when it does not end or is nested too deeply. */
function endOfObject(body: Uint8Array, start: number, depthMax: number): number {
  assert(body[start] === 0x7b, "an object begins with {");
  let depth = 0;
  for (let at = start; at < body.length; at++) {
    switch (body[at] as number) {
      case 0x22: // "
        for (at++; at < body.length && body[at] !== 0x22; at++) if (body[at] === 0x5c) at++;
        break;
      case 0x7b:
      case 0x5b:
        if (++depth > depthMax) return -1;
        break;
      case 0x7d:
      case 0x5d:
        if (--depth === 0) return at + 1;
        break;
    }
  }
  return -1;
}

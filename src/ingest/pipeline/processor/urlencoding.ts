/** `urlencoding`: percent-coding of text. */
import { utf8Text } from "../../../base/bytes/utf8.ts";
import type { Options } from "../definition.ts";
import { failure } from "../failure.ts";
import { type Processor, textProcessor } from "./processor.ts";

const encoder = new TextEncoder();
const UNRESERVED = /^[A-Za-z0-9_.~-]$/;

/** Text with `%XX` decoded; a `%` without two digits stays. @throws DbError InvalidArguments when the bytes are not UTF-8 */
export function percentDecoded(text: string, processor: string): string {
  if (!text.includes("%")) return text;
  const source = encoder.encode(text);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const high = source[i] === 0x25 ? hexDigit(source[i + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(source[i + 2]);
    if (low < 0) bytes[length++] = source[i]!;
    else {
      bytes[length++] = high * 16 + low;
      i += 2;
    }
  }
  const decoded = utf8Text(bytes.subarray(0, length));
  if (decoded === undefined) throw failure(`Processor ${processor}: the decoded bytes of '${text.slice(0, 120)}' are not UTF-8`);
  return decoded;
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function percentEncoded(text: string): string {
  let out = "";
  for (const byte of encoder.encode(text)) {
    const character = String.fromCharCode(byte);
    out += byte < 0x80 && UNRESERVED.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

/** Compiles an `urlencoding` processor. @throws DbError InvalidArguments */
export function urlencodingProcessor(options: Options): Processor {
  const method = options.choice("method", ["decode", "encode"], "decode");
  return textProcessor(options, method === "encode" ? percentEncoded : (text) => percentDecoded(text, "urlencoding"));
}

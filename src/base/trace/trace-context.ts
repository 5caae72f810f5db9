/**
 * Where a piece of work stands in a trace, as headers of HTTP say it: `00-<trace, 32 hex>-<span, 16 hex>-<flags, 2 hex>`.
 * Source: W3C Trace Context (w3.org/TR/trace-context), `traceparent`; level 2 for `traceresponse`. Protocols without headers carry it in a
 * comment of the statement, `/*traceparent='…'*\/`, as SQLCommenter does (google.github.io/sqlcommenter/spec).
 */

/** A span that others can name. */
export interface TraceContext {
  /** 32 hexadecimal digits, in lower case, not all 0. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Whether it is recorded. */
  readonly isSampled: boolean;
}

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LENGTH = 55;
/** Longest header that is looked at: later versions may say more. */
const LENGTH_MAX = 512;
const SAMPLED = 1;
const NO_TRACE: string = "0".repeat(32);
const NO_SPAN: string = "0".repeat(16);

/** What a header says; undefined where it is absent or not as the standard has it: a trace then begins anew. */
export function traceContextOf(header: string | null): TraceContext | undefined {
  if (header === null || header.length < LENGTH || header.length > LENGTH_MAX) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = TRACE_PARENT.exec(header) ?? [];
  if (version === "" || version === "ff" || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

const COMMENT_KEY = "traceparent='";
/** Characters of a statement's begin and end in which its comment is looked for. */
const COMMENT_CHARACTERS = 2048;

/** What a comment at the end or the begin of a statement says; undefined: none does. */
export function traceContextInComment(text: string): TraceContext | undefined {
  return (
    inPiece(text.slice(-COMMENT_CHARACTERS)) ?? (text.length > COMMENT_CHARACTERS ? inPiece(text.slice(0, COMMENT_CHARACTERS)) : undefined)
  );
}

function inPiece(piece: string): TraceContext | undefined {
  const key = piece.lastIndexOf(COMMENT_KEY);
  if (key < 0) return undefined;
  const opened = piece.lastIndexOf("/*", key);
  const closed = piece.indexOf("*/", opened);
  if (opened < 0 || closed < key) return undefined;
  const from = key + COMMENT_KEY.length;
  return traceContextOf(piece.slice(from, from + LENGTH));
}

/** The header that says it. */
export function traceParentText({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Random ids, cut from blocks: a call of the system's generator for each costs 0.6 µs. */
export class TraceIds {
  private block: string = "";
  private at = 0;

  /** A number of hexadecimal digits, not all 0. */
  next(digits: number): string {
    if (this.at + digits > this.block.length) {
      this.block = crypto.getRandomValues(new Uint8Array(4096)).toHex();
      this.at = 0;
    }
    const id = this.block.slice(this.at, this.at + digits);
    this.at += digits;
    return /[1-9a-f]/.test(id) ? id : this.next(digits);
  }
}

/**
 * Cuts the PromQL of TQL statements out of a text before it is split into SQL tokens, since PromQL is no SQL: `5m`, `{`, `# comment`.
 *
 *   TQL EVAL (0, 10, '5s') sum by (host) (rate(cpu{idle!="1"}[5m])) AS busy; SELECT 1
 *                          └──────────────────── cut ───────────┘
 *
 * The cut text is made blank, so that everything else keeps its place, and one token takes its place (`lexer.ts`). It ends at `;`, at
 * the parenthesis that closes what TQL stands in, before a last `AS alias`, or with the text; quotes, brackets and comments of PromQL
 * are skipped over. A line that begins with `--` and a comment between `/*` and its end are comments of SQL, and blank.
 */

/** A piece of PromQL: the characters `[start, end)` of the whole text, in UTF-16 units. */
export interface TqlCut {
  readonly start: number;
  readonly end: number;
}

/** A text without its PromQL. */
export interface TqlText {
  /** As long as the text, with blanks where PromQL stood. */
  readonly sql: string;
  /** In order. */
  readonly cuts: readonly TqlCut[];
}

/**
 * Longest TQL of a long text, from its first word to the end of its PromQL. Reason: it is cut out at once. Error: InvalidSyntax.
 */
export const TQL_CHARACTERS_MAX: number = 64 * 1024;

/** Pieces of SQL: strings, names in quotes, comments, words, then any other character. */
const PIECE = /[eE]'(?:\\[^]|[^'\\])*'?|'[^']*(?:''[^']*)*'?|"[^"]*"?|`[^`]*`?|--[^\n\r]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_][\w$]*|\s+|[^]/gy;
/** Pieces of PromQL: strings with escapes, raw strings, comments, words, brackets, then any other character. */
const PROMQL_PIECE = /'(?:\\[^]|[^'\\])*'?|"(?:\\[^]|[^"\\])*"?|`[^`]*`?|#[^\n\r]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z_:][\w:]*|\s+|[^]/gy;

const isBlank = (piece: string): boolean => /^(?:\s|--|\/\*)/.test(piece);
const TQL_WORDS: ReadonlySet<string> = new Set(["eval", "evaluate", "explain", "analyze"]);
const FORMATS: ReadonlySet<string> = new Set(["text", "json", "graphviz"]);

/** Reads pieces of a text one after the other; blanks and comments are left out. */
class Reader {
  /** Where the next piece begins. */
  at: number;
  private readonly text: string;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** The next piece in lower case; undefined at the end. */
  next(): string | undefined {
    for (;;) {
      PIECE.lastIndex = this.at;
      const piece = PIECE.exec(this.text)?.[0];
      if (piece === undefined || piece === "") return undefined;
      this.at += piece.length;
      if (!isBlank(piece)) return piece.toLowerCase();
    }
  }

  /** The next piece, not taken. */
  peek(): string | undefined {
    const { at } = this;
    const piece = this.next();
    this.at = at;
    return piece;
  }
}

/** Takes the PromQL of every TQL statement out of a text. */
export function withoutPromql(text: string): TqlText {
  if (!/\btql\b/i.test(text)) return { sql: text, cuts: [] };
  const cuts: TqlCut[] = [];
  const comments: TqlCut[] = [];
  const reader = new Reader(text);
  let previous: string | undefined;
  for (let piece = reader.next(); piece !== undefined; piece = reader.next()) {
    // Elsewhere `tql` is a name.
    const begins = previous === undefined || [";", "(", "as", "for", "explain", "analyze", "verbose"].includes(previous);
    previous = piece;
    if (piece !== "tql" || !begins || !TQL_WORDS.has(reader.peek() ?? "")) continue;
    const found = promqlBehind(text, reader);
    comments.push(...found.comments);
    if (found.cut !== undefined) cuts.push(found.cut);
  }
  return { sql: blanked(blanked(text, cuts), comments), cuts };
}

/** Where SQL goes on behind the TQL that a text begins with; "none" without PromQL, "open" where its parameters do not end. */
export function tqlEnd(text: string): number | "none" | "open" {
  const reader = new Reader(text, "tql".length);
  if (!TQL_WORDS.has(reader.peek() ?? "")) return "none";
  const found = promqlBehind(text, reader);
  if (found === NONE) return "open";
  return found.cut === undefined ? "none" : found.end;
}

/** Reads the words and parameters behind TQL, then the PromQL; undefined where there is none. */
function promqlBehind(text: string, reader: Reader): Promql {
  const mode = reader.next();
  if (mode === "explain" || mode === "analyze") {
    if (reader.peek() === "verbose") reader.next();
    const { at } = reader;
    if (reader.next() !== "format" || !FORMATS.has(reader.next() ?? "")) reader.at = at;
  }
  if (reader.peek() === "(") {
    let depth = 0;
    do {
      const piece = reader.next();
      if (piece === undefined || piece === ";") return NONE;
      depth += piece === "(" ? 1 : piece === ")" ? -1 : 0;
    } while (depth > 0);
    if (reader.peek() === ",") reader.next();
  }
  const found = promqlAt(text, reader.at);
  reader.at = found.end;
  return found;
}

/** What stands where PromQL is expected. */
interface Promql {
  /** Undefined: nothing. */
  readonly cut: TqlCut | undefined;
  /** Comments of PromQL in and behind it. */
  readonly comments: readonly TqlCut[];
  /** Where SQL goes on. */
  readonly end: number;
}

const NONE: Promql = { cut: undefined, comments: [], end: 0 };

/** The PromQL that begins at a place, without the blanks around it. */
function promqlAt(text: string, from: number): Promql {
  const comments: TqlCut[] = [];
  let start = -1;
  let end = from;
  let at = from;
  let depth = 0;
  /** Whether only blanks stand before this place in its line. */
  let isLineStart = false;
  /** The last word `AS` outside brackets and where the PromQL before it ends, and how many pieces have followed it. */
  let as: { readonly end: number; followers: number } | undefined;
  while (at < text.length) {
    PROMQL_PIECE.lastIndex = at;
    let piece = PROMQL_PIECE.exec(text)?.[0] ?? "";
    if (piece === "" || piece === ";") break;
    if (piece === "-" && isLineStart && text.startsWith("--", at)) piece = /[^\n\r]*/.exec(text.slice(at))?.[0] ?? piece;
    if (depth === 0 && piece === ")") break;
    const begin = at;
    at += piece.length;
    isLineStart = /^\s+$/.test(piece) && (isLineStart || /[\n\r]/.test(piece));
    if (isBlank(piece)) continue;
    if (piece.startsWith("#")) {
      comments.push({ start: begin, end: at });
      continue;
    }
    depth += "([{".includes(piece) ? 1 : ")]}".includes(piece) ? -1 : 0;
    if (as !== undefined) as.followers++;
    if (depth === 0 && start >= 0 && piece.toLowerCase() === "as") as = { end, followers: 0 };
    if (start < 0) start = begin;
    end = at;
  }
  if (as?.followers === 1) end = as.end;
  return { cut: start < 0 ? undefined : { start, end }, comments, end: at };
}

/** The text with blanks for the cuts; ends of lines stay, so that lines keep their numbers. */
function blanked(text: string, cuts: readonly TqlCut[]): string {
  let sql = "";
  let done = 0;
  for (const { start, end } of cuts) {
    sql += text.slice(done, start) + text.slice(start, end).replace(/[^\n\r]/g, " ");
    done = end;
  }
  return sql + text.slice(done);
}

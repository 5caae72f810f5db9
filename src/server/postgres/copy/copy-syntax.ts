/**
 * COPY between a table and the client, as PostgreSQL has it:
 *
 *   COPY t [(columns)] | (query)  TO STDOUT      [WITH] (option value, …)      COPY t [(columns)] FROM STDIN [WITH] (…)
 *   and the older options without parentheses: BINARY, CSV, HEADER, DELIMITER 'x', NULL 'x', QUOTE 'x', ESCAPE 'x', ENCODING 'x'
 */
import { WireFailure } from "../errors.ts";

/** How rows are written. */
export interface CopyForm {
  readonly format: "text" | "csv" | "binary";
  /** One byte. */
  readonly delimiter: string;
  readonly nullText: string;
  /** Whether the first line has the names of columns; "match": and they must be those of the table. */
  readonly header: boolean | "match";
  /** One byte each, of CSV. */
  readonly quote: string;
  readonly escape: string;
  /** Columns whose values are always quoted; "*" are all. */
  readonly forceQuote: readonly string[] | "*";
}

/** A COPY of a client. */
export interface CopyStatement {
  readonly kind: "copy";
  readonly direction: "to" | "from";
  /** A query in parentheses, or a table's name as it is written. */
  readonly source: string;
  readonly isQuery: boolean;
  /** Names as they are written; undefined: all. */
  readonly columns: readonly string[] | undefined;
  readonly form: CopyForm;
}

const TOKEN = /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|[eE]'(?:[^'\\]|\\[^]|'')*'|"(?:[^"]|"")*"|[\w$.]+|[^]/y;

class Tokens {
  private readonly text: string;
  private readonly tokens: { readonly image: string; readonly start: number; readonly end: number }[] = [];
  private at = 0;

  constructor(text: string) {
    this.text = text;
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
      const start = TOKEN.lastIndex;
      const image = TOKEN.exec(text)?.[0] ?? "";
      if (!/^(?:\s|--|\/\*)/.test(image)) this.tokens.push({ image, start, end: start + image.length });
    }
  }

  get next(): string {
    return this.tokens[this.at]?.image ?? "";
  }

  get isAtEnd(): boolean {
    return this.at >= this.tokens.length;
  }

  take(): string {
    const image = this.next;
    this.at++;
    return image;
  }

  takeIf(...words: readonly string[]): boolean {
    const matches = words.every((word, i) => this.tokens[this.at + i]?.image.toUpperCase() === word);
    if (matches) this.at += words.length;
    return matches;
  }

  /** What stands between this parenthesis and the one that closes it. */
  takeParentheses(): string {
    const start = this.tokens[this.at]?.end ?? 0;
    for (let depth = 0; this.at < this.tokens.length; this.at++) {
      const { image, start: end } = this.tokens[this.at] ?? { image: "", start: 0 };
      if (image === "(") depth++;
      else if (image === ")" && --depth === 0) {
        this.at++;
        return this.text.slice(start, end);
      }
    }
    throw syntax("a parenthesis is not closed");
  }
}

const syntax = (why: string): WireFailure => new WireFailure("42601", `Invalid SQL syntax: COPY: ${why}`);

/** The COPY that a text is; undefined for one of files, which is the database's. @throws WireFailure for options that make no sense */
export function parseCopy(text: string): CopyStatement | undefined {
  if (!/\bstd(?:in|out)\b/i.test(text)) return undefined;
  const tokens = new Tokens(text);
  tokens.take(); // COPY
  const isOldBinary = tokens.takeIf("BINARY");
  const isQuery = tokens.next === "(";
  const source = isQuery ? tokens.takeParentheses() : tableName(tokens);
  const columns = !isQuery && tokens.next === "(" ? names(tokens.takeParentheses()) : undefined;
  const isTo = tokens.takeIf("TO", "STDOUT") || tokens.takeIf("TO", "STDIN");
  if (!isTo && !tokens.takeIf("FROM", "STDIN") && !tokens.takeIf("FROM", "STDOUT")) return undefined;
  if (!isTo && isQuery) throw syntax("a query takes no rows");
  const options = readOptions(tokens);
  if (isOldBinary) options.set("format", "binary");
  if (!tokens.isAtEnd) throw syntax(`found '${tokens.next.slice(0, 40)}', expected the end of the statement`);
  return { kind: "copy", direction: isTo ? "to" : "from", source, isQuery, columns, form: formOf(options) };
}

function tableName(tokens: Tokens): string {
  let name = tokens.take();
  while (tokens.next === "." || name.endsWith(".")) name += tokens.take();
  return name;
}

function names(text: string): readonly string[] {
  const found = text.match(/"(?:[^"]|"")*"|[^\s,"]+/g) ?? [];
  return found.map((name) => name);
}

/** Options by their names in small letters; a value is text, or a list in parentheses. */
function readOptions(tokens: Tokens): Map<string, string> {
  const options = new Map<string, string>();
  tokens.takeIf("WITH");
  if (tokens.next === "(") {
    const inner = new Tokens(tokens.takeParentheses());
    while (!inner.isAtEnd) {
      const name = inner.take().toLowerCase();
      const hasValue = !inner.isAtEnd && inner.next !== ",";
      options.set(name, !hasValue ? "true" : inner.next === "(" ? inner.takeParentheses() : plain(inner.take()));
      if (!inner.isAtEnd && inner.take() !== ",") throw syntax(`expected a comma behind the option ${name}`);
    }
    return options;
  }
  while (!tokens.isAtEnd) {
    const word = tokens.take().toUpperCase();
    tokens.takeIf("AS");
    if (word === "BINARY" || word === "CSV") options.set("format", word.toLowerCase());
    else if (word === "HEADER") options.set("header", "true");
    else if (["DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING"].includes(word)) {
      tokens.takeIf("AS");
      options.set(word.toLowerCase(), plain(tokens.take()));
    } else if (word === "FORCE" && tokens.takeIf("QUOTE")) options.set("force_quote", tokens.take());
    else throw syntax(`unknown option ${word.slice(0, 40)}`);
  }
  return options;
}

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function plain(token: string): string {
  if (/^[eE]'/.test(token))
    return token.slice(2, -1).replace(/''|\\([^])/g, (whole, letter: string) => (whole === "''" ? "'" : (ESCAPES[letter] ?? letter)));
  if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
  return token;
}

const KNOWN: ReadonlySet<string> = new Set(
  "format delimiter null header quote escape force_quote encoding freeze on_error log_verbosity force_not_null force_null default".split(
    " ",
  ),
);

function formOf(options: ReadonlyMap<string, string>): CopyForm {
  for (const name of options.keys()) if (!KNOWN.has(name)) throw syntax(`unknown option ${name.slice(0, 40)}`);
  for (const name of ["force_not_null", "force_null", "default", "on_error"]) {
    const value = options.get(name);
    if (value !== undefined && value.toLowerCase() !== "stop") throw new WireFailure("0A000", `Not supported: option ${name} of COPY`);
  }
  const format = (options.get("format") ?? "text").toLowerCase();
  if (format !== "text" && format !== "csv" && format !== "binary") throw syntax(`unknown format ${format.slice(0, 40)}`);
  const encoding = options.get("encoding");
  if (encoding !== undefined && !/^(?:utf-?8|unicode|sql_ascii)$/i.test(encoding))
    throw new WireFailure("0A000", `Not supported: encoding ${encoding.slice(0, 40)}; texts are UTF8`);
  const isCsv = format === "csv";
  const quote = options.get("quote") ?? '"';
  const form: CopyForm = {
    format,
    delimiter: options.get("delimiter") ?? (isCsv ? "," : "\t"),
    nullText: options.get("null") ?? (isCsv ? "" : "\\N"),
    header: headerOf(options.get("header")),
    quote,
    escape: options.get("escape") ?? quote,
    forceQuote: forceQuoteOf(options.get("force_quote")),
  };
  checkForm(form, options);
  return form;
}

function headerOf(value: string | undefined): CopyForm["header"] {
  if (value === undefined) return false;
  const word = value.toLowerCase();
  if (word === "match") return "match";
  if (["true", "on", "1", "yes"].includes(word)) return true;
  if (["false", "off", "0", "no"].includes(word)) return false;
  throw syntax(`header must be true, false or match, not ${value.slice(0, 40)}`);
}

function forceQuoteOf(value: string | undefined): CopyForm["forceQuote"] {
  if (value === undefined) return [];
  return value === "*" ? "*" : names(value).map((name) => name.replace(/^"(.*)"$/, "$1"));
}

function checkForm({ format, delimiter, nullText, quote, escape }: CopyForm, options: ReadonlyMap<string, string>): void {
  const isOne = (text: string): boolean => text.length === 1 && text > "\0" && text <= "\x7f" && text !== "\n" && text !== "\r";
  if (format === "binary") {
    for (const name of ["delimiter", "null", "header"]) if (options.has(name)) throw syntax(`binary format has no ${name}`);
    return;
  }
  if (!isOne(delimiter)) throw syntax("the delimiter must be one byte");
  if (/[\n\r]/.test(nullText)) throw syntax("the text of NULL must not have a line end");
  if (nullText.includes(delimiter)) throw syntax("the delimiter must not stand in the text of NULL");
  if (format === "text") {
    if (/[\\.a-z0-9]/.test(delimiter)) throw syntax(`the delimiter cannot be '${delimiter}'`);
    for (const name of ["quote", "escape", "force_quote"]) if (options.has(name)) throw syntax(`${name} is of CSV`);
    return;
  }
  if (!isOne(quote) || !isOne(escape)) throw syntax("quote and escape must be one byte each");
  if (quote === delimiter) throw syntax("delimiter and quote must differ");
}

/**
 * Label sets as Loki's protobuf form sends them: `{name="value", other="..."}` with the string literals of Go.
 * Source: the stream selector of the Loki documentation; "String literals" of the Go specification.
 */

/** Names and values of a stream, by name. */
export interface Labels {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** One token of a label set: punctuation, a name, a quoted or a raw string. */
const TOKEN = /\s*(?:([{},=])|([^\s{},="`]+)|"((?:[^"\\\n]|\\[^\n])*)"|`([^`]*)`)/y;
/** An escape of a quoted string. Bytes (`\x41`, `\101`) come in runs, since together they are UTF-8. */
const ESCAPE = /((?:\\x[0-9a-fA-F]{2}|\\[0-7]{3})+)|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([abfnrtv\\"'])|(\\)/g;
const SIMPLE: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };
const CODE_POINT_MAX = 0x10ffff;

const decoder = new TextDecoder();

/** Reads a label set; undefined when the text is none. Of equal names the last counts; empty values are left out. */
export function parseLabels(text: string): Labels | undefined {
  const pairs = new Map<string, string>();
  const tokens = tokensOf(text);
  if (tokens === undefined || tokens[0] !== "{" || tokens.at(-1) !== "}") return undefined;
  const last = tokens.length - 1;
  for (let at = 1; at < last; at += 4) {
    const [name, equals, value, comma] = tokens.slice(at, at + 4);
    if (typeof name !== "object" || equals !== "=" || typeof value !== "object") return undefined;
    if (comma !== "," && at + 3 !== last) return undefined;
    if (name.text === "" || value.isName) return undefined;
    pairs.set(name.text, value.text);
  }
  return sortedLabels(pairs);
}

/** Labels in the order of their names, which is that of the columns. Empty values are left out: they say that there is none. */
export function sortedLabels(pairs: ReadonlyMap<string, string>): Labels {
  const kept = [...pairs].filter(([, value]) => value !== "").toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { names: kept.map(([name]) => name), values: kept.map(([, value]) => value) };
}

interface Word {
  readonly text: string;
  /** Written without quotes. */
  readonly isName: boolean;
}

function tokensOf(text: string): (string | Word)[] | undefined {
  const tokens: (string | Word)[] = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (match === null) return undefined;
    const [, mark, name, quoted, raw] = match;
    if (mark !== undefined) tokens.push(mark);
    else if (name !== undefined) tokens.push({ text: name, isName: true });
    else {
      const value = raw ?? unquoted(quoted ?? "");
      if (value === undefined) return undefined;
      tokens.push({ text: value, isName: false });
    }
  }
  return tokens;
}

/** The text of a quoted string; undefined when an escape is none of Go's. */
function unquoted(text: string): string | undefined {
  if (!text.includes("\\")) return text;
  let isBad = false;
  const plain = text.replace(ESCAPE, (_, bytes?: string, short?: string, long?: string, simple?: string) => {
    if (bytes !== undefined) return bytesText(bytes);
    if (simple !== undefined) return SIMPLE[simple] ?? simple;
    const code = Number.parseInt(short ?? long ?? "ffffffff", 16);
    if (code <= CODE_POINT_MAX && (code < 0xd800 || code > 0xdfff)) return String.fromCodePoint(code);
    isBad = true;
    return "";
  });
  return isBad ? undefined : plain;
}

function bytesText(escapes: string): string {
  const bytes = Array.from(escapes.matchAll(/\\(?:x(..)|(...))/g), ([, hex, octal]) =>
    hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16),
  );
  return decoder.decode(Uint8Array.from(bytes));
}

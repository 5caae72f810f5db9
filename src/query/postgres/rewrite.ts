/**
 * Statements of PostgreSQL's clients → what the grammar has (contract query.md 3.3). Tools qualify everything they name by `pg_catalog` and
 * none of that means anything else here. Texts without such marks stay as they are, strings and comments too.
 *
 *   OPERATOR(pg_catalog.~)          ~
 *   COLLATE pg_catalog.default      nothing
 *   roles = '{0}'                   roles = ARRAY[0]
 *   '{int,int8}'::regtype[]         ARRAY['int'::regtype,'int8'::regtype]
 *   EXISTS (SELECT FROM …)          EXISTS (SELECT 1 FROM …)
 *   ARRAY(SELECT …)                 coalesce((SELECT array_agg(…) FROM (SELECT …) …), make_array())
 */

/** Longest text that is looked at: clients' own queries are short, and statements with data are not. */
const CHARACTERS_MAX: number = 64 * 1024;
const MARKS = /\bpg_catalog\b|[=>]\s*'\{|\boperator\s*\(|\bcollate\b|\barray\s*\(|\bselect\s+from\b|\}'\s*::\s*reg/i;

const SKIPPED = String.raw`\s+|--[^\n\r]*|\/\*[^]*?\*\/`;
const QUOTED = String.raw`[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[^]*?\$\1\$`;
const WORDS = String.raw`[\p{L}_][\p{L}\p{N}_$]*|\d[\w.]*|::|[^]`;
const TOKEN = new RegExp(`${SKIPPED}|${QUOTED}|${WORDS}`, "uy");

/** An array of numbers as text. */
const NUMBERS = /^'\{((?:-?\d+(?:,-?\d+)*)?)\}'$/;

/** Names as a list in a text, and the types whose values are looked up by name. */
const NAMES = /^'\{(\w+(?:,\w+)*)\}'$/;
const NAMED_TYPE = /^reg(?:type|class|proc|namespace|role)$/i;

/** What psql's `\\d` asks of the columns of publications, in a way that the grammar has no words for. There are no publications. */
const PUBLISHED_COLUMNS = new RegExp(
  String.raw`\(SELECT string_agg\(attname, ', '\)\s+FROM pg_catalog\.generate_series\(0, ` +
    String.raw`pg_catalog\.array_upper\(pr\.prattrs[^]{0,400}?prattrs\[s\]\)`,
);

/** The text that the grammar reads; the same text where nothing is to be rewritten. Places in it move. */
export function rewritePostgres(text: string): string {
  if (text.length > CHARACTERS_MAX || !MARKS.test(text)) return text;
  const tokens: string[] = [];
  const known = text.replace(PUBLISHED_COLUMNS, "NULL");
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < known.length; ) tokens.push(TOKEN.exec(known)?.[0] ?? "");
  return new Rewriting(tokens).run();
}

const isBlank = (token: string): boolean => /^(?:\s|--|\/\*)/.test(token);

class Rewriting {
  private readonly tokens: readonly string[];
  private readonly out: string[] = [];
  private at = 0;
  /** Depths of parentheses at which an ARRAY(SELECT …) ends. */
  private readonly arrays: number[] = [];
  private depth = 0;

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  run(): string {
    while (this.at < this.tokens.length) this.step();
    return this.out.join("");
  }

  private step(): void {
    const token = this.tokens[this.at] ?? "";
    const word = token.toLowerCase();
    if (word === "operator" && this.follows(1, "(", "pg_catalog", ".")) this.operator();
    else if (word === "collate" && this.collation()) return;
    else if (word === "pg_catalog" && this.follows(1, ".") && this.isCall()) this.at += 2;
    else if (NUMBERS.test(token) && /[=>]$/.test(this.before())) this.numbers(token);
    else if (NAMES.test(token) && this.follows(1, "::") && NAMED_TYPE.test(this.ahead(2).token) && this.follows(3, "[", "]"))
      this.names(token);
    else if (word === "select" && this.follows(1, "from") && this.isInExists()) this.copy("SELECT 1");
    else if (word === "array" && (this.follows(1, "(", "select") || this.follows(1, "(", "with"))) this.array();
    else this.copy(token);
  }

  /** The token that stands `count` words from here, blanks left out, and where. */
  private ahead(count: number): { readonly token: string; readonly at: number } {
    let at = this.at;
    for (let left = count; at < this.tokens.length; ) {
      at++;
      if (!isBlank(this.tokens[at] ?? "") && --left === 0) break;
    }
    return { token: this.tokens[at] ?? "", at };
  }

  private follows(from: number, ...words: readonly string[]): boolean {
    return words.every((word, i) => this.ahead(from + i).token.toLowerCase() === word);
  }

  /** What was written last, blanks left out. */
  private before(): string {
    return this.out.findLast((token) => !isBlank(token)) ?? "";
  }

  /** An array that is compared: `= '{0}'`. */
  private numbers(token: string): void {
    this.at++;
    this.out.push(token.replace(NUMBERS, "ARRAY[$1]"));
  }

  /** `'{a,b}'::regtype[]`. */
  private names(token: string): void {
    const [, names = ""] = NAMES.exec(token) ?? [];
    const type = this.ahead(2).token;
    this.at = this.ahead(4).at + 1;
    this.out.push(
      `ARRAY[${names
        .split(",")
        .map((name) => `'${name}'::${type}`)
        .join(",")}]`,
    );
  }

  /** Whether `EXISTS (` was written last. */
  private isInExists(): boolean {
    const open = this.out.findLastIndex((token) => !isBlank(token));
    const word = this.out.findLastIndex((token, i) => i < open && !isBlank(token));
    return this.out[open] === "(" && this.out[word]?.toLowerCase() === "exists";
  }

  /** Whether `pg_catalog.x` here is a function. */
  private isCall(): boolean {
    return this.ahead(3).token === "(";
  }

  private copy(token: string): void {
    this.at++;
    if (token === "(") this.depth++;
    if (token === ")") {
      this.depth--;
      if (this.arrays.at(-1) === this.depth) {
        this.arrays.pop();
        this.out.push(") AS array_items(array_item)), make_array())");
        return;
      }
    }
    this.out.push(token);
  }

  private operator(): void {
    const { at } = this.ahead(4);
    let end = at;
    while (end < this.tokens.length && this.tokens[end] !== ")") this.out.push(this.tokens[end++] ?? "");
    this.at = end + 1;
  }

  /** Leaves a collation out that says nothing. */
  private collation(): boolean {
    const isQualified = this.follows(1, "pg_catalog", ".");
    const { token, at } = this.ahead(isQualified ? 3 : 1);
    if (!/^"?(?:default|c|posix|ucs_basic)"?$/i.test(token)) {
      this.copy(this.tokens[this.at] ?? "");
      return true;
    }
    this.at = at + 1;
    return true;
  }

  private array(): void {
    const { at } = this.ahead(1);
    this.out.push("coalesce((SELECT array_agg(array_items.array_item) FROM (");
    this.arrays.push(this.depth);
    this.depth++;
    this.at = at + 1;
  }
}

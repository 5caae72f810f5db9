/**
 * Statements of PostgreSQL's clients → what the grammar has (contract query.md 3.3). Tools qualify everything they name by `pg_catalog` and
 * cast to types of names; none of that means anything else here. Texts without such marks stay as they are, strings and comments too.
 *
 *   OPERATOR(pg_catalog.~)          ~
 *   COLLATE pg_catalog.default      nothing
 *   x::pg_catalog.text              x::text; name, "char", oid … as the types that stand for them
 *   'public.t'::regclass            the number that pg_class has for it; of what is no literal the cast is left out
 *   to_regtype(x)                   the number that pg_type has for it, or NULL
 *   roles = '{0}'                   roles = ARRAY[0]
 *   ARRAY(SELECT …)                 (SELECT array_agg(…) FROM (SELECT …) …)
 */

/** Longest text that is looked at: clients' own queries are short, and statements with data are not. */
const CHARACTERS_MAX: number = 64 * 1024;
const MARKS = /\bto_reg|\bpg_catalog\b|[=>]\s*'\{|::|\bcast\b|\boperator\s*\(|\bcollate\b|\barray\s*\(/i;

const SKIPPED = String.raw`\s+|--[^\n\r]*|\/\*[^]*?\*\/`;
const QUOTED = String.raw`[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]\w*)?\$[^]*?\$\1\$`;
const WORDS = String.raw`[\p{L}_][\p{L}\p{N}_$]*|\d[\w.]*|::|[^]`;
const TOKEN = new RegExp(`${SKIPPED}|${QUOTED}|${WORDS}`, "uy");

/** Types of names, and what stands for them. */
const TYPES: Readonly<Record<string, string>> = {
  '"char"': "STRING",
  name: "STRING",
  bpchar: "STRING",
  oid: "BIGINT",
  xid: "BIGINT",
  cid: "BIGINT",
  regproc: "STRING",
  regprocedure: "STRING",
  regoper: "STRING",
  int2vector: "STRING",
  oidvector: "STRING",
  information_schema: "STRING",
};

/** Types whose values are numbers of what a name means: where they are looked up. */
const LOOKED_UP: Readonly<Record<string, { readonly table: string; readonly name: string }>> = {
  regclass: { table: "pg_class", name: "relname" },
  regtype: { table: "pg_type", name: "typname" },
  regnamespace: { table: "pg_namespace", name: "nspname" },
  regrole: { table: "pg_roles", name: "rolname" },
};

/** Numbers of relations of `pg_catalog` that clients ask for by name; they are the same on every server. */
const RELATIONS: Readonly<Record<string, number>> = {
  pg_type: 1247,
  pg_attribute: 1249,
  pg_proc: 1255,
  pg_class: 1259,
  pg_authid: 1260,
  pg_database: 1262,
  pg_am: 2601,
  pg_attrdef: 2604,
  pg_cast: 2605,
  pg_constraint: 2606,
  pg_conversion: 2607,
  pg_description: 2609,
  pg_index: 2610,
  pg_language: 2612,
  pg_namespace: 2615,
  pg_opclass: 2616,
  pg_operator: 2617,
  pg_rewrite: 2618,
  pg_trigger: 2620,
  pg_opfamily: 2753,
  pg_extension: 3079,
  pg_collation: 3456,
  pg_enum: 3501,
};

/** An array of numbers as text. */
const NUMBERS = /^'\{((?:-?\d+(?:,-?\d+)*)?)\}'$/;

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
  /** Depths at which a CAST stands. */
  private readonly casts: number[] = [];
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
    else if (word === "cast" && this.follows(1, "(")) {
      this.casts.push(this.depth);
      this.copy(token);
    } else if (token === "::") this.cast();
    else if (word === "as" && this.isTypeAhead()) this.castAs(token);
    else if (word === "pg_catalog" && this.follows(1, ".") && this.isCall()) this.at += 2;
    else if (NUMBERS.test(token) && /[=>]$/.test(this.before())) this.numbers(token);
    else if (Object.hasOwn(LOOKED_UP, word.slice(3)) && word.startsWith("to_") && this.follows(1, "(")) this.toNumber(word.slice(3));
    else if (word === "array" && this.follows(1, "(", "select")) this.array();
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

  /** Whether `pg_catalog.x` here is a function. */
  private isCall(): boolean {
    return this.ahead(3).token === "(";
  }

  private copy(token: string): void {
    this.at++;
    if (token === "(") this.depth++;
    if (token === ")") {
      this.depth--;
      if (this.casts.at(-1) === this.depth) this.casts.pop();
      if (this.arrays.at(-1) === this.depth) {
        this.arrays.pop();
        this.out.push(") AS array_items(array_item))");
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

  private cast(): void {
    const { type, end } = this.typeAt(1);
    const looked = LOOKED_UP[type.toLowerCase()];
    if (looked !== undefined) {
      this.lookUp(looked);
      this.at = end;
      return;
    }
    this.out.push("::", TYPES[type.toLowerCase()] ?? type);
    this.at = end;
  }

  /** Whether `AS` here is of a CAST, and what follows a type. */
  private isTypeAhead(): boolean {
    return this.casts.at(-1) === this.depth - 1;
  }

  private castAs(token: string): void {
    const { type, end } = this.typeAt(1);
    const word = type.toLowerCase();
    this.out.push(token, " ", Object.hasOwn(LOOKED_UP, word) ? "BIGINT" : (TYPES[word] ?? type));
    this.at = end;
  }

  /** The type that stands there, without `pg_catalog`, and where the text goes on behind it. */
  private typeAt(count: number): { readonly type: string; readonly end: number } {
    const first = this.ahead(count);
    const isQualified = first.token.toLowerCase() === "pg_catalog" && this.ahead(count + 1).token === ".";
    const { token, at } = isQualified ? this.ahead(count + 2) : first;
    return { type: token, end: at + 1 };
  }

  /** Puts the number of what a literal names in its place; anything else stays as it is. */
  private lookUp({ table, name }: { readonly table: string; readonly name: string }): void {
    let last = this.out.length - 1;
    while (last > 0 && isBlank(this.out[last] ?? "")) last--;
    const literal = this.out[last] ?? "";
    if (!/^'(?:[^']|'')*'$/.test(literal)) return;
    const parts = literal.slice(1, -1).match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
    const own = (parts.at(-1) ?? "").replace(/^"(.*)"$/, "$1").replaceAll('""', '"');
    const number = table === "pg_class" ? RELATIONS[own] : undefined;
    if (number !== undefined || /^\d+$/.test(own)) {
      this.out[last] = number === undefined ? own : String(number);
      return;
    }
    this.out[last] = `(SELECT min(oid) FROM pg_catalog.${table} WHERE ${name} = '${own}')`;
  }

  /** `to_regtype(x)`: the number of what a text names, or NULL. */
  private toNumber(word: string): void {
    const { table, name } = LOOKED_UP[word] ?? { table: "", name: "" };
    this.at = this.ahead(1).at + 1;
    this.depth++;
    this.out.push(`(SELECT min(oid) FROM pg_catalog.${table} WHERE ${name} = `);
  }

  private array(): void {
    const { at } = this.ahead(1);
    this.out.push("(SELECT array_agg(array_items.array_item) FROM (");
    this.arrays.push(this.depth);
    this.depth++;
    this.at = at + 1;
  }
}

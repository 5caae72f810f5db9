/**
 * The syntax trees of texts that were parsed lately: dashboards and load tests send the same texts again and again, and trees never change.
 * Only queries are kept: other texts are mostly data, and may hold secrets.
 *
 * A grouped query of 36 tokens: 12 µs to parse, 0.1 µs to find (a lookup of its text).
 */
import { parseSql } from "./parse.ts";
import { type ParsePace, parseInTurns } from "./parse-in-turns.ts";
import type { Statement } from "./syntax/statement-ast.ts";

/** Texts that are kept, the latest used. With trees of at most about 100 B a character: 8 MiB. */
const TEXTS_MAX = 256;
const CHARACTERS_MAX = 2048;
/** Characters of all of them together. */
const TOTAL_CHARACTERS_MAX = 80 * 1024;

/** See the file header. */
export class ParsedTexts {
  /** Least lately used first. */
  private readonly known: Map<string, readonly Statement[]> = new Map();
  private characters = 0;

  /** As `parseSql`. The trees must not be changed. @throws DbError InvalidSyntax, Unsupported */
  parse(text: string): readonly Statement[] {
    const known = this.known.get(text);
    if (known !== undefined) {
      this.known.delete(text);
      this.known.set(text, known);
      return known;
    }
    const statements = parseSql(text);
    if (text.length <= CHARACTERS_MAX && statements.every(isQuery)) this.keep(text, statements);
    return statements;
  }

  /** As `parse`, with turns for others while a long text is parsed. @throws DbError InvalidSyntax, Unsupported; what `pace.hold` throws */
  async parseInTurns(text: string, pace: ParsePace): Promise<readonly Statement[]> {
    return text.length <= CHARACTERS_MAX ? this.parse(text) : (await parseInTurns(text, pace)).statements;
  }

  private keep(text: string, statements: readonly Statement[]): void {
    this.known.set(text, statements);
    this.characters += text.length;
    for (const oldest of this.known.keys()) {
      if (this.known.size <= TEXTS_MAX && this.characters <= TOTAL_CHARACTERS_MAX) return;
      this.known.delete(oldest);
      this.characters -= oldest.length;
    }
  }
}

function isQuery({ kind }: Statement): boolean {
  return kind === "select" || kind === "set-operation" || kind === "with";
}

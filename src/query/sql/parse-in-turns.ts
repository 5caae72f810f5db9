/**
 * SQL texts of any length → syntax trees, in steps of some milliseconds with turns for others in between. The trees and errors are those
 * of `parseSql`; of several errors the first is told.
 *
 *   text ─► slices ─► tokens ─► whole statements, and whole rows of `INSERT … VALUES` ─► trees
 *       │  (slices.ts)          (constant-lists.ts)                                      (finished-rules.ts)
 *       └─► long rows of constants behind VALUES ─► blocks
 *           (row-lists.ts)
 *
 * Other rows of a long INSERT are parsed some thousand tokens at a time, as statements of their own with the same head, and put together;
 * so tokens never pile up, which take ten times their text. Their trees are let go, and made again when the rows are inserted. What tokens
 * and trees take is counted before it is made (`syntax-size.ts`).
 */
import { paced } from "../../base/scheduler/pace.ts";
import type { IToken, TokenType } from "chevrotain";
import { assert } from "../../base/assert.ts";
import type { Expression } from "./syntax/ast.ts";
import { ConstantLists } from "./constant-lists.ts";
import { type Marks, newMarks } from "./grammar/base/finished-rules.ts";
import { checkLength, parsed, type ParsedText, parsedInSteps, preparedIn } from "./parse.ts";
import { endsSoon, RowLists, rowsToken } from "./row-lists.ts";
import { type Row, treeRows } from "./syntax/row-trees.ts";
import type { Statement } from "./syntax/statement-ast.ts";
import type { ValueRows } from "./syntax/value-rows.ts";
import type { TextPlace } from "./tokens/long-tokens.ts";
import { placeOf, slices } from "./tokens/slices.ts";
import { syntaxError } from "./tokens/syntax-error.ts";
import { type HoldBytes, SyntaxSize } from "./syntax-size.ts";
import { Comma, ConstantRows, Dot, K, LeftParen, RightParen, Semicolon } from "./tokens/token.ts";

/** Characters up to which a text is parsed at once: some milliseconds while the code is cold. */
const AT_ONCE_CHARACTERS = 2048;
/** Tokens of an INSERT that are parsed at once. */
const ROWS_TOKENS = 2048;
/**
 * Most tokens of one statement, those of INSERT's rows and of long lists of constants left out. Reason: going on where the parser stopped
 * costs some milliseconds for that many. Error: InvalidSyntax.
 */
const STATEMENT_TOKENS_MAX = 65_536;
/** Most statements of a text. Reason: each is a tree that is held until all have run. Error: InvalidSyntax. */
const STATEMENTS_MAX = 10_000;

/** Characters of computed rows that are read again when they are wanted: some milliseconds. Longer ones stay as trees. */
const READ_AGAIN_CHARACTERS = 64 * 1024;

type Rows = ValueRows<Expression>;
/** Work on a text, with a yield where others may have a turn. */
type Steps<T> = Generator<undefined, T>;

/** How a text is parsed beside other work. */
export interface ParsePace {
  /** Lets others have a turn when it is time. */
  turn(): Promise<void>;
  /** Counts what the trees of a long text take. Default: nobody counts. */
  readonly hold?: HoldBytes;
}

/** @throws DbError InvalidSyntax, Unsupported; what `hold` throws */
export function parseInTurns(text: string, pace: ParsePace): Promise<ParsedText> {
  return paced(parseInSteps(text, pace.hold), pace);
}

/** @param hold counts what tokens and trees take @throws DbError InvalidSyntax, Unsupported; what `hold` throws */
export function* parseInSteps(text: string, hold: HoldBytes = () => undefined): Steps<ParsedText> {
  if (text.length <= AT_ONCE_CHARACTERS) return parsed(text);
  const { statements, parameterCount } = yield* readInSteps(text, new SyntaxSize(hold));
  const known: Statement[] = [];
  for (const statement of statements) known.push(yield* preparedIn(statement, (inner) => parseInSteps(inner, hold)));
  return { statements: known, parameterCount };
}

function* readInSteps(text: string, size: SyntaxSize): Steps<ParsedText> {
  checkLength(text);
  size.addText(text);
  const statements = new Statements(text, size);
  const source = slices(text);
  for (let behind: TextPlace | undefined; ; ) {
    const { done, value: tokens } = source.next(behind);
    if (done === true) return yield* statements.end();
    behind = yield* statements.takeAll(tokens ?? []);
    yield;
  }
}

/** Takes tokens one by one and parses statements as they are whole. */
class Statements {
  private readonly text: string;
  private readonly size: SyntaxSize;
  private readonly marks: Marks = newMarks();
  private readonly lists: ConstantLists = new ConstantLists();
  private readonly rowLists: RowLists;
  private readonly done: Statement[] = [];
  /** Of the statement that is being read, less the rows that were parsed. */
  private tokens: IToken[] = [];
  private depth = 0;
  private hasQuery = false;
  /** Tokens up to VALUES, where the statement is an INSERT of rows. */
  private head: readonly IToken[] | undefined;
  /** The rows that were parsed, in an INSERT without the others. */
  private rows: Rows[number][] = [];
  /** Where the last comma between rows stands among `tokens`. */
  private comma = -1;

  constructor(text: string, size: SyntaxSize) {
    this.text = text;
    this.size = size;
    this.rowLists = new RowLists(text, size, this.lists);
  }

  /** Takes tokens. @returns where the text goes on, when more of it was read than these @throws DbError; what counts memory throws */
  *takeAll(tokens: readonly IToken[]): Steps<TextPlace | undefined> {
    for (const [i, token] of tokens.entries()) {
      const behind = token.tokenType === LeftParen ? yield* this.takeRows(token, tokens, i) : undefined;
      if (behind !== undefined) return behind;
      if (this.take(token)) yield* this.parse();
    }
    return undefined;
  }

  /** Reads rows of constants from the text, where they begin here and are many. @returns what follows them */
  private *takeRows(token: IToken, tokens: readonly IToken[], at: number): Steps<TextPlace | undefined> {
    const { head, rowLists } = this;
    const isInsert = head === undefined ? this.isInsertOfRows() : true;
    if (head === undefined) {
      if (!this.isBehindValues() || endsSoon(tokens, at)) return undefined;
    } else if (this.depth > 0 || this.comma !== this.tokens.length - 1 || !rowLists.isWorthATry()) return undefined;
    const found = yield* rowLists.at(placeOf(token), isInsert);
    if (found === undefined) return undefined;
    if (isInsert) {
      this.head ??= [...this.tokens];
      if (this.tokens.length > this.head.length) yield* this.endRows(this.head);
    }
    this.tokens.push(rowsToken(token, found.blocks));
    return found.behind;
  }

  /** Takes a token. @returns whether something is to be parsed @throws DbError InvalidSyntax; what counts memory throws */
  private take(token: IToken): boolean {
    const { tokens, size } = this;
    const { tokenType } = token;
    if (tokenType === LeftParen && this.depth++ === 0 && this.head === undefined && this.isInsertOfRows()) this.head = [...tokens];
    size.add(token);
    tokens.push(token);
    this.hasQuery ||= tokenType === K.SELECT || tokenType === K.WITH;
    this.lists.take(tokens);
    size.hold(tokens.length);
    if (tokens.length > STATEMENT_TOKENS_MAX) throw tooLong(token);
    if (tokenType === RightParen) this.depth--;
    else if (tokenType === Semicolon) return true;
    else if (tokenType === Comma && this.depth === 0 && this.head !== undefined) this.comma = tokens.length - 1;
    return this.head !== undefined && tokens.length >= ROWS_TOKENS + this.head.length && this.comma >= 0;
  }

  /** Whether the tokens are `INSERT INTO t [(a, b)] VALUES`. */
  private isInsertOfRows(): boolean {
    const type = this.tokens[0]?.tokenType;
    return !this.hasQuery && (type === K.INSERT || type === K.REPLACE) && this.isBehindValues();
  }

  /** Whether the last token is a VALUES that is no name of a table. */
  private isBehindValues(): boolean {
    const { tokens } = this;
    return tokens.at(-1)?.tokenType === K.VALUES && !BEFORE_NAMES.includes(tokens.at(-2)?.tokenType);
  }

  /** Parses what is whole. @throws DbError InvalidSyntax, Unsupported */
  private *parse(): Steps<void> {
    const { tokens, head } = this;
    if (head === undefined || tokens.at(-1)?.tokenType === Semicolon) yield* this.endStatement();
    else yield* this.endRows(head);
    yield;
  }

  /** All statements. @throws DbError InvalidSyntax, Unsupported */
  *end(): Steps<ParsedText> {
    yield* this.endStatement();
    return { statements: this.done, parameterCount: this.marks.parameterCount };
  }

  private *endStatement(): Steps<void> {
    const { tokens, rows, text, done, marks } = this;
    this.tokens = [];
    this.rows = [];
    this.head = undefined;
    this.comma = -1;
    this.depth = 0;
    this.hasQuery = false;
    this.rowLists.begin();
    for (const statement of yield* parsedInSteps(text, tokens, marks)) {
      if (done.length >= STATEMENTS_MAX) throw tooMany(statement);
      done.push(rows.length === 0 ? statement : withRows(statement, rows));
    }
  }

  /** Parses the rows before the last comma. */
  private *endRows(head: readonly IToken[]): Steps<void> {
    const { tokens, comma, text, marks, size } = this;
    const rest = tokens.splice(comma);
    const parametersBefore = marks.parameterCount;
    const [statement] = yield* parsedInSteps(text, tokens, marks);
    const first = tokens[head.length]?.tokenType === ConstantRows ? tokens[head.length + 2] : tokens[head.length];
    const from = first?.startOffset ?? 0;
    const to = rest[0]?.startOffset ?? 0;
    const mayReadAgain = marks.parameterCount === parametersBefore && to - from <= READ_AGAIN_CHARACTERS;
    for (const block of rowsOf(statement)) this.rows.push(block.kind === "trees" && mayReadAgain ? unread(block, text, from, to) : block);
    if (mayReadAgain) size.forget(tokens.slice(head.length));
    this.tokens = [...head, ...rest.slice(1)];
    this.comma = -1;
  }
}

const BEFORE_NAMES: readonly (TokenType | undefined)[] = [K.INTO, K.TABLE, Dot];

function rowsOf(statement: Statement | undefined): Rows {
  assert(statement?.kind === "insert" && statement.source.kind === "values", "INSERT … VALUES is an INSERT of rows");
  return statement.source.rows;
}

/** An INSERT with other rows before its own. */
function withRows(statement: Statement, rows: Rows[number][]): Statement {
  for (const block of rowsOf(statement)) rows.push(block);
  assert(statement.kind === "insert", "what has rows is an INSERT");
  return { ...statement, source: { kind: "values", rows } };
}

/** Rows of `text` that were parsed, without their trees. */
function unread({ rows }: Extract<Rows[number], { kind: "trees" }>, text: string, from: number, to: number): Rows[number] {
  const read = (): readonly Row[] => {
    const [statement] = parsed(`INSERT INTO t VALUES ${text.slice(from, to)}`).statements;
    return [...treeRows(rowsOf(statement))];
  };
  return { kind: "unread", rowCount: rows.length, read };
}

function tooLong({ startLine = 1, startColumn = 1 }: IToken): Error {
  const why = `a statement has more than ${STATEMENT_TOKENS_MAX} words, names and signs, lists of constants and rows of INSERT left out`;
  return syntaxError(`${why}; split it, or put values into a table`, { line: startLine, column: startColumn });
}

function tooMany({ span }: Statement): Error {
  return syntaxError(`the text has more than ${STATEMENTS_MAX} statements; send several texts`, { line: span.line, column: span.column });
}

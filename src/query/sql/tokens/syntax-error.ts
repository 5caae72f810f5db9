/**
 * What a client is told when a text does not parse: what was found, the few things expected there, and where. Constructs that are known
 * but not served yet answer Unsupported with their name instead of a puzzling syntax error.
 */
import {
  EOF,
  type ILexingError,
  type IParserErrorMessageProvider,
  type IRecognitionException,
  type IToken,
  type TokenType,
} from "chevrotain";
import { DbError, type TextPosition } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { isReserved } from "../syntax/keywords.ts";
import { BadNumber, KEYWORDS, K, LeftBracket, LeftParen, Name, Semicolon, Unterminated } from "./token.ts";

/** Text of the statement quoted in an error is cut at this many characters. */
const QUOTE_CHARACTERS_MAX = 80;

/** An error lists at most this many things that could have stood there. */
const EXPECTED_MAX = 4;

/** Where a token begins; the end of the text for its end mark. */
export function positionOf(token: IToken, text: string): TextPosition {
  const { startLine, startColumn } = token;
  if (token.tokenType === EOF || startLine === undefined || startColumn === undefined || Number.isNaN(startLine)) return endOf(text);
  return { line: startLine, column: startColumn };
}

/** Where a text ends, trailing blanks left out. */
function endOf(text: string): TextPosition {
  const trimmed = text.trimEnd();
  let [line, behind] = [1, 0];
  for (const { index, 0: found } of trimmed.matchAll(/\r\n|\r|\n/g)) {
    line++;
    behind = index + found.length;
  }
  return { line, column: trimmed.length - behind + 1 };
}

/** A syntax error: `Invalid SQL syntax: <why> at Line: 1, Column: 8`. */
export function syntaxError(why: string, { line, column }: TextPosition, language: "SQL" | "TQL" = "SQL"): DbError {
  const message = `Invalid ${language} syntax: ${why} at Line: ${line}, Column: ${column}`;
  return new DbError(StatusCode.InvalidSyntax, message, { details: { position: { line, column } } });
}

/** A construct that is understood but not served: `SQL construct is not supported: <name> at Line: 1, Column: 8`. */
export function unsupported(construct: string, { line, column }: TextPosition): DbError {
  const message = `SQL construct is not supported: ${construct} at Line: ${line}, Column: ${column}`;
  return new DbError(StatusCode.Unsupported, message, { details: { position: { line, column } } });
}

/** Text for an error, on one line and cut. */
export function quote(text: string): string {
  const line = text.slice(0, 2 * QUOTE_CHARACTERS_MAX).replace(/\s+/g, " ");
  return line.length > QUOTE_CHARACTERS_MAX ? `'${line.slice(0, QUOTE_CHARACTERS_MAX)}…'` : `'${line}'`;
}

/** Where the parser stopped: the token it could not use, the one before it, and the rule it was in. */
interface Place {
  readonly token: IToken;
  readonly previous: IToken | undefined;
  readonly rule: string;
}

/** The parser's name of the error of tokens behind the end of a statement. */
const NOT_ALL_PARSED = "NotAllInputParsedException";
const A_STATEMENT = "a statement";

const labelOf = (type: TokenType): string => type.LABEL ?? type.name;

/** Messages of the parser are only the "expected" half; `fromRecognition` adds the rest. */
export const expectedProvider: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected }) => labelOf(expected),
  buildNotAllInputParsedMessage: () => "the end of the statement",
  buildNoViableAltMessage: ({ expectedPathsPerAlt, customUserDescription }) => customUserDescription ?? firstOf(expectedPathsPerAlt.flat()),
  buildEarlyExitMessage: ({ expectedIterationPaths, customUserDescription }) => customUserDescription ?? firstOf(expectedIterationPaths),
};

function firstOf(paths: TokenType[][]): string {
  const labels = [...new Set(paths.flatMap((path) => (path[0] === undefined ? [] : [labelOf(path[0])])))];
  if (labels.length > EXPECTED_MAX) return `${labels.slice(0, EXPECTED_MAX).join(", ")} or others`;
  return labels.length < 2 ? labels.join("") : `${labels.slice(0, -1).join(", ")} or ${labels.at(-1)}`;
}

/** Turns the parser's complaint into the error that the client sees. */
export function fromRecognition(error: IRecognitionException, tokens: readonly IToken[], text: string): DbError {
  const at = error.token.tokenType === EOF ? tokens.length : tokens.indexOf(error.token);
  const place: Place = { token: error.token, previous: tokens[at - 1], rule: error.context.ruleStack.at(-1) ?? "" };
  const position = positionOf(place.token, text);
  const { token, rule } = place;
  const refused = statementOf(place, position) ?? constructOf(place, position);
  if (refused !== undefined) return refused;
  const isBehindEnd = error.name === NOT_ALL_PARSED;
  const expected = isBehindEnd && beginsStatement(place) ? A_STATEMENT : error.message;
  const language = error.context.ruleStack.includes("tql") ? "TQL" : "SQL";
  if (token.tokenType === EOF) return syntaxError(`the text ends too early, expected ${expected}`, position, language);
  if (token.tokenType === Unterminated) return syntaxError(`${unterminatedName(token.image)} is not closed`, position, language);
  if (token.tokenType === BadNumber) return syntaxError(`${quote(token.image)} is neither a number nor a name`, position, language);
  const found = quote(token.image);
  if (wantsName(place, expected) && isReserved(token.image.toLowerCase())) {
    if (place.rule.startsWith("tableItem")) {
      return syntaxError(`Cannot use keyword ${found} as column name. Hint: add quotes to the name.`, position);
    }
    return syntaxError(`cannot use keyword ${found} as a name; add quotes to it`, position);
  }
  // What stands where a statement ends or begins is a statement that is not known, not a known one gone wrong.
  if (isBehindEnd) return unsupportedWord(`${found}, expected ${expected}`, position);
  if (rule === "createTable" && token.tokenType === K.EXISTS) return unsupportedWord(`${found}, expected IF NOT EXISTS`, position);
  return syntaxError(`found ${found}, expected ${expected}`, position, language);
}

/** Whether a name, for instance that of a column, should have stood there. */
function wantsName({ previous, rule }: Place, expected: string): boolean {
  return expected === labelOf(Name) || rule === "tableItem" || (rule === "tableItems" && previous?.tokenType === LeftParen);
}

/** Turns a character that begins no token into an error. */
export function fromLexing(error: ILexingError, tokens: readonly IToken[], text: string): DbError {
  const first = tokens[0];
  const refused = first && statementOf({ token: first, previous: undefined, rule: "statement" }, positionOf(first, text));
  if (refused !== undefined) return refused;
  const position = { line: error.line ?? 1, column: error.column ?? 1 };
  return syntaxError(`found ${quote(text.slice(error.offset, error.offset + 1))}, which begins no SQL token`, position);
}

function unterminatedName(image: string): string {
  if (image.startsWith("/*")) return "a comment";
  return /^["`]/.test(image) ? `the quoted name ${quote(image)}` : `the string ${quote(image)}`;
}

/** First words of statements that are known but not served. */
const STATEMENTS: ReadonlySet<string> = new Set(
  (
    "analyze begin call commit end grant lock merge optimize reset revoke rollback savepoint start unlock values vacuum with " +
    "abort do table"
  ).split(" "),
);

/** What may follow CREATE, DROP and SHOW elsewhere but not here yet. */
const OBJECTS: ReadonlyMap<TokenType, ReadonlySet<string>> = new Map([
  [K.ALTER, new Set(["flow"])],
  [K.CREATE, new Set("function index materialized role sequence temp temporary trigger user".split(" "))],
  [K.DROP, new Set("function index role trigger user".split(" "))],
  [
    K.SHOW,
    new Set(
      "binlog engine errors events extended function grants master plugins privileges procedure profiles slave triggers warnings".split(
        " ",
      ),
    ),
  ],
]);

/** What CREATE OR REPLACE makes elsewhere. */
const REPLACED: ReadonlySet<string> = new Set(["function", "table", "trigger"]);

function beginsStatement({ previous }: Place): boolean {
  return previous === undefined || previous.tokenType === Semicolon;
}

function statementOf(place: Place, position: TextPosition): DbError | undefined {
  const { token, previous, rule } = place;
  const word = token.image.toLowerCase();
  if (previous === undefined || beginsStatement(place)) return STATEMENTS.has(word) ? unsupportedStatement(word, position) : undefined;
  if (rule === "createReplacing" && previous.tokenType === K.REPLACE && REPLACED.has(word)) {
    return unsupportedStatement(`CREATE OR REPLACE ${word}`, position);
  }
  const opener = previous.tokenType === K.FULL ? K.SHOW : previous.tokenType;
  if (OBJECTS.get(opener)?.has(word) !== true) return undefined;
  const before = rule === "showCreate" || previous.tokenType === K.FULL ? "SHOW " : "";
  return unsupportedStatement(`${before}${previous.image} ${word}`, position);
}

function unsupportedStatement(words: string, position: TextPosition): DbError {
  return unsupportedWord(words.toUpperCase(), position);
}

function unsupportedWord(words: string, { line, column }: TextPosition): DbError {
  const message = `SQL statement is not supported, keyword: ${words} at Line: ${line}, Column: ${column}`;
  return new DbError(StatusCode.Unsupported, message, { details: { position: { line, column } } });
}

/** Words at which a construct begins that is known but not served. */
const CONSTRUCTS: ReadonlyMap<TokenType, string> = new Map<TokenType, string>([
  ...(["JOIN", "INNER", "CROSS", "NATURAL", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"] as const).map((word) => [K[word], "JOIN"] as const),
  ...(["UNION", "INTERSECT", "EXCEPT"] as const).map((word) => [K[word], word] as const),
  [K.FOR, "FOR clause"],
  [K.EXISTS, "EXISTS (sub-query)"],
]);

function constructOf({ token, previous, rule }: Place, position: TextPosition): DbError | undefined {
  const type = token.tokenType;
  const word = token.image.toLowerCase();
  if (rule === "createTable" || rule === "tableDefinition" || rule === "tableItems") {
    if (type === LeftBracket) return unsupported("array type", position);
    return undefined;
  }
  if (rule === "alterTable" && ["split", "merge", "repartition", "partition"].includes(word)) {
    return unsupported("partitions of a table that exists, since one machine has one region a table", position);
  }
  if (previous?.tokenType === LeftParen && (type === K.SELECT || type === K.WITH)) return unsupported("sub-query", position);
  if (previous?.tokenType === K.FROM && type === LeftParen) return unsupported("sub-query", position);
  if (previous?.image === "-" && /^>>?$/.test(token.image))
    return unsupported(`operator -${token.image}; json_get(j, path) and its kin read members of JSON`, position);
  if (previous?.tokenType === K.DISTINCT && type === K.ON) return unsupported("DISTINCT ON", position);
  // A name was wanted, so the word is a name that needs quotes rather than a construct.
  if (rule === "objectName" && KEYWORDS.has(word)) return undefined;
  if (type === K.EXISTS && previous?.image.toLowerCase() === "if") return unsupported("IF EXISTS in this place", position);
  const construct = CONSTRUCTS.get(type);
  return construct === undefined ? undefined : unsupported(construct, position);
}

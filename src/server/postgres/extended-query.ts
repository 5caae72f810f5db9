/**
 * The extended protocol: statements that are parsed once, bound to values as portals, described, and run, as many rows at a time as asked
 * for. Named ones stay until they are closed; the one without a name until the next.
 *
 *   Parse ─► Prepared ──Bind (values)──► Portal ──Execute──► rows … suspended ──Execute──► rows … done
 *              └─Describe: parameters, columns    └─Describe: columns, by beginning to run it where only that tells
 *
 * Portals end with the Sync that ends their transaction.
 */
import { DbError } from "../../base/error.ts";
import { Pace, paced } from "../../base/scheduler/pace.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import type { RowsAtOnce } from "../../db/db.ts";
import { KeptStatements, PREPARED_MAX } from "../../query/kept-statements.ts";
import type { ParameterValue, PreparedQuery } from "../../query/prepared-query.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { RowStream } from "../wire/cells/row-stream.ts";
import { splitStatements } from "../wire/split-statements.ts";
import type { StatementRun } from "../wire/wire-session.ts";
import { withHexLiterals } from "./bytea-literals.ts";
import { beginMessage, endMessage, MalformedMessage, type MessageReader, tell, tellText } from "./codec.ts";
import { affectedTag, rowsTag } from "./command-tag.ts";
import { copyIn } from "./copy/copy-in.ts";
import { copyOut } from "./copy/copy-out.ts";
import type { CopyStatement } from "./copy/copy-syntax.ts";
import { answerOwn, columnsOf, endsTransaction, type PlainStatement } from "./own-answers.ts";
import { ownStatement } from "./own-statements.ts";
import { Tell, TransactionState } from "./packets.ts";
import { parameterValue } from "./parameter-values.ts";
import { describeRows, Format, rowsAs, rowStream, writeRowsAtOnce } from "./results.ts";
import type { SimpleParts } from "./simple-query.ts";
import { WireFailure } from "./errors.ts";
import type { Talk } from "./talk.ts";
import { Oid, oidOf, parameterType } from "./types.ts";

/** Most portals of a connection. Reason: each holds what its statement holds. Error: 53000. */
const PORTALS_MAX = 256;
/** Letters of Describe and Close. */
const STATEMENT = 0x53; // 'S'
const PORTAL = 0x50; // 'P'

/** A statement that was parsed. */
type Prepared =
  | { readonly kind: "empty" }
  | { readonly kind: "own"; readonly statement: PlainStatement | CopyStatement; readonly text: string }
  | { readonly kind: "query"; readonly query: PreparedQuery; readonly text: string; readonly oids: readonly number[] };

/** What runs of a portal. */
interface Running {
  readonly results: AsyncIterator<StatementResult>;
  readonly result: StatementResult;
  readonly rows: RowStream | undefined;
  readonly run: StatementRun;
}

/** A statement with its values. */
interface Portal {
  readonly prepared: Prepared;
  readonly values: readonly ParameterValue[];
  readonly formats: readonly Format[];
  /** Of its values, which the connection's memory keeps. */
  readonly bytes: number;
  running: Running | undefined;
  /** Its rows, where they were read at once to describe them. */
  atOnce: RowsAtOnce | undefined;
  /** Rows that were sent, once it has none any more. */
  isDone: boolean;
}

/** Kinds of statements that give rows; their columns are told by what they give where planning does not tell. */
const GIVES_ROWS = /^(?:select|set-operation|values-query|with|tql|explain|fetch|describe|admin|show-.*)$/;

/** See the file header. */
export class ExtendedQuery {
  private readonly talk: Talk;
  private readonly parts: SimpleParts;
  private readonly prepared: KeptStatements<string, Prepared>;
  private readonly portals: Map<string, Portal> = new Map();

  constructor(talk: Talk, parts: Pick<SimpleParts, "input">) {
    this.talk = talk;
    this.prepared = new KeptStatements(talk.session.memory);
    this.parts = { input: parts.input, deallocate: (name) => this.deallocate(name) };
  }

  /** The text that was parsed last. */
  parsedText = "";

  /** What a simple query needs of it. */
  get forSimple(): SimpleParts {
    return this.parts;
  }

  /** Parse. @throws WireFailure, DbError */
  async parse(reader: MessageReader): Promise<void> {
    const name = reader.text();
    const text = await paced(withHexLiterals(reader.text()), new Pace(this.talk.parts.scheduler));
    this.parsedText = text;
    const oids = Array.from({ length: reader.count(4) }, () => reader.u32());
    reader.end();
    if (name === "") this.prepared.delete(name);
    else if (this.prepared.has(name)) throw new WireFailure("42P05", `prepared statement "${shown(name)}" already exists`);
    if (this.prepared.size >= PREPARED_MAX)
      throw new WireFailure("53000", `cannot prepare a statement: a connection holds ${PREPARED_MAX} at most; close some`);
    const prepared = await this.understood(text, oids);
    this.talk.metrics.prepared.inc({ db: this.talk.session.database });
    if (!this.prepared.set(name, prepared, text))
      throw new WireFailure("53200", "out of memory: this connection's prepared statements hold too much; close some (memory.limit)");
    tell(this.talk.outgoing, Tell.ParseComplete);
  }

  private async understood(text: string, given: readonly number[]): Promise<Prepared> {
    const { session, parts } = this.talk;
    const statements = await paced(splitStatements(text), new Pace(parts.scheduler));
    const [only] = statements;
    if (only === undefined) return { kind: "empty" };
    if (statements.length > 1) throw new WireFailure("42P14", "cannot insert multiple commands into a prepared statement");
    const statement = text.slice(only.start, only.end);
    const own = ownStatement(statement);
    this.talk.checkTransaction(own !== undefined && endsTransaction(own));
    if (own !== undefined && own.kind !== "instead") return { kind: "own", statement: own, text: statement };
    const run = session.begin();
    try {
      const query = await parts.db.prepare(own?.text ?? text, session);
      const count = Math.max(query.parameters.length, given.length);
      const oids = Array.from({ length: count }, (_, i) => parameterOid(given[i] ?? 0, query, i));
      return { kind: "query", query, text: statement, oids };
    } finally {
      run.pause();
    }
  }

  /** Bind. @throws WireFailure, DbError, MalformedMessage */
  bind(reader: MessageReader): Promise<void> | undefined {
    const portalName = reader.text();
    const name = reader.text();
    const prepared = this.preparedNamed(name);
    const formats = readFormats(reader);
    const count = reader.count(4);
    const oids = prepared.kind === "query" ? prepared.oids : [];
    if (count !== oids.length) {
      const why = `bind message supplies ${count} parameters, but prepared statement "${shown(name)}" requires ${oids.length}`;
      throw new WireFailure("08P01", why);
    }
    if (formats.length > 1 && formats.length !== count) throw new MalformedMessage(`bind message has ${formats.length} parameter formats`);
    const { timeZone } = this.talk.session;
    const values = oids.map((oid, i): ParameterValue => {
      const format = formats.length === 1 ? (formats[0] ?? Format.Text) : (formats[i] ?? Format.Text);
      return parameterValue({ oid, format, bytes: reader.value() }, timeZone);
    });
    const resultFormats = readFormats(reader);
    reader.end();
    this.talk.checkTransaction(prepared.kind === "own" && endsTransaction(prepared.statement));
    const closed = this.closePortal(portalName);
    const portal = { prepared, values, formats: resultFormats, bytes: reader.length, running: undefined, atOnce: undefined, isDone: false };
    if (closed !== undefined) return closed.then(() => this.keepPortal(portalName, portal));
    this.keepPortal(portalName, portal);
    return undefined;
  }

  private keepPortal(name: string, portal: Portal): void {
    if (this.portals.size >= PORTALS_MAX) throw new WireFailure("53000", `cannot bind: a connection has ${PORTALS_MAX} portals at most`);
    if (!this.talk.session.memory.keep(portal.bytes))
      throw new WireFailure("53200", "out of memory: there is no room for the values of this portal (memory.limit); close some");
    this.portals.set(name, portal);
    tell(this.talk.outgoing, Tell.BindComplete);
  }

  /** Describe. @throws WireFailure, DbError */
  async describe(reader: MessageReader): Promise<void> {
    const what = reader.u8();
    const name = reader.text();
    reader.end();
    const { outgoing } = this.talk;
    if (what === STATEMENT) {
      const prepared = this.preparedNamed(name);
      const oids = prepared.kind === "query" ? prepared.oids : [];
      const columns = await this.columnsOfStatement(prepared);
      const place = beginMessage(outgoing, Tell.ParameterDescription);
      outgoing.u16be(oids.length);
      for (const oid of oids) outgoing.i32be(oid);
      endMessage(outgoing, place);
      describeRows(outgoing, columns, []);
    } else if (what === PORTAL) {
      // A cursor of SQL is a portal too, which drivers ask about.
      const cursor = this.portals.has(name) ? undefined : this.talk.session.connection.cursors.get(name);
      if (cursor !== undefined) return describeRows(outgoing, cursor.headers, []);
      const portal = this.portalNamed(name);
      describeRows(outgoing, await this.columnsOfPortal(portal), portal.formats);
    } else throw new MalformedMessage(`invalid DESCRIBE message subtype ${what}`);
  }

  /** Execute. @throws WireFailure, DbError */
  execute(reader: MessageReader): Promise<void> | undefined {
    const name = reader.text();
    const rowsMax = reader.i32();
    reader.end();
    const portal = this.portalNamed(name);
    const began = this.talk.parts.clock.monotonicMillis();
    const { database } = this.talk.session;
    if (!this.runAtOnce(portal, rowsMax)) return this.run(portal, Math.max(0, rowsMax)).then(() => this.timed(began, database));
    this.timed(began, database);
    return undefined;
  }

  private timed(began: number, db: string): void {
    const seconds = (this.talk.parts.clock.monotonicMillis() - began) / 1000;
    this.talk.metrics.querySeconds.observe({ subprotocol: "extended", db }, seconds);
  }

  /** Tells all rows of a portal without a promise; false: it has to be run. */
  private runAtOnce(portal: Portal, rowsMax: number): boolean {
    const { outgoing, session, forms } = this.talk;
    if (portal.isDone || portal.running !== undefined) return false;
    const answer = this.atOnce(portal);
    if (answer === undefined || (rowsMax > 0 && answer.batch.rowCount >= rowsMax)) return false;
    portal.atOnce = undefined;
    const form = forms.of(answer.headers, portal.formats, session.settings, outgoing);
    writeRowsAtOnce(answer.batch, form, outgoing);
    portal.isDone = true;
    tellText(outgoing, Tell.CommandComplete, `SELECT ${answer.batch.rowCount}`);
    return true;
  }

  /** The rows of a portal, where they can be read at once. */
  private atOnce(portal: Portal): RowsAtOnce | undefined {
    const { prepared, values } = portal;
    if (prepared.kind !== "query" || portal.running !== undefined) return undefined;
    portal.atOnce ??= this.talk.parts.db.executeAtOnce(prepared.query, values, this.talk.session);
    return portal.atOnce;
  }

  /** Close: what is not there is closed. @throws MalformedMessage */
  async close(reader: MessageReader): Promise<void> {
    const what = reader.u8();
    const name = reader.text();
    reader.end();
    if (what === STATEMENT) this.prepared.delete(name);
    else if (what === PORTAL) await this.closePortal(name);
    else throw new MalformedMessage(`invalid CLOSE message subtype ${what}`);
    tell(this.talk.outgoing, Tell.CloseComplete);
  }

  /** Sync, and the end of a failed round: portals end unless a transaction keeps them. */
  sync(): Promise<void> | undefined {
    return this.talk.transaction === TransactionState.Open ? undefined : this.closePortals();
  }

  /** Whether there are portals. */
  get hasPortals(): boolean {
    return this.portals.size > 0;
  }

  /** Ends all portals; a promise where one of them runs. */
  closePortals(): Promise<void> | undefined {
    const running: Promise<void>[] = [];
    for (const name of this.portals.keys()) {
      const closed = this.closePortal(name);
      if (closed !== undefined) running.push(closed);
    }
    return running.length === 0 ? undefined : Promise.all(running).then(() => undefined);
  }

  private async deallocate(name: string | undefined): Promise<void> {
    if (name === undefined) this.prepared.clear();
    else if (!this.prepared.delete(name)) throw noStatement(name);
  }

  private preparedNamed(name: string): Prepared {
    const prepared = this.prepared.get(name);
    if (prepared === undefined) throw noStatement(name);
    return prepared;
  }

  private portalNamed(name: string): Portal {
    const portal = this.portals.get(name);
    if (portal === undefined) throw new WireFailure("34000", `portal "${shown(name)}" does not exist`);
    return portal;
  }

  private closePortal(name: string): Promise<void> | undefined {
    const portal = this.portals.get(name);
    if (portal === undefined) return undefined;
    this.portals.delete(name);
    this.talk.session.memory.release(portal.bytes);
    return portal.running === undefined ? undefined : endRun(portal);
  }

  /** Columns as far as they are known before there are values. */
  private async columnsOfStatement(prepared: Prepared): Promise<readonly ColumnHeader[] | undefined> {
    if (prepared.kind !== "query") return ownColumns(prepared);
    const { query, oids } = prepared;
    if (!GIVES_ROWS.test(query.statement.kind)) return undefined;
    if (query.columns !== undefined && query.columns.every(({ type }) => type.kind !== "null")) return query.columns;
    if (query.statement.kind === "admin" || query.statement.kind === "fetch") return query.columns;
    if (query.statement.kind === "explain" && query.statement.analyze) return query.columns;
    // Planned with NULLs of the types that the client gave. Nothing is read of it.
    const values = oids.map((oid): ParameterValue => ({ type: parameterType(oid) ?? { kind: "null" }, value: undefined }));
    const trial: Portal = { prepared, values, formats: [], bytes: 0, running: undefined, atOnce: undefined, isDone: false };
    try {
      return (await this.begun(trial)).rows?.headers;
    } catch (thrown) {
      // The values will tell.
      if (!(thrown instanceof DbError) || thrown.code === StatusCode.Internal || oids.length === 0) throw thrown;
      return query.columns;
    } finally {
      await endRun(trial);
    }
  }

  private async columnsOfPortal(portal: Portal): Promise<readonly ColumnHeader[] | undefined> {
    const { prepared } = portal;
    if (prepared.kind !== "query") return ownColumns(prepared);
    if (!GIVES_ROWS.test(prepared.query.statement.kind)) return undefined;
    const headers = this.atOnce(portal)?.headers;
    return headers ?? (await this.begun(portal)).rows?.headers;
  }

  /** Begins to run a portal, unless it has begun. */
  private async begun(portal: Portal): Promise<Running> {
    const { prepared, values, formats } = portal;
    if (portal.running !== undefined) return portal.running;
    portal.atOnce = undefined;
    if (prepared.kind !== "query") throw new WireFailure("XX000", "a portal without a query was run as one");
    const { session, parts } = this.talk;
    const run = session.begin();
    try {
      const results = parts.db.execute(prepared.query, values, session)[Symbol.asyncIterator]();
      const { done, value: result } = await results.next();
      if (done === true) throw new DbError(StatusCode.Internal, "a statement gave no result");
      const rows = result.kind === "rows" ? rowStream(result, formats, session.settings) : undefined;
      portal.running = { results, result, rows, run };
      return portal.running;
    } finally {
      run.pause();
    }
  }

  private async run(portal: Portal, rowsMax: number): Promise<void> {
    const { prepared } = portal;
    const { outgoing } = this.talk;
    if (prepared.kind === "empty") tell(outgoing, Tell.EmptyQuery);
    else if (prepared.kind === "own") await this.runOwn(prepared.statement, prepared.text, portal);
    else await this.runQuery(portal, prepared.text, rowsMax);
  }

  private async runQuery(portal: Portal, text: string, rowsMax: number): Promise<void> {
    const { outgoing, parts } = this.talk;
    if (portal.isDone) {
      tellText(outgoing, Tell.CommandComplete, rowsTag(text, 0));
      return;
    }
    const { result, rows, run } = await this.begun(portal);
    run.resume();
    try {
      if (rows === undefined || result.kind === "affected") {
        const rowCount = result.kind === "affected" ? result.rowCount : 0;
        await endRun(portal);
        this.talk.notices();
        tellText(outgoing, Tell.CommandComplete, affectedTag(text, rowCount));
        portal.isDone = true;
        return;
      }
      const sent = await rows.send({ outgoing, scheduler: parts.scheduler }, run.signal, rowsMax, rowsAs(Tell.DataRow));
      if (sent.hasMore) {
        tell(outgoing, Tell.PortalSuspended);
        return;
      }
      portal.isDone = true;
      await endRun(portal);
      this.talk.notices();
      tellText(outgoing, Tell.CommandComplete, rowsTag(text, sent.rowCount));
    } finally {
      run.pause();
    }
  }

  private async runOwn(statement: PlainStatement | CopyStatement, text: string, portal: Portal): Promise<void> {
    const { talk } = this;
    this.talk.checkTransaction(endsTransaction(statement));
    if (statement.kind === "copy")
      return statement.direction === "to" ? copyOut(statement, talk) : copyIn(statement, text, talk, this.parts.input);
    const answer = await answerOwn(statement, talk, this.parts);
    talk.notices();
    if (answer.kind === "rows") {
      const rows = rowStream(answer, portal.formats, talk.session.settings);
      await rows.send({ outgoing: talk.outgoing, scheduler: talk.parts.scheduler }, new AbortController().signal, 0, rowsAs(Tell.DataRow));
    }
    tellText(talk.outgoing, Tell.CommandComplete, answer.tag);
  }
}

/** Ends what a portal runs. */
async function endRun(portal: Portal): Promise<void> {
  const { running } = portal;
  portal.running = undefined;
  if (running === undefined) return;
  await running.rows?.close();
  await running.results.return?.();
}

function ownColumns(prepared: Exclude<Prepared, { kind: "query" }>): readonly ColumnHeader[] | undefined {
  if (prepared.kind === "empty") return undefined;
  const { statement } = prepared;
  return statement.kind === "copy" ? undefined : columnsOf(statement);
}

function readFormats(reader: MessageReader): readonly Format[] {
  return Array.from({ length: reader.count(2) }, () => {
    const format = reader.i16();
    if (format === Format.Text || format === Format.Binary) return format;
    throw new WireFailure("22023", `unsupported format code: ${format}`);
  });
}

/** The type that the client gave, or the one that the placeholder's place asks for; text where that tells none. */
function parameterOid(given: number, { parameters }: PreparedQuery, i: number): number {
  if (given !== 0 && given !== Oid.Unknown) return given;
  const type = parameters[i];
  if (type === undefined || type.kind === "null") return Oid.Text;
  if (type.kind === "string") return Oid.Text;
  return parameterType(oidOf(type)) === undefined ? Oid.Text : oidOf(type);
}

const noStatement = (name: string): WireFailure => new WireFailure("26000", `prepared statement "${shown(name)}" does not exist`);
const shown = (name: string): string => name.slice(0, 80);

/**
 * What runs, as users see and end it: in this process and, in a cluster, at the other frontends. Who may not read and write sees and ends
 * statements of its own, wherever they run: the frontend that is asked decides, and tells the others whose they have to be.
 *
 *   KILL 'frontend-1/17' ─► here? RunningStatements : that frontend
 *   KILL 17              ─► here
 */
import { DbError, invalidArguments } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { warn } from "../query/connection.ts";
import type { RunningStatement } from "../query/system-facts.ts";
import type { OtherFrontends } from "./other-frontends.ts";
import type { KillOutcome, RunningStatements } from "./running-statements.ts";
import type { Session } from "./session.ts";

/** Ids of statements of frontends; a number alone is one of this process. */
const ID = /^([\w-]{1,64})\/\d{1,15}$/;
/** Characters of an id, or names of frontends, that a message quotes. */
const QUOTED_CHARACTERS_MAX = 20;
const NAMES_QUOTED_MAX = 8;

/** See the file header. */
export class KnownStatements {
  private readonly running: RunningStatements;
  private readonly others: OtherFrontends | undefined;
  private readonly onKilled: () => void;

  /** @param others undefined: this process is no part of a cluster @param onKilled called for each that is ended here */
  constructor(running: RunningStatements, others: OtherFrontends | undefined, onKilled: () => void) {
    this.running = running;
    this.others = others;
    this.onKilled = onKilled;
  }

  /** Oldest first. What is missing is a warning of the session's connection. @throws DbError Cancelled */
  list(session: Session, signal: AbortSignal): readonly RunningStatement[] | Promise<readonly RunningStatement[]> {
    const of = ownerOf(session);
    return this.others === undefined ? this.listHere(of) : this.listAll(this.others, of, session, signal);
  }

  /** Ends a statement; false when there is none of that id. @throws DbError as `SystemFacts.kill` */
  kill(id: string, session: Session, signal: AbortSignal): boolean | Promise<boolean> {
    const of = ownerOf(session);
    const frontend = ID.exec(id)?.[1];
    if (this.others === undefined || frontend === this.others.self || /^\d{1,15}$/.test(id)) return isKilled(this.killHere(id, of), id);
    return this.killElsewhere(this.others, frontend, id, of, signal);
  }

  /** Those of this process, oldest first. @param of the account whose they are; undefined: all */
  listHere(of: string | undefined): readonly RunningStatement[] {
    return this.running.list(of);
  }

  /** Ends one of this process. @param of the account that may end its own only; undefined: any */
  killHere(id: string, of: string | undefined): KillOutcome {
    const outcome = this.running.kill(id, of);
    if (outcome === "killed") this.onKilled();
    return outcome;
  }

  private async listAll(
    others: OtherFrontends,
    of: string | undefined,
    { connection }: Session,
    signal: AbortSignal,
  ): Promise<readonly RunningStatement[]> {
    const elsewhere = await others.list(of, signal);
    if (connection !== undefined) for (const gap of elsewhere.gaps) warn(connection, gap);
    return [...this.listHere(of), ...elsewhere.statements].sort((one, other) => one.startMillis - other.startMillis);
  }

  private async killElsewhere(
    others: OtherFrontends,
    frontend: string | undefined,
    id: string,
    of: string | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const names = others.names();
    if (frontend !== undefined && names.includes(frontend)) return isKilled(await others.kill(frontend, id, of, signal), id);
    if (of !== undefined) throw notYours(id);
    const what = `cannot kill statement ${JSON.stringify(quoted(id))}`;
    if (frontend === undefined) throw invalidArguments(`${what}: ids are as "${others.self}/17", as SHOW PROCESSLIST lists them`);
    throw invalidArguments(`${what}: no frontend ${frontend} lives; there are ${namesText([others.self, ...names])}`);
  }
}

/** The account whose statements a session may see and end; undefined: all. */
function ownerOf({ user }: Session): string | undefined {
  return user.mode === "rw" ? undefined : user.name;
}

function isKilled(outcome: KillOutcome, id: string): boolean {
  if (outcome === "denied") throw notYours(id);
  return outcome === "killed";
}

function notYours(id: string): DbError {
  const why = "you have no statement of that id; to end those of others takes an account that may read and write";
  return new DbError(StatusCode.PermissionDenied, `cannot kill statement ${quoted(id)}: ${why}`);
}

function quoted(id: string): string {
  return ID.test(id) ? id : id.slice(0, QUOTED_CHARACTERS_MAX);
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_QUOTED_MAX;
  return `${names.slice(0, NAMES_QUOTED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Settings of a connection as its client sees them: what SHOW answers, and what it is told of when it changes. */
import { POSTGRES_SETTINGS, POSTGRES_VERSION, postgresSetting } from "../../query/postgres-settings.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import type { WireSession } from "../wire/wire-session.ts";
import { beginMessage, endMessage } from "./codec.ts";
import { WireFailure } from "./errors.ts";
import { Tell } from "./packets.ts";

/** Most settings that a session keeps which are not those of the list. Reason: each takes memory. Error: 53000. */
const OWN_SETTINGS_MAX = 256;
/** Characters of a value that is kept. */
const VALUE_CHARACTERS_MAX = 8192;

/** Settings that clients are told of, as PostgreSQL does. */
const REPORTED: readonly string[] = [
  "application_name",
  "client_encoding",
  "DateStyle",
  "default_transaction_read_only",
  "in_hot_standby",
  "integer_datetimes",
  "IntervalStyle",
  "is_superuser",
  "server_encoding",
  "server_version",
  "session_authorization",
  "standard_conforming_strings",
  "TimeZone",
];

/** The same with their names and values as the list has them: looked up once, since each statement asks for all. */
const REPORTED_SETTINGS = REPORTED.map((name) => ({ name, value: postgresSetting(name)?.value ?? "" }));

/** See the file header. */
export class Settings {
  private readonly serverVersion: string;
  private readonly kept: Map<string, string> = new Map();
  private readonly told: Map<string, string> = new Map();

  /** @param version of the server itself */
  constructor(version: string) {
    this.serverVersion = `${POSTGRES_VERSION}-GreptimeDB-${version}`;
  }

  /** Keeps a value; undefined: the default. @throws WireFailure when there are too many */
  keep(name: string, value: string | undefined): void {
    if (value === undefined) {
      this.kept.delete(name);
      return;
    }
    const isTooMuch = value.length > VALUE_CHARACTERS_MAX || (!this.kept.has(name) && this.kept.size >= OWN_SETTINGS_MAX);
    if (isTooMuch)
      throw new WireFailure("53000", `cannot set "${name.slice(0, 80)}": a session keeps ${OWN_SETTINGS_MAX} settings at most`);
    this.kept.set(name, value);
  }

  /** Forgets all that was kept. */
  reset(): void {
    const name = this.kept.get("application_name");
    this.kept.clear();
    if (name !== undefined) this.kept.set("application_name", name);
  }

  /** The value of a setting. @throws WireFailure for a name that there is none of */
  show(name: string, session: WireSession): { readonly name: string; readonly value: string } {
    const known = postgresSetting(name);
    const value = this.valueOf(known?.name ?? name, session) ?? known?.value;
    if (value === undefined) throw new WireFailure("42704", `unrecognized configuration parameter "${name.slice(0, 80)}"`);
    return { name: known?.name ?? name, value };
  }

  /** All settings: name, value, description. */
  all(session: WireSession): readonly (readonly [string, string, string])[] {
    return POSTGRES_SETTINGS.map(({ name, value, description }) => [name, this.valueOf(name, session) ?? value, description]);
  }

  /** Tells the client of settings that it does not know to be so. */
  report(outgoing: Outgoing, session: WireSession): void {
    for (const { name, value: otherwise } of REPORTED_SETTINGS) {
      const value = this.valueOf(name, session) ?? otherwise;
      if (this.told.get(name) === value) continue;
      this.told.set(name, value);
      const place = beginMessage(outgoing, Tell.ParameterStatus);
      outgoing.textZero(name);
      outgoing.textZero(value);
      endMessage(outgoing, place);
    }
  }

  private valueOf(name: string, session: WireSession): string | undefined {
    const { settings } = session;
    switch (name) {
      case "bytea_output":
        return settings.byteaOutput;
      case "DateStyle":
        return `${settings.dateStyle}, ${settings.dateOrder}`;
      case "IntervalStyle":
        return settings.intervalStyle;
      case "TimeZone":
        return session.timeZone;
      case "search_path":
        return session.database;
      case "statement_timeout":
        return settings.timeoutMillis === 0n ? "0" : `${settings.timeoutMillis}ms`;
      case "server_version":
        return this.serverVersion;
      case "is_superuser":
        return session.user.mode === "rw" ? "on" : "off";
      case "session_authorization":
        return session.user.name;
      default:
        return this.kept.get(name);
    }
  }
}

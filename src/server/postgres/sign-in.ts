/**
 * How a client proves who it is: by SCRAM-SHA-256 where all accounts allow that, else by its password, or by its MD5 where the setting says
 * so (contract http.md 5.6). Unknown names go the same way as known ones, after the same work, and fail at its end.
 */
import { randomBytes } from "node:crypto";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { AccountProvider, ScramSecret, User } from "../../db/auth/user.ts";
import type { Logins } from "../common/logins.ts";
import type { Outgoing } from "../wire/outgoing.ts";
import { beginMessage, endMessage, MalformedMessage, type MessageReader, utf8 } from "./codec.ts";
import { AuthCode, Tell } from "./packets.ts";
import { checkClientFinal, type ClientFirst, readClientFirst, SCRAM_SHA_256, serverFirst } from "./scram.ts";

/** How clients are asked: "auto" is SCRAM where accounts allow it, else the password. */
export type AuthMethod = "auto" | "password" | "md5";

/** Accounts, and where failures go. */
export interface Accounts {
  readonly provider: AccountProvider;
  readonly logins: Logins;
  readonly method: AuthMethod;
}

const SALT_BYTES = 4;

type Step =
  | { readonly kind: "password" }
  | { readonly kind: "md5"; readonly salt: Uint8Array }
  | { readonly kind: "scram" }
  | { readonly kind: "scram-proof"; readonly first: ClientFirst; readonly answer: string; readonly secret: ScramSecret };

/** One sign-in. */
export class SignIn {
  private readonly accounts: Accounts;
  private readonly outgoing: Outgoing;
  private readonly name: string;
  private readonly client: () => string;
  private step: Step;

  /** Begins it: asks the client. */
  constructor(accounts: Accounts, outgoing: Outgoing, name: string, client: () => string) {
    this.accounts = accounts;
    this.outgoing = outgoing;
    this.name = name;
    this.client = client;
    const { method, provider } = accounts;
    if (method === "md5") {
      this.step = { kind: "md5", salt: randomBytes(SALT_BYTES) };
      this.ask(AuthCode.Md5, this.step.salt);
    } else if (method === "auto" && provider.offersScram) {
      this.step = { kind: "scram" };
      this.ask(AuthCode.Sasl, Buffer.from(`${SCRAM_SHA_256}\0\0`));
    } else {
      this.step = { kind: "password" };
      this.ask(AuthCode.Cleartext, new Uint8Array(0));
    }
  }

  /**
   * Takes what the client answers.
   *
   * @returns who it is; undefined where it is asked again; an error where it is not
   * @throws MalformedMessage
   */
  async answer(reader: MessageReader): Promise<User | undefined | DbError> {
    const { step, accounts, name } = this;
    switch (step.kind) {
      case "password": {
        const password = reader.text();
        return accounts.logins.check(() => ({ name, password }), "postgres", this.client);
      }
      case "md5": {
        const answer = reader.text();
        return this.judged(() => accounts.provider.authenticateMd5(name, step.salt, answer));
      }
      case "scram":
        return this.judged(() => this.challenge(reader));
      case "scram-proof":
        return this.judged(() => this.proven(reader, step));
    }
  }

  /** The first half of SCRAM: a challenge. */
  private async challenge(reader: MessageReader): Promise<undefined> {
    const mechanism = reader.text();
    const said = utf8(reader.value() ?? new Uint8Array(0));
    reader.end();
    if (mechanism !== SCRAM_SHA_256) throw new MalformedMessage("client selected an invalid SASL authentication mechanism");
    const first = readClientFirst(said);
    if (first === undefined) throw new MalformedMessage("malformed SCRAM message");
    const secret = await this.accounts.provider.scramSecret(this.name);
    const answer = serverFirst(first, secret);
    this.step = { kind: "scram-proof", first, answer, secret };
    this.ask(AuthCode.SaslContinue, Buffer.from(answer));
    return undefined;
  }

  private async proven(reader: MessageReader, { first, answer, secret }: Extract<Step, { kind: "scram-proof" }>): Promise<User> {
    const checked = checkClientFinal(utf8(reader.raw(reader.remaining)), first, answer, secret);
    if (checked === undefined) {
      throw new DbError(StatusCode.UserPasswordMismatch, `Username and password does not match, username: ${this.name}`);
    }
    this.ask(AuthCode.SaslFinal, Buffer.from(checked.serverFinal));
    return checked.user;
  }

  /** What a check gives, or why it refuses; a refusal is counted and logged. */
  private async judged<T extends User | undefined>(check: () => Promise<T>): Promise<T | DbError> {
    try {
      return await check();
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      this.accounts.logins.refused(thrown, this.name, "postgres", this.client);
      return thrown;
    }
  }

  private ask(code: number, fields: Uint8Array): void {
    const place = beginMessage(this.outgoing, Tell.Authentication);
    this.outgoing.i32be(code);
    this.outgoing.raw(fields);
    endMessage(this.outgoing, place);
  }
}

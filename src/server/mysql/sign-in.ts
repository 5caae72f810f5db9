/**
 * How a client proves who it is (contract http.md 5.2, 5.6):
 *
 *   mysql_native_password   SHA1(password) xor SHA1(scramble, SHA1(SHA1(password))): where all accounts allow it
 *   caching_sha2_password   the same by SHA-256 for passwords stored plain; else the password itself, by TLS or encrypted with RSA,
 *                           held against whatever is stored
 *   mysql_clear_password    the password, by TLS alone
 *
 * Unknown names go the same way as known ones and fail at its end.
 */
import { constants, createHash, generateKeyPair, type KeyObject, privateDecrypt } from "node:crypto";
import { promisify } from "node:util";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { AccountProvider, User } from "../../db/auth/user.ts";
import type { Logins } from "../common/logins.ts";
import { MalformedPacket, PacketReader, type PacketWriter } from "./codec.ts";

/** Names of plugins. */
export const Plugin = { Native: "mysql_native_password", Sha2: "caching_sha2_password", Clear: "mysql_clear_password" } as const;

/** Accounts, where failures go, and what passwords are encrypted with. */
export interface Accounts {
  readonly provider: AccountProvider;
  readonly logins: Logins;
  readonly keys: PasswordKeys;
}

const KEY_BITS = 2048;
/** First bytes of what passes between the two sides. */
const AUTH_SWITCH = 0xfe;
const MORE_DATA = 0x01;
const FAST_SUCCESS = 0x03;
const FULL_EXCHANGE = 0x04;
const WANTS_KEY = 0x02;

/** A key pair of the process, made when it is first wanted: some 200 ms on a thread of the pool. */
export class PasswordKeys {
  private made: Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> | undefined;

  /** The public key as PEM. */
  async publicPem(): Promise<string> {
    const { publicKey } = await this.pair();
    return publicKey.export({ type: "spki", format: "pem" }).toString();
  }

  /** What a client has encrypted; undefined for what it has not. */
  async decrypt(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    const { privateKey } = await this.pair();
    if (bytes.length !== KEY_BITS / 8) return undefined;
    try {
      return privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING }, bytes);
    } catch (thrown) {
      if (!(thrown instanceof Error)) throw thrown;
      return undefined; // Whatever it is, no password was encrypted so.
    }
  }

  private pair(): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> {
    this.made ??= promisify(generateKeyPair)("rsa", { modulusLength: KEY_BITS });
    return this.made;
  }
}

/** Which plugin a server greets with. */
export function greetingPlugin(accounts: Accounts | undefined): string {
  return accounts === undefined || accounts.provider.offersMysqlNative ? Plugin.Native : Plugin.Sha2;
}

/** Asks the client for a proof by another plugin, or with another scramble. */
export function switchPlugin(packets: PacketWriter, plugin: string, scramble: Uint8Array): void {
  const place = packets.begin();
  packets.outgoing.u8(AUTH_SWITCH);
  packets.outgoing.textZero(plugin);
  packets.outgoing.raw(scramble);
  packets.outgoing.u8(0);
  packets.end(place);
}

/** Tells a client of caching_sha2_password that its proof was good; the OK follows. */
export function tellFastSuccess(packets: PacketWriter): void {
  tellMore(packets, Uint8Array.of(FAST_SUCCESS));
}

function tellMore(packets: PacketWriter, data: Uint8Array): void {
  const place = packets.begin();
  packets.outgoing.u8(MORE_DATA);
  packets.outgoing.raw(data);
  packets.end(place);
}

type Step = "proof" | "password" | "encrypted password";

/** What is known where a sign-in begins. */
export interface SignInStart {
  readonly name: string;
  readonly scramble: Uint8Array;
  readonly isEncrypted: boolean;
  readonly client: () => string;
}

/** One sign-in. */
export class SignIn {
  /** The plugin in use. */
  plugin: string;
  private readonly accounts: Accounts;
  private readonly packets: PacketWriter;
  private readonly start: SignInStart;
  private step: Step = "proof";

  constructor(accounts: Accounts, packets: PacketWriter, start: SignInStart) {
    this.accounts = accounts;
    this.packets = packets;
    this.start = start;
    this.plugin = greetingPlugin(accounts);
  }

  /**
   * Takes what the client said at first, or asks it for what the accounts need.
   *
   * @param proof of the scramble; undefined: it is asked for one
   */
  async begin(plugin: string, proof: Uint8Array | undefined): Promise<User | undefined | DbError> {
    const { provider } = this.accounts;
    if (plugin === Plugin.Clear && this.start.isEncrypted) this.plugin = Plugin.Clear;
    else if (plugin === Plugin.Sha2 && provider.offersMysqlSha2) this.plugin = Plugin.Sha2;
    const isAnswered = proof !== undefined && (plugin === this.plugin || (plugin === "" && this.plugin === Plugin.Native));
    // An empty proof of SHA-256 is of a client that had no scramble for it.
    if (isAnswered && !(this.plugin === Plugin.Sha2 && proof.length === 0)) return this.answer(proof);
    switchPlugin(this.packets, this.plugin, this.start.scramble);
    return undefined;
  }

  /**
   * Takes what the client answers.
   *
   * @returns who it is; undefined where it is asked again; an error where it is not
   * @throws MalformedPacket
   */
  async answer(payload: Uint8Array): Promise<User | undefined | DbError> {
    if (this.step === "password") return this.password(payload);
    if (this.step === "encrypted password") return this.encryptedPassword(payload);
    if (this.plugin === Plugin.Clear) return this.checkPassword(payload);
    return this.plugin === Plugin.Native ? this.native(payload) : this.fast(payload);
  }

  /** The account, where its password is stored plain or for mysql_native_password: the proof of that plugin is made of the password. */
  private async storedForNative(password: string): Promise<User | undefined> {
    const { name, scramble } = this.start;
    try {
      return await this.accounts.provider.authenticateMysqlNative(name, scramble, nativeProof(password, scramble));
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      return undefined;
    }
  }

  private async native(proof: Uint8Array): Promise<User | DbError> {
    const { name, scramble, client } = this.start;
    try {
      return await this.accounts.provider.authenticateMysqlNative(name, scramble, proof);
    } catch (thrown) {
      if (!(thrown instanceof DbError)) throw thrown;
      this.accounts.logins.refused(thrown, name, "mysql", client);
      return thrown;
    }
  }

  /** The short exchange; where that does not prove it, the password is asked for, which has the last word. */
  private async fast(proof: Uint8Array): Promise<User | undefined | DbError> {
    const { name, scramble } = this.start;
    // A client without a password has nothing to answer to what would be asked of it.
    if (proof.length <= 1) return this.checkPassword(new Uint8Array(0));
    const user = await this.accounts.provider.mysqlSha2User(name, scramble, proof);
    if (user !== undefined) {
      tellFastSuccess(this.packets);
      return user;
    }
    tellMore(this.packets, Uint8Array.of(FULL_EXCHANGE));
    this.step = "password";
    return undefined;
  }

  private async password(payload: Uint8Array): Promise<User | undefined | DbError> {
    if (this.start.isEncrypted) return this.checkPassword(payload);
    if (payload.length !== 1 || payload[0] !== WANTS_KEY) throw new MalformedPacket("expected a request for the public key");
    tellMore(this.packets, Buffer.from(await this.accounts.keys.publicPem()));
    this.step = "encrypted password";
    return undefined;
  }

  private async encryptedPassword(payload: Uint8Array): Promise<User | DbError> {
    const { scramble } = this.start;
    const bytes = await this.accounts.keys.decrypt(payload);
    const plain = bytes?.map((byte, i) => byte ^ (scramble[i % scramble.length] ?? 0));
    return this.checkPassword(plain ?? new Uint8Array(0));
  }

  /** A password and the zero byte behind it. */
  private async checkPassword(payload: Uint8Array): Promise<User | DbError> {
    const { name, client } = this.start;
    const password = new PacketReader(payload).textZero();
    const user = password === "" ? undefined : await this.storedForNative(password);
    if (user !== undefined) return user;
    const read = (): { readonly name: string; readonly password: string } => {
      if (password === "") throw new DbError(StatusCode.UserPasswordMismatch, "Username and password does not match: no password");
      return { name, password };
    };
    return this.accounts.logins.check(read, "mysql", client);
  }
}

function nativeProof(password: string, scramble: Uint8Array): Uint8Array {
  const sha1 = (...parts: readonly (string | Uint8Array)[]): Uint8Array =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha1")).digest();
  const once = sha1(password);
  const mask = sha1(scramble, sha1(once));
  return once.map((byte, i) => byte ^ (mask[i] ?? 0));
}

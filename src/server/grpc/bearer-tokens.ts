/**
 * Tokens that drivers get for a name and a password, and send with every call after that (`authorization: Bearer …`).
 *
 *   token = base64url( nonce (12)  AES-256-GCM( end of its time (8)  sign-in (16)  length of the name (4)  name  password )  tag (16) )
 *
 * The server keeps none: a token carries the login, sealed by a key that this process made and nobody else has, and the login is checked
 * with every call as that of HTTP is. So there is no limit of tokens to run into, and one is worth nothing once the password has changed,
 * the account is gone, its time is over, or the server has started anew; drivers sign in again then.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Login } from "../common/logins.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SIGN_IN_BYTES = 16;
/** Of the end, the sign-in and the length of the name. */
const FIXED_BYTES: number = 8 + SIGN_IN_BYTES + 4;
/** Longest token that is looked at. Reason: it comes with every call. */
const TOKEN_CHARACTERS_MAX = 16 * 1024;

/** What a token stands for. */
export interface SignIn extends Login {
  /** Random, of this sign-in alone. */
  readonly id: Uint8Array<ArrayBuffer>;
}

/** See the file header. */
export class BearerTokens {
  private readonly key: Uint8Array = randomBytes(KEY_BYTES);
  private readonly nowMillis: () => number;
  private readonly lifeMillis: number;

  /** @param nowMillis wall clock @param lifeMillis how long a token is good for */
  constructor(nowMillis: () => number, lifeMillis: number) {
    this.nowMillis = nowMillis;
    this.lifeMillis = lifeMillis;
  }

  /** A token for a login that was checked. */
  issue({ name, password }: Login): string {
    const nameBytes = Buffer.from(name);
    const fixed = Buffer.alloc(FIXED_BYTES);
    fixed.writeDoubleLE(this.nowMillis() + this.lifeMillis, 0);
    randomBytes(SIGN_IN_BYTES).copy(fixed, 8);
    fixed.writeUInt32LE(nameBytes.length, 8 + SIGN_IN_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce);
    const sealed = Buffer.concat([nonce, cipher.update(Buffer.concat([fixed, nameBytes, Buffer.from(password)])), cipher.final()]);
    return Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64url");
  }

  /** The login of a token; undefined for one that this process did not make, that was changed, or whose time is over. */
  open(token: string): SignIn | undefined {
    if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
    const plain = this.unsealed(Buffer.from(token, "base64url"));
    if (plain === undefined || plain.readDoubleLE(0) <= this.nowMillis()) return undefined;
    const nameEnd = FIXED_BYTES + plain.readUInt32LE(8 + SIGN_IN_BYTES);
    return {
      id: new Uint8Array(plain.subarray(8, 8 + SIGN_IN_BYTES)),
      name: plain.toString("utf8", FIXED_BYTES, nameEnd),
      password: plain.toString("utf8", nameEnd),
    };
  }

  private unsealed(bytes: Buffer): Buffer | undefined {
    if (bytes.length < NONCE_BYTES + FIXED_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined; // the tag does not fit: a token of another process, or a forged one
    }
  }
}

/**
 * What a client says before it is known: whether it wants TLS, to cancel something, or to start, and with which parameters.
 *
 *   SSLRequest  length 80877103            GSSENCRequest  length 80877104      CancelRequest  length 80877102 process(4) secret
 *   StartupMessage  length 3.x { name 0 value 0 }* 0
 */
import { MalformedMessage, MessageReader } from "./codec.ts";
import { StartCode, TLS_HANDSHAKE } from "./packets.ts";

/** The first message of a connection. */
export type FirstMessage =
  | { readonly kind: "tls-handshake" }
  | { readonly kind: "ssl" }
  | { readonly kind: "gss" }
  | { readonly kind: "cancel"; readonly processId: number; readonly secret: number }
  | Startup;

/** A client that wants to start. */
export interface Startup {
  readonly kind: "start";
  /** Of protocol 3. */
  readonly minorVersion: number;
  readonly parameters: ReadonlyMap<string, string>;
  /** Names of options of the protocol that are not known. */
  readonly unknownOptions: readonly string[];
}

const HEADER_BYTES = 4;
/** Options of the protocol, which a server may not know. */
const PROTOCOL_OPTION = "_pq_.";

/** Reads it. @throws MalformedMessage */
export function readFirst(bytes: Uint8Array): FirstMessage {
  if (bytes[0] === TLS_HANDSHAKE) return { kind: "tls-handshake" };
  const reader = new MessageReader(bytes, HEADER_BYTES);
  const code = reader.i32();
  switch (code) {
    case StartCode.Ssl:
      reader.end();
      return { kind: "ssl" };
    case StartCode.Gss:
      reader.end();
      return { kind: "gss" };
    case StartCode.Cancel: {
      const processId = reader.i32();
      const secret = reader.u32();
      reader.end();
      return { kind: "cancel", processId, secret };
    }
    default:
      return readStartup(reader, code);
  }
}

function readStartup(reader: MessageReader, code: number): Startup {
  const [major, minorVersion] = [code >> 16, code & 0xffff];
  if (major !== 3) throw new MalformedMessage(`unsupported frontend protocol ${major}.${minorVersion}: server supports 3.0 to 3.0`);
  const parameters = new Map<string, string>();
  const unknownOptions: string[] = [];
  for (let name = reader.text(); name !== ""; name = reader.text()) {
    const value = reader.text();
    if (name.startsWith(PROTOCOL_OPTION)) unknownOptions.push(name);
    else parameters.set(name, value);
  }
  reader.end();
  return { kind: "start", minorVersion, parameters, unknownOptions };
}

/** Settings of `options`: `-c name=value` and `--name=value`, blanks in values behind a backslash. */
export function optionSettings(options: string): readonly (readonly [name: string, value: string])[] {
  const words = options.match(/(?:\\[^]|[^\s\\])+/g) ?? [];
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = (words[i] ?? "").replace(/\\([^])/g, "$1");
    const setting = word === "-c" ? (words[++i] ?? "").replace(/\\([^])/g, "$1") : word.replace(/^(?:-c|--)/, "");
    const equals = setting.indexOf("=");
    if (equals > 0 && (word.startsWith("-c") || word.startsWith("--"))) found.push([setting.slice(0, equals), setting.slice(equals + 1)]);
  }
  return found;
}

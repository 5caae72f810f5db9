/** A headless browser, driven over its debugging protocol: opens pages and runs scripts in them. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "/usr/bin/chromium";
/** Longest wait for the browser to begin. */
const START_MILLIS_MAX = 60_000;

/** Whether this machine has the browser. */
export const hasChromium: boolean = existsSync(PROGRAM);

const FLAGS: readonly string[] = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-port=0",
];

/** A page. */
export interface Page {
  /** Goes to an address and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** The value of an expression, or of its promise. @throws Error with what it threw */
  run(expression: string): Promise<unknown>;
  /** Waits until an expression is true. @throws Error that says which never was */
  until(expression: string, millisMax?: number): Promise<void>;
  /** Types text where the focus is. */
  type(text: string): Promise<void>;
  /** Presses a key, such as "Enter"; with Ctrl when asked. */
  press(key: string, options?: { readonly ctrl?: boolean }): Promise<void>;
  /** Makes the window so large, in pixels of CSS; `dark` says which colours the system wants. */
  look(width: number, height: number, dark: boolean): Promise<void>;
  /** A picture of the page as PNG. */
  picture(): Promise<Uint8Array>;
  /** Errors of the console, uncaught ones and broken policies included, so far. */
  readonly problems: readonly string[];
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly entry?: { readonly level: string; readonly text: string; readonly url?: string };
    readonly type?: string;
    readonly args?: readonly { readonly value?: unknown; readonly description?: string }[];
    readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
  };
  readonly error?: { readonly message: string };
  readonly result?: { readonly result?: { readonly value?: unknown }; readonly exceptionDetails?: unknown; readonly data?: string };
}

/** What a message of the browser says is wrong; undefined: nothing. */
function problemIn({ method, params }: Message): string | undefined {
  if (method === "Log.entryAdded" && params?.entry?.level === "error") return `${params.entry.text} ${params.entry.url ?? ""}`;
  if (method === "Runtime.exceptionThrown") return params?.exceptionDetails?.exception?.description ?? params?.exceptionDetails?.text;
  if (method !== "Runtime.consoleAPICalled" || params?.type !== "error") return undefined;
  return params.args?.map(({ value, description }) => description ?? JSON.stringify(value)).join(" ");
}

/** Runs `use` with a new browser that has one page. @param hosts rules of `--host-resolver-rules`, e.g. "MAP evil.example 127.0.0.1" */
export async function withPage(hosts: string, use: (page: Page) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "varve-chromium-"));
  const rules = `--host-resolver-rules=${hosts}`;
  const child = Bun.spawn([PROGRAM, ...FLAGS, rules, `--user-data-dir=${folder}`, "about:blank"], { stdout: "ignore", stderr: "ignore" });
  try {
    const socket = await connected(await debuggerOf(join(folder, "DevToolsActivePort")));
    await use(pageOver(socket));
    socket.close();
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Address of the first page's debugger. */
async function debuggerOf(portFile: string): Promise<string> {
  const deadline = performance.now() + START_MILLIS_MAX;
  while (performance.now() < deadline) {
    const [port] = existsSync(portFile) ? (await Bun.file(portFile).text()).split("\n") : [];
    if (port !== undefined && port !== "") {
      const pages = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly {
        readonly type: string;
        readonly webSocketDebuggerUrl: string;
      }[];
      const found = pages.find(({ type }) => type === "page");
      if (found !== undefined) return found.webSocketDebuggerUrl;
    }
    await Bun.sleep(50);
  }
  throw new Error(`the browser did not begin within ${START_MILLIS_MAX} ms`);
}

async function connected(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("the browser does not let us in")));
  });
  return socket;
}

function pageOver(socket: WebSocket): Page {
  const waiting = new Map<number, (message: Message) => void>();
  const problems: string[] = [];
  let loaded: () => void = () => undefined;
  let next = 1;
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.method === "Page.loadEventFired") loaded();
    const problem = problemIn(message);
    if (problem !== undefined) problems.push(problem);
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  const send = async (method: string, params: object): Promise<Message> => {
    const id = next++;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const message = await answer;
    if (message.error !== undefined) throw new Error(`${method}: ${message.error.message}`);
    return message;
  };
  const run = async (expression: string): Promise<unknown> => {
    const { result } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, userGesture: true });
    if (result?.exceptionDetails !== undefined) throw new Error(JSON.stringify(result.exceptionDetails));
    return result?.result?.value;
  };
  return {
    problems,
    run,
    async open(url) {
      await send("Page.enable", {});
      await send("Runtime.enable", {});
      await send("Log.enable", {});
      const load = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await send("Page.navigate", { url });
      await load;
    },
    async until(expression, millisMax = 15_000) {
      const deadline = performance.now() + millisMax;
      while ((await run(expression)) !== true) {
        if (performance.now() > deadline) throw new Error(`this never was true: ${expression}`);
        await Bun.sleep(25);
      }
    },
    async type(text) {
      await send("Input.insertText", { text });
    },
    async press(key, { ctrl = false } = {}) {
      const code = KEY_CODES[key] ?? key.toUpperCase().charCodeAt(0);
      const text = key === "Enter" && !ctrl ? { text: "\r" } : {};
      const event = { key, code: key, windowsVirtualKeyCode: code, modifiers: ctrl ? 2 : 0, ...text };
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    },
    async look(width, height, dark) {
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    },
    async picture() {
      const { result } = await send("Page.captureScreenshot", { format: "png" });
      return Uint8Array.fromBase64(result?.data ?? "");
    },
  };
}

/** Windows' numbers of the keys that have no letter. */
const KEY_CODES: Readonly<Record<string, number>> = { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38, End: 35, Home: 36 };

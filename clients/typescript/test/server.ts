/** A server of this repository with a temporary SQLite database, on loopback. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Server {
  readonly baseUrl: string;
  readonly projectKey: string;
  readonly masterKey: string;
  stop(): Promise<void>;
}

/** The program under test. Tests fail without it: none is skipped silently. */
export function serverProgram(): string {
  const program = process.env["AUDIT_SERVER_BIN"];
  if (program === undefined || program === "") {
    throw new Error("AUDIT_SERVER_BIN is not set: the path of an audit-server, such as target/debug/audit-server");
  }
  return program;
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "audit-client-"));
}

/** A process of the server over a database, and its address and keys, which only the first start prints. */
export async function launch(
  directory: string,
  options: { port?: number; environment?: Record<string, string> } = {},
): Promise<{ process: ChildProcess; baseUrl: string; keys: string[] }> {
  const child = spawn(serverProgram(), ["serve", "--listen", `127.0.0.1:${options.port ?? 0}`], {
    cwd: directory,
    env: {
      PATH: process.env["PATH"],
      RUST_LOG: "warn",
      AUDIT_DATABASE_URL: `sqlite:${join(directory, "audit.db")}`,
      AUDIT_DAILY_LIMIT_PRO: "0",
      AUDIT_DAILY_LIMIT_FREE: "0",
      // The tests count events.
      AUDIT_SELF_AUDIT: "off",
      ...options.environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const keys: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    keys.push(...(line.match(/\b(?:mk|pk_live|pk_test)_[0-9A-Za-z]{39}\b/g) ?? []));
    const address = /http:\/\/127\.0\.0\.1:[0-9]+/.exec(/listening/i.test(line) ? line : "");
    if (address !== null) {
      child.stdout.resume();
      return { process: child, baseUrl: address[0], keys };
    }
  }
  throw new Error(`the server did not start (exit code ${child.exitCode})`);
}

/** Starts a server with an empty database. */
export async function startServer(environment: Record<string, string> = {}): Promise<Server> {
  const directory = temporaryDirectory();
  const { process: child, baseUrl, keys } = await launch(directory, { environment });
  const key = (prefix: string): string => {
    const found = keys.find((text) => text.startsWith(prefix));
    if (found === undefined) {
      throw new Error(`the server has printed no ${prefix} key`);
    }
    return found;
  };
  return {
    baseUrl,
    projectKey: key("pk_live_"),
    masterKey: key("mk_"),
    stop: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

import { Api, type Failure, headersOf, request } from "../shared/api.js";

export interface Project {
  id: string;
  name: string;
  created_at: string;
  /** Since when it takes no events. */
  archived_at?: string;
  /** The members of metadata by which its events can be filtered. */
  metadata_filter_paths?: string[];
}

/** How long a key is valid that issues viewer tokens, by the clock of the browser, and how long it is used. */
const [ISSUER_VALID_MS, ISSUER_USED_MS] = [3_600_000, 3_000_000];

/** The keys of projects that issue viewer tokens for a master key, and until when they are used. */
type Issuers = Map<string, { key: string; until: number }>;

/** Who is signed in, and what they look at. */
export class Session {
  readonly api: Api;

  constructor(
    /** A session of the browser. The key itself where it takes no cookies: it is in this object and nowhere else. */
    readonly credential: string,
    /** Projects of a master key's organization; empty for a project key. */
    readonly projects: Project[],
    readonly project: Project | undefined,
    readonly environment: "live" | "test",
    /** Called when the key stops working. */
    readonly onEnded: (failure: Failure) => void,
    private readonly issuers: Issuers = new Map(),
  ) {
    this.api = new Api({ baseUrl: "", credential, projectId: project?.id, environment });
  }

  get isMaster(): boolean {
    return this.api.isMaster;
  }

  with(changes: { projects?: Project[]; project?: Project | undefined; environment?: "live" | "test" }): Session {
    const { projects, project, environment } = { ...this, ...changes };
    return new Session(this.credential, projects, project, environment, this.onEnded, this.issuers);
  }

  /** The same with another credential. */
  as(credential: string): Session {
    return new Session(credential, this.projects, this.project, this.environment, this.onEnded);
  }

  /** Issues a viewer token. Only a live project key can, so a master key makes one that can do nothing else, and that expires. */
  async issueViewerToken<T>(body: object): Promise<T> {
    const { api, project } = this;
    if (!this.isMaster || !project) return api.send<T>("POST", "/viewer-tokens", body);
    return new Api({ baseUrl: "", credential: await this.issuerOf(project.id) }).send<T>("POST", "/viewer-tokens", body);
  }

  private async issuerOf(project_id: string): Promise<string> {
    const now = Date.now();
    const known = this.issuers.get(project_id);
    if (known && now < known.until) return known.key;
    const expires_at = new Date(now + ISSUER_VALID_MS).toISOString();
    const issuer = { project_id, type: "project", name: "console:viewer-tokens", environment: "live", scopes: ["viewer-tokens"], expires_at };
    const { key } = await this.api.send<{ key: string }>("POST", "/keys", issuer);
    this.issuers.set(project_id, { key, until: now + ISSUER_USED_MS });
    return key;
  }
}

interface SessionBody {
  id: string;
  key_type: "master" | "project";
  environment: "live" | "test" | null;
}

const credentialOf = ({ id, key_type, environment }: SessionBody): string => `session:${key_type === "master" ? key_type : environment}:${id}`;

/** What stands for the key of the session that the browser has; `undefined` without one. */
export async function currentSession(): Promise<string | undefined> {
  const response = await request("/console/session", { headers: { "X-Audit-Console": "current" } }, "", "same-origin");
  return response.status === 204 ? undefined : credentialOf((await response.json()) as SessionBody);
}

/** Begins a session with a key. Returns what stands for it, or the key where the browser takes no cookie. */
export async function beginSession(key: string): Promise<string> {
  const response = await request("/console/session", { method: "POST", headers: headersOf(key) }, key, "same-origin");
  const begun = credentialOf((await response.json()) as SessionBody);
  return (await currentSession()) === begun ? begun : key;
}

/** Signs out: all sessions of the key end. A key that is in memory only is forgotten. */
export async function endSession({ credential }: Session): Promise<void> {
  await request("/console/session", { method: "DELETE", headers: headersOf(credential) }, credential);
}

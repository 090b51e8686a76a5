import { Api, type Failure } from "../shared/api.js";

export interface Project {
  id: string;
  name: string;
  created_at: string;
  /** Since when it takes no events. */
  archived_at?: string;
  /** The members of metadata by which its events can be filtered. */
  metadata_filter_paths?: string[];
}

/** Who is signed in, and what they look at. The key is in this object and nowhere else: closing or reloading the page forgets it. */
export class Session {
  readonly api: Api;

  constructor(
    readonly key: string,
    /** Projects of a master key's organization; empty for a project key. */
    readonly projects: Project[],
    readonly project: Project | undefined,
    readonly environment: "live" | "test",
    /** Called when the key stops working. */
    readonly onEnded: (failure: Failure) => void,
  ) {
    this.api = new Api({ baseUrl: "", credential: key, projectId: project?.id, environment });
  }

  get isMaster(): boolean {
    return this.key.startsWith("mk_");
  }

  with(changes: { projects?: Project[]; project?: Project | undefined; environment?: "live" | "test" }): Session {
    const { projects, project, environment } = { ...this, ...changes };
    return new Session(this.key, projects, project, environment, this.onEnded);
  }
}

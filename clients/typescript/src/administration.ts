/** Everything that is not an event: keys, projects, viewers, rules, alerts, webhooks, streams and the log. */
import { pagesOf } from "./pages.js";
import type { Transport } from "./transport.js";
import type * as T from "./types.js";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

const part = encodeURIComponent;

export class Resource {
  constructor(protected readonly transport: Transport) {}

  /** A request that acts on the project of the client. */
  protected call<R>(method: Method, path: string, fields: { body?: unknown; query?: object; isRepeatable?: boolean } = {}): Promise<R> {
    return this.transport.json({ method, path, isScoped: true, ...fields });
  }

  /** A request that acts on the organization, or names its project itself. */
  protected callUnscoped<R>(method: Method, path: string, body?: unknown, isRepeatable?: boolean): Promise<R> {
    return this.transport.json({ method, path, body, isRepeatable });
  }
}

/** Project keys. */
export class ProjectKeys extends Resource {
  /** The keys of the project; of the whole organization for a master key without a project. */
  async list(): Promise<T.ProjectKey[]> {
    return (await this.call<T.ResponseOf<"list_keys">>("GET", "/keys")).keys;
  }

  async get(id: string): Promise<T.ProjectKey> {
    return (await this.call<T.ResponseOf<"get_key">>("GET", `/keys/${part(id)}`)).key;
  }

  /** Creates a key. Only this response has its text. */
  create(key: Omit<T.NewProjectKey, "type">): Promise<T.CreatedProjectKey> {
    return this.callUnscoped("POST", "/keys", { type: "project", ...key });
  }

  /** Revokes a key at once and forever. */
  async revoke(id: string): Promise<void> {
    await this.call("DELETE", `/keys/${part(id)}`);
  }

  /** Changes what is given; `null` lifts a limit, as far as the master key is not limited itself. */
  async update(id: string, change: T.ProjectKeyChange): Promise<T.ProjectKey> {
    return (await this.call<T.ResponseOf<"update_key">>("PATCH", `/keys/${part(id)}`, { body: change })).key;
  }

  /** Creates the successor of a key, which stays valid for `overlapSeconds`. */
  rotate(id: string, overlapSeconds: number): Promise<T.CreatedProjectKey> {
    return this.call("POST", `/keys/${part(id)}/rotate`, { query: { overlap: overlapSeconds } });
  }
}

/** Master keys. */
export class MasterKeys extends Resource {
  async list(): Promise<T.MasterKey[]> {
    return (await this.callUnscoped<T.ResponseOf<"list_master_keys">>("GET", "/master-keys")).master_keys;
  }

  async get(id: string): Promise<T.MasterKey> {
    return (await this.callUnscoped<T.ResponseOf<"get_master_key">>("GET", `/master-keys/${part(id)}`)).master_key;
  }

  /** Creates a key. Only this response has its text. */
  create(key: T.NewMasterKey): Promise<T.CreatedMasterKey> {
    return this.callUnscoped("POST", "/master-keys", key);
  }

  /** Revokes a key at once and forever. */
  async revoke(id: string): Promise<void> {
    await this.callUnscoped("DELETE", `/master-keys/${part(id)}`);
  }

  /** Creates the successor of a key, which stays valid for `overlapSeconds`. */
  rotate(id: string, overlapSeconds: number): Promise<T.CreatedMasterKey> {
    return this.transport.json({
      method: "POST",
      path: `/master-keys/${part(id)}/rotate`,
      query: { overlap: overlapSeconds },
    });
  }
}

/** Projects of the organization. */
export class Projects extends Resource {
  /** The projects that are not archived, or with `archived` those that are, or all. */
  async list(filter: T.ProjectFilter = {}): Promise<T.Project[]> {
    const { projects } = await this.transport.json<T.ResponseOf<"list_projects">>({ method: "GET", path: "/projects", query: filter });
    return projects;
  }

  async get(id: string): Promise<T.Project> {
    return (await this.callUnscoped<T.ResponseOf<"get_project">>("GET", `/projects/${part(id)}`)).project;
  }

  async create(name: string): Promise<T.Project> {
    return (await this.callUnscoped<T.ResponseOf<"create_project">>("POST", "/projects", { name })).project;
  }

  /** Renames a project, or archives it: an archived project takes no events, and everything else stays possible. */
  async update(id: string, change: T.ProjectChange): Promise<T.Project> {
    const path = `/projects/${part(id)}`;
    return (await this.callUnscoped<T.ResponseOf<"update_project">>("PATCH", path, change)).project;
  }

  /** One page of the tenants that have events, with their numbers. */
  listTenants(page: T.TenantFilter = {}): Promise<T.TenantPage> {
    return this.call("GET", "/tenants", { query: page });
  }

  /** All tenants that have events, with their numbers. */
  async *iterateTenants(filter: T.TenantFilter = {}): AsyncGenerator<T.Tenant, void, undefined> {
    for await (const page of pagesOf((cursor) => this.listTenants({ limit: 100, ...filter, ...cursor }))) {
      yield* page.tenants;
    }
  }

  /** The plan of the organization, and how much the project has of what is limited. */
  async usage(): Promise<T.Usage> {
    return (await this.call<T.ResponseOf<"get_usage">>("GET", "/usage")).usage;
  }
}

/** Name and logo of the project's portal, what tenants may create in it, and where its readers sign in. */
export class Portal extends Resource {
  async get(): Promise<T.Portal> {
    return (await this.call<T.ResponseOf<"get_portal">>("GET", "/portal")).portal;
  }

  /** Changes what is given; `null` removes it. The logo is a data URL of a PNG, JPEG or WebP file. */
  async update(change: T.PortalChange): Promise<T.Portal> {
    return (await this.call<T.ResponseOf<"update_portal">>("PATCH", "/portal", { body: change })).portal;
  }

  /** Where readers of the portal of a project sign in; 404 where it has no such URL. Needs no credential. */
  async signInUrl(projectId: string): Promise<string> {
    return (await this.callUnscoped<T.ResponseOf<"get_portal_sign_in">>("GET", `/portal/${part(projectId)}/sign-in`)).sign_in_url;
  }
}

/** The actions of the project, and how people read them. */
export class Actions extends Resource {
  /** One page of the actions that events have or that have a label. */
  listPage(page: T.ActionFilter = {}): Promise<T.ActionPage> {
    return this.call("GET", "/actions", { query: page });
  }

  /** All actions that events have or that have a label. */
  async *iterate(filter: T.ActionFilter = {}): AsyncGenerator<T.ListedAction, void, undefined> {
    for await (const page of pagesOf((cursor) => this.listPage({ limit: 100, ...filter, ...cursor }))) {
      yield* page.actions;
    }
  }

  /** The labels for readers of a language, a tag (BCP 47) such as `de`. */
  async labels(language: string): Promise<T.ReadableAction[]> {
    return (await this.call<T.ResponseOf<"list_action_labels">>("GET", "/actions/labels", { query: { language } })).labels;
  }

  /** Labels an action. Needs a master key. */
  async put(action: string, label: T.NewActionLabel): Promise<T.ActionLabel> {
    return (await this.call<T.ResponseOf<"put_action_label">>("PUT", `/actions/${part(action)}`, { body: label })).label;
  }

  /** Deletes the label of an action. Needs a master key. */
  async delete(action: string): Promise<void> {
    await this.call("DELETE", `/actions/${part(action)}`);
  }
}

/** Viewer tokens, for customers who read their own events. */
export class ViewerTokens extends Resource {
  /** Creates a token that is safe in a browser, with `portal` also the link to the portal. Needs a live project key. */
  create(token: T.NewViewerToken): Promise<T.ViewerToken> {
    return this.callUnscoped("POST", "/viewer-tokens", token, true);
  }
}

/** Viewer tiers: which events and fields a viewer token shows. */
export class ViewerTiers extends Resource {
  async list(): Promise<T.ViewerTier[]> {
    return (await this.call<T.ResponseOf<"list_viewer_tiers">>("GET", "/viewer-tiers")).viewer_tiers;
  }

  async get(name: string): Promise<T.ViewerTier> {
    return (await this.call<T.ResponseOf<"get_viewer_tier">>("GET", `/viewer-tiers/${part(name)}`)).viewer_tier;
  }

  async create(tier: T.NewViewerTier): Promise<T.ViewerTier> {
    return (await this.call<T.ResponseOf<"create_viewer_tier">>("POST", "/viewer-tiers", { body: tier })).viewer_tier;
  }

  async update(name: string, change: T.ViewerTierChange): Promise<T.ViewerTier> {
    const path = `/viewer-tiers/${part(name)}`;
    return (await this.call<T.ResponseOf<"update_viewer_tier">>("PATCH", path, { body: change })).viewer_tier;
  }

  /** Deletes a tier, and ends all tokens of it. */
  async delete(name: string): Promise<void> {
    await this.call("DELETE", `/viewer-tiers/${part(name)}`);
  }
}

/** Redaction rules. */
export class Redaction extends Resource {
  async listRules(): Promise<T.RedactionRule[]> {
    return (await this.call<T.ResponseOf<"list_redaction_rules">>("GET", "/redaction/rules")).rules;
  }

  async getRule(id: string): Promise<T.RedactionRule> {
    return (await this.call<T.ResponseOf<"get_redaction_rule">>("GET", `/redaction/rules/${part(id)}`)).rule;
  }

  async createRule(rule: T.NewRedactionRule): Promise<T.RedactionRule> {
    return (await this.call<T.ResponseOf<"create_redaction_rule">>("POST", "/redaction/rules", { body: rule })).rule;
  }

  async updateRule(id: string, change: T.RedactionRuleChange): Promise<T.RedactionRule> {
    const path = `/redaction/rules/${part(id)}`;
    return (await this.call<T.ResponseOf<"update_redaction_rule">>("PUT", path, { body: change })).rule;
  }

  async deleteRule(id: string): Promise<void> {
    await this.call("DELETE", `/redaction/rules/${part(id)}`);
  }

  /** Applies the project's rules to a JSON object. Nothing is stored. */
  test(event: object): Promise<T.RedactionTestResult> {
    return this.call("POST", "/redaction/test", { body: { event }, isRepeatable: true });
  }
}

/** Alert rules. */
export class AlertRules extends Resource {
  async list(): Promise<T.AlertRule[]> {
    return (await this.call<T.ResponseOf<"list_alert_rules">>("GET", "/alerts/rules")).rules;
  }

  async get(id: string): Promise<T.AlertRule> {
    return (await this.call<T.ResponseOf<"get_alert_rule">>("GET", `/alerts/rules/${part(id)}`)).rule;
  }

  async create(rule: T.NewAlertRule): Promise<T.AlertRule> {
    return (await this.call<T.ResponseOf<"create_alert_rule">>("POST", "/alerts/rules", { body: rule })).rule;
  }

  async update(id: string, change: T.AlertRuleChange): Promise<T.AlertRule> {
    const path = `/alerts/rules/${part(id)}`;
    return (await this.call<T.ResponseOf<"update_alert_rule">>("PATCH", path, { body: change })).rule;
  }

  async delete(id: string): Promise<void> {
    await this.call("DELETE", `/alerts/rules/${part(id)}`);
  }
}

/** Fired alerts. */
export class Alerts extends Resource {
  /** Alert rules. */
  readonly rules: AlertRules;

  constructor(transport: Transport) {
    super(transport);
    this.rules = new AlertRules(transport);
  }

  /** One page, newest first. */
  list(filter: T.AlertFilter = {}): Promise<T.AlertPage> {
    return this.call("GET", "/alerts", { query: filter });
  }

  /** All alerts that match, newest first. */
  async *iterate(filter: T.AlertFilter = {}): AsyncGenerator<T.Alert, void, undefined> {
    for await (const page of pagesOf((cursor) => this.list({ limit: 100, ...filter, ...cursor }))) {
      yield* page.alerts;
    }
  }

  async get(id: string): Promise<T.Alert> {
    return (await this.call<T.ResponseOf<"get_alert">>("GET", `/alerts/${part(id)}`)).alert;
  }

  acknowledge(id: string, note?: string): Promise<T.Alert> {
    return this.#change(id, { status: "acknowledged", note });
  }

  resolve(id: string, note?: string): Promise<T.Alert> {
    return this.#change(id, { status: "resolved", note });
  }

  /** Records what was found about an alert: 1 to 1,000 characters, in the event `audit.alert.updated` of the service. */
  addNote(id: string, note: string): Promise<T.Alert> {
    return this.#change(id, { note });
  }

  async #change(id: string, body: { status?: "acknowledged" | "resolved"; note?: string | undefined }): Promise<T.Alert> {
    const path = `/alerts/${part(id)}`;
    return (await this.call<T.ResponseOf<"update_alert">>("PATCH", path, { body })).alert;
  }
}

/** Webhooks and their deliveries. */
export class Webhooks extends Resource {
  async list(): Promise<T.Webhook[]> {
    return (await this.call<T.ResponseOf<"list_webhooks">>("GET", "/alerts/webhooks")).webhooks;
  }

  async get(id: string): Promise<T.Webhook> {
    return (await this.call<T.ResponseOf<"get_webhook">>("GET", `/alerts/webhooks/${part(id)}`)).webhook;
  }

  /** Creates a webhook. Only this response has its secret. */
  async create(webhook: T.NewWebhook): Promise<T.Webhook> {
    return (await this.call<T.ResponseOf<"create_webhook">>("POST", "/alerts/webhooks", { body: webhook })).webhook;
  }

  async update(id: string, change: T.WebhookChange): Promise<T.Webhook> {
    const path = `/alerts/webhooks/${part(id)}`;
    return (await this.call<T.ResponseOf<"update_webhook">>("PATCH", path, { body: change })).webhook;
  }

  async delete(id: string): Promise<void> {
    await this.call("DELETE", `/alerts/webhooks/${part(id)}`);
  }

  /** Creates a new secret, which the response shows. The old one signs too, for 24 hours. */
  async rotateSecret(id: string): Promise<T.Webhook> {
    const path = `/alerts/webhooks/${part(id)}/rotate-secret`;
    return (await this.call<T.ResponseOf<"rotate_webhook_secret">>("POST", path)).webhook;
  }

  /** Sends a `webhook.test`. */
  async test(id: string): Promise<T.Delivery> {
    const path = `/alerts/webhooks/${part(id)}/test`;
    return (await this.call<T.ResponseOf<"test_webhook">>("POST", path)).delivery;
  }

  /** One page of deliveries, newest first. */
  listDeliveries(id: string, filter: T.DeliveryFilter = {}): Promise<T.DeliveryPage> {
    return this.call("GET", `/alerts/webhooks/${part(id)}/deliveries`, { query: filter });
  }

  /** All deliveries of a webhook, newest first. */
  async *iterateDeliveries(id: string, filter: T.DeliveryFilter = {}): AsyncGenerator<T.Delivery, void, undefined> {
    for await (const page of pagesOf((cursor) => this.listDeliveries(id, { limit: 100, ...filter, ...cursor }))) {
      yield* page.deliveries;
    }
  }

  /** One delivery, with its attempts. */
  async getDelivery(id: string): Promise<T.Delivery> {
    return (await this.call<T.ResponseOf<"get_delivery">>("GET", `/alerts/deliveries/${part(id)}`)).delivery;
  }

  /** Makes another attempt at once. */
  async retryDelivery(id: string): Promise<T.Delivery> {
    const path = `/alerts/deliveries/${part(id)}/retry`;
    return (await this.call<T.ResponseOf<"retry_delivery">>("POST", path, { isRepeatable: true })).delivery;
  }
}

/** Anonymous streams. */
export class Streams extends Resource {
  /** What is known of a stream. It has no events. */
  info(claimToken: string): Promise<T.StreamInfo> {
    return this.callUnscoped("GET", `/streams/${part(claimToken)}/info`);
  }

  /** Moves all events of a stream into the project. This cannot be undone. */
  claim(claimToken: string): Promise<T.ClaimResult> {
    return this.call("POST", "/streams/claim", { body: { claim_token: claimToken } });
  }
}

/** The verifiable log. */
export class Log extends Resource {
  /** The latest signed checkpoint, or with `cosigned` the last one with a quorum of witnesses. */
  checkpoint(options: { cosigned?: boolean } = {}): Promise<string> {
    return this.#text("/log/checkpoint", options.cosigned === true ? { cosigned: true } : {});
  }

  /** The key that verifies checkpoints. An auditor gets it over another channel, once. */
  async key(): Promise<string> {
    return (await this.#text("/log/key")).trim();
  }

  /** The statements by which each key names the next one. */
  keyRotations(): Promise<string> {
    return this.#text("/log/key/rotations");
  }

  /** The proof that the log of one size continues that of another. `verifyConsistency` verifies it. */
  consistency(from: number, to: number): Promise<T.ResponseOf<"get_log_consistency">> {
    return this.call("GET", "/log/consistency", { query: { from, to } });
  }

  /** The plans of retention in their grace period, the removals and the erasures, oldest first, for auditors. */
  async removals(): Promise<T.LoggedRemoval[]> {
    return (await this.call<T.ResponseOf<"list_log_removals">>("GET", "/log/removals")).removals;
  }

  /** For auditors: policies, removals, erasures and holds of the log, and the numbers of its events. */
  report(): Promise<T.LogReport> {
    return this.call("GET", "/log/report");
  }

  /** The same as a page to print. */
  reportHtml(): Promise<string> {
    return this.transport.text({ method: "GET", path: "/log/report", query: { format: "html" }, isScoped: true });
  }

  /** The map of all tenants, for auditors. */
  tenants(): Promise<T.ResponseOf<"get_log_tenants">> {
    return this.call("GET", "/log/tenants");
  }

  /** A tile: `path` such as `0/000` or `entries/000.p/12`. */
  async tile(path: string): Promise<Uint8Array> {
    const encoded = path.split("/").map(part).join("/");
    const response = await this.transport.open({
      method: "GET",
      path: `/log/tile/${encoded}`,
      isScoped: true,
      headers: { Accept: "application/octet-stream" },
    });
    return new Uint8Array(await response.arrayBuffer());
  }

  #text(path: string, query: object = {}): Promise<string> {
    return this.transport.text({ method: "GET", path, query, isScoped: true, headers: { Accept: "text/plain" } });
  }
}

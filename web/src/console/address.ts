/**
 * The address of the console: `#/alerts?status=open&project=…&environment=test`. It names the section, the project, the environment,
 * the filters and the open item. It never has a key or another secret.
 */
import type { Session } from "./session.js";

export interface Address {
  /** The path of the section, such as `alerts`. */
  path: string;
  project: string | undefined;
  environment: "live" | "test" | undefined;
  /** What the section itself keeps: its filters and its open item. */
  query: string;
}

/** The parameters that name an item. An item is of one project and environment. */
const ITEMS = ["alert", "delivery", "destination", "erasure", "event", "rule", "tier", "webhook"];

export function readAddress(hash: string = location.hash): Address {
  const [, path = "", query = ""] = /^#\/([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const names = new URLSearchParams(query);
  const [project, environment] = [names.get("project"), names.get("environment")];
  names.delete("project");
  names.delete("environment");
  const isKnown = environment === "live" || environment === "test";
  return { path: path || "overview", project: project ?? undefined, environment: isKnown ? environment : undefined, query: names.toString() };
}

/** The link to a state of a section, in what the session looks at. */
export function hashOf(path: string, query: string, { project, environment }: Session): string {
  const names = new URLSearchParams(query);
  if (project) names.set("project", project.id);
  names.set("environment", environment);
  return `#/${path}?${names}`;
}

/** A query with these changes. An empty value removes its name. */
export function changed(query: string, changes: Record<string, string | undefined>): string {
  const names = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) names.set(name, value);
    else names.delete(name);
  }
  return names.toString();
}

/** A query without the open item. */
export const withoutItem = (query: string): string => changed(query, Object.fromEntries(ITEMS.map((name) => [name, undefined])));

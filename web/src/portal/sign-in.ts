/** Where readers without a token sign in: a page of the application, which sends them back with a token. */
import { Api } from "../shared/api.js";

/** When this tab was last sent to sign in, in milliseconds since 1970. */
const LEFT_AT = "audit-log-left-at";
/** Who comes back without a token within this time is not sent away again. */
const AWAY_MS = 5 * 60_000;
const PROJECT = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OWN_MACHINE = ["localhost", "127.0.0.1", "[::1]"];

/** The project that a link names. */
export function projectOfAddress(): string | undefined {
  const project = new URLSearchParams(location.search).get("project") ?? "";
  return PROJECT.test(project) ? project : undefined;
}

/** Puts the project into the address, so that links and reloads have it. */
export function showProject(project: string): void {
  const url = new URL(location.href);
  if (url.searchParams.get("project") === project) return;
  url.searchParams.set("project", project);
  history.replaceState(history.state, "", url);
}

/** The page of a project to sign in. */
export async function readSignInPage(project: string): Promise<URL | undefined> {
  const { sign_in_url: text } = await new Api({ baseUrl: "", credential: "" }).get<{ sign_in_url: string }>(`/portal/${project}/sign-in`);
  // As the server accepts it. Checked here too, because the reader is sent there.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || (url?.protocol === "http:" && OWN_MACHINE.includes(url.hostname)) ? url : undefined;
}

/** The address of the page with the link to which it sends the reader back. */
export function withReturn(page: URL, link: string): string {
  const url = new URL(page);
  url.search = `${page.search ? `${page.search}&` : "?"}return_to=${encodeURIComponent(link)}`;
  return url.href;
}

/** Whether the reader may be sent away without a click. Notes that; where it cannot be noted, nobody is sent in circles. */
export function leave(): boolean {
  try {
    if (Math.abs(Date.now() - Number(sessionStorage.getItem(LEFT_AT))) < AWAY_MS) return false;
    sessionStorage.setItem(LEFT_AT, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}

/** The reader is here, with a token that works. */
export function arrive(): void {
  try {
    sessionStorage.removeItem(LEFT_AT);
  } catch {
    // Without storage nothing was noted.
  }
}
